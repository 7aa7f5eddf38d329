"""The scorecard and the morning note over a real vault: what they hold, and when they are put."""

import json
import os
import re
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agentm_assets.capture.files import append_line
from agentm_assets.config.settings import Settings
from agentm_assets.config.vault import VaultLocation
from agentm_assets.dreaming import records
from agentm_assets.dreaming.records import StageRecord
from agentm_assets.evaluation.scratch import build_index
from agentm_assets.history import revert_log
from agentm_assets.history.revert_log import Change
from agentm_assets.history.run import begin
from agentm_assets.index.store import IndexStore
from agentm_assets.ledger import queue
from agentm_assets.reports import morning as morning_of
from agentm_assets.reports.components import Component, Looked, _round_trip, look
from agentm_assets.reports.loop import Loop
from agentm_assets.reports.pages import read_page
from agentm_assets.reports.probe import ProbeResult
from agentm_assets.reports.publish import (
    HealthReport,
    MorningReport,
    report_graph,
    report_health,
    report_morning,
)
from agentm_assets.reports.statistics import read_statistics
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend

LOOKED = Looked(
    (
        Component("storage rules", True, 2.0, "6 types"),
        Component("embedder", False, 9.0, "the weights [[are]] | gone"),
        Component("round trip", None, None, "no probe has run yet"),
    ),
    Loop(5.4, 210.0),
)
HEALTH = "Agent/diagnostics/health"
MORNING = "Agent/diagnostics/morning"


@pytest.fixture
def settings(notes: None, backend: StorageBackend) -> Settings:
    """Of a vault that is indexed."""
    found = Settings.load(os.environ)
    build_index(found, os.environ, None)
    return found


@pytest.fixture
def health(
    settings: Settings, backend: StorageBackend, now: datetime
) -> Callable[..., HealthReport]:
    def write(later: timedelta = timedelta(0), looked: Looked = LOOKED, dry_run: bool = False):
        return report_health(
            settings, backend, os.environ, now + later, looked=looked, dry_run=dry_run
        )

    return write


@pytest.fixture
def morning(
    settings: Settings, backend: StorageBackend, now: datetime
) -> Callable[..., MorningReport]:
    def write(later: timedelta = timedelta(0)) -> MorningReport:
        return report_morning(settings, backend, os.environ, now + later)

    return write


def section(text: str, name: str) -> str:
    return text.partition(f"## {name}\n")[2].partition("\n## ")[0]


def stage(name: str, at: str = "2026-08-14T03:07:00Z", **more: object) -> StageRecord:
    given = {"planned": 0, "applied": 0, "held": 0, "anomaly": False, "waiting_for_model": 0}
    return StageRecord(night="n1", at=at, stage=name, version="1", seconds=1.5, **{**given, **more})


def test_the_scorecard_has_its_sections_in_order(health: Callable[..., HealthReport]) -> None:
    text = health().text
    assert re.findall(r"^## (.+)$", text, re.M) == [
        "Memory statistics", "Components", "Performance history", "Meters", "Memory graph",
    ]  # fmt: skip
    assert "kind: telemetry" in text


def test_memories_are_counted_by_status_and_class(
    health: Callable[..., HealthReport], put: Callable[[str, bytes], Path]
) -> None:
    shown = section(health().text, "Memory statistics")
    assert "| class | unfiled | active | superseded | expired | all |" in shown
    assert "| semantic | 1 | 1 | 1 | - | 3 |" in shown
    assert "| procedural | - | 1 | - | - | 1 |" in shown
    assert "| **all** | 1 | 2 | 1 | 0 | 4 |" in shown
    assert "Connected: 3 of 4 memories" in shown


def test_reports_and_probes_are_no_memories(
    settings: Settings, health: Callable[..., HealthReport], put: Callable[[str, bytes], Path]
) -> None:
    with IndexStore(settings.location.duckdb_file).transaction() as connection:
        before = read_statistics(connection)
    health()
    put(
        "Agent/memory/semantic/2026/08/round-trip-probe.md",
        b"---\ntype: reference\nstatus: expired\ntags: [agentm-probe]\nprobe: round-trip\n---\nx\n",
    )
    build_index(settings, os.environ, None)
    with IndexStore(settings.location.duckdb_file).transaction() as connection:
        assert read_statistics(connection) == before


def test_each_part_passes_or_fails_with_its_time(health: Callable[..., HealthReport]) -> None:
    text = health().text
    assert "**1 of 2 parts FAIL: embedder.**" in text
    shown = section(text, "Components")
    assert "| storage rules | PASS | 2 ms | 6 types |" in shown
    assert "| embedder | **FAIL** | 9 ms | the weights \\[\\[are\\]\\] \\| gone |" in shown
    assert "| round trip | - | - | no probe has run yet |" in shown


def test_figures_are_trended_over_the_cards_of_earlier_days(
    vault: Path, health: Callable[..., HealthReport]
) -> None:
    for back, capture_ms in ((30, 2.0), (7, 4.0), (1, 6.0)):
        health(timedelta(days=-back), Looked(LOOKED.components, Loop(capture_ms, 100.0)))
    text = health(looked=Looked(LOOKED.components, Loop(8.0, 100.0))).text
    (row,) = [line for line in text.split("\n") if line.startswith("| capture (ms)")]
    assert row.startswith("| capture (ms) | 8.0 | 6.0 | 4.0 | 2.0 | `▁")
    assert row.endswith("▅·▆█` |") or row.count("·") == 27
    assert len(list((vault / HEALTH).glob("2026-*.md"))) == 4


def test_a_second_card_of_the_day_is_written_when_more_than_a_timing_changed(
    vault: Path, health: Callable[..., HealthReport], git: Callable[..., str]
) -> None:
    first = health()
    assert first.written.paths == (
        f"{HEALTH}/2026-08-14-health-scorecard.md",
        f"{HEALTH}/latest_health_scorecard.md",
    )
    dated, newest = (vault / path for path in first.written.paths)
    assert dated.read_bytes() == newest.read_bytes()
    held, count = dated.read_bytes(), git("rev-list", "--count", "HEAD")
    slower = tuple(
        Component(each.name, each.ok, (each.ms or 0) * 3, each.said) for each in LOOKED.components
    )
    again = health(timedelta(minutes=9), Looked(slower, Loop(50.0, 900.0)))
    assert again.written.paths == ()
    assert (dated.read_bytes(), git("rev-list", "--count", "HEAD")) == (held, count)
    mended = tuple(Component(each.name, True, each.ms, each.said) for each in LOOKED.components)
    assert health(timedelta(minutes=9), Looked(mended, LOOKED.loop)).written.paths
    assert (
        git("log", "-1", "--format=%an %s").strip() == "agentm-report Health scorecard 2026-08-14"
    )


def test_a_dry_run_writes_nothing(
    vault: Path, health: Callable[..., HealthReport], git: Callable[..., str]
) -> None:
    done = health(dry_run=True)
    assert done.text
    assert not (vault / "Agent/diagnostics").exists()
    assert git("rev-list", "--count", "HEAD").strip() == "1"


def test_the_block_holds_the_day_and_outlives_the_machine(
    vault: Path, settings: Settings, health: Callable[..., HealthReport]
) -> None:
    records.append(settings.location, stage("slop", measured={"share": 0.25}, applied=2))
    health()
    block = read_page((vault / f"{HEALTH}/latest_health_scorecard.md").read_bytes()).block
    assert block is not None
    assert block["meters"]["slop: share"] == 0.25
    assert block["stages"]["slop"]["applied"] == 2
    assert block["counts"]["semantic"] == {"active": 1, "superseded": 1, "unfiled": 1}
    shutil.rmtree(settings.location.log_dir)  # the machine is lost
    text = health(timedelta(days=1)).text
    (row,) = [line for line in text.split("\n") if line.startswith("| memories |")]
    assert row.startswith("| memories | 4 | 4 |")


def test_meters_queues_and_corrections_are_shown(
    settings: Settings, health: Callable[..., HealthReport], now: datetime
) -> None:
    records.append(
        settings.location,
        stage(
            "completeness",
            measured={"completeness": 0.91, "sample": 12, "tripped": 1},
            notes=("it fell below [[its line]]",),
        ),
    )
    records.append(settings.location, stage("mocs", measured={"topics": 8}))
    records.append(
        settings.location,
        stage("drift-meters", measured={"dispersion": 0.5, "dispersion_baseline": 0.75}),
    )
    with IndexStore(settings.location.duckdb_file).transaction() as connection:
        queue.enqueue(connection, "entity-rollups", [("a", "new")], now - timedelta(days=4))
    shown = health().text
    meters = section(shown, "Meters")
    assert "| completeness: completeness | 0.910 | - |" in meters
    assert "| drift-meters: dispersion | 0.500 | 0.750 |" in meters
    assert "**completeness is over its line**: it fell below \\[\\[its line\\]\\]" in meters
    assert "| mocs | 2026-08-14 | topics 8 |" in meters
    assert "| entity-rollups | 1 | 4 days | 0 | **stalled** |" in meters
    counts = section(shown, "Memory statistics")
    assert "Completeness: 0.910 over a sample of 12 notes, on 2026-08-14." in counts


def test_class_corrections_are_counted_by_month(
    vault: Path, backend: StorageBackend, health: Callable[..., HealthReport]
) -> None:
    def moved(path: str, before: str | None, at: str) -> Change:
        return Change("r", "enrich", path, None, "x", None, at, before)

    semantic, procedural = "Agent/memory/semantic/a.md", "Agent/memory/procedural/a.md"
    revert_log.append(
        backend,
        [
            moved(procedural, semantic, "2026-07-01T00:00:00Z"),
            moved(semantic, procedural, "2026-08-01T00:00:00Z"),
            moved(semantic, procedural, "2026-08-02T00:00:00Z"),
            moved(semantic, "Agent/memory/semantic/b.md", "2026-08-02T00:00:00Z"),
        ],
    )
    assert "Corrected classes by month: 2026-07: 1, 2026-08: 2." in health().text


def test_the_depth_of_what_recall_gives_is_held_against_the_corpus(
    settings: Settings, health: Callable[..., HealthReport], put: Callable[[str, bytes], Path]
) -> None:
    put(
        "Agent/memory/crystallized/lesson.md",
        b"---\nkind: crystallized\nstatus: active\nconsolidated_from: [kettle, descale]\n---\nx\n",
    )
    build_index(settings, os.environ, None)
    assert "derivation-depth: recalled" not in health().text
    recalls = settings.location.log_dir / "recalls.jsonl"
    for day, path in (("08-13", "Agent/memory/crystallized/lesson.md"), ("06-01", "personal/x.md")):
        line = {"at": f"2026-{day}T10:00:00+00:00", "paths": [path]}
        append_line(recalls, json.dumps(line))
    text = health(timedelta(hours=1)).text
    (row,) = [line for line in text.split("\n") if "derivation-depth: recalled" in line]
    assert row.startswith("| derivation-depth: recalled | 1 | - |")
    assert "**derivation-depth is over its line**" in text


def test_the_graph_is_drawn_once(
    vault: Path, settings: Settings, backend: StorageBackend, now: datetime
) -> None:
    first = report_graph(settings, backend, os.environ, now)
    assert first.written.paths == (
        f"{HEALTH}/latest_memory_graph.svg",
        f"{HEALTH}/latest_memory_graph.html",
    )
    picture = (vault / f"{HEALTH}/latest_memory_graph.svg").read_bytes()
    assert b"Kettle" in picture
    assert b"diary" not in picture.lower()
    assert report_graph(settings, backend, os.environ, now).written.paths == ()


def test_the_morning_note_tells_what_ran_and_what_did_not(
    settings: Settings, morning: Callable[..., MorningReport]
) -> None:
    records.append(
        settings.location,
        stage("stubs", planned=7, applied=5, held=2, waiting_for_model=3, skipped={"edited": 1}),
    )
    records.append(settings.location, stage("mocs"))
    records.append(settings.location, stage("old", at="2026-08-01T03:07:00Z", planned=1))
    records.append(settings.location, stage("merges", error="the disk is full"))
    append_line(
        settings.location.log_dir / "failed-runs.jsonl",
        json.dumps({"at": "2026-08-14T02:00:00+00:00", "run": "abcdef012345", "job": "dream",
                    "error": "it broke on [[a note]]"}),
    )  # fmt: skip
    append_line(
        settings.location.log_dir / "failed-runs.jsonl",
        json.dumps({"at": "2026-08-02T02:00:00+00:00", "run": "x", "job": "y", "error": "old"}),
    )
    text = morning().text
    ran, missed = section(text, "What ran"), section(text, "What did not")
    assert "| stubs | 7 | 5 | 2 | 3 | 1.5 s | edited 1 |" in ran
    assert "nothing to do: mocs." in ran
    assert "old" not in ran
    assert (
        "**Failed run** `dream` at 2026-08-14 02:00 UTC: it broke on \\[\\[a note\\]\\]" in missed
    )
    assert "(run `abcdef01`)" in missed
    assert "old" not in missed
    assert "**merges could not do its work:** the disk is full" in missed
    assert "The round-trip probe did not run." in missed
    assert "Stages that did not run:" in missed
    assert "Waiting for a model (none is configured): stubs 3." in missed


def test_the_morning_note_says_when_no_night_ran(morning: Callable[..., MorningReport]) -> None:
    text = morning().text
    assert "No stage of dreaming ran." in section(text, "What ran")
    assert "The night did not run" in section(text, "What did not")


def test_the_morning_note_tells_what_needs_the_operator(
    vault: Path,
    settings: Settings,
    health: Callable[..., HealthReport],
    morning: Callable[..., MorningReport],
    put: Callable[[str, bytes], Path],
    now: datetime,
) -> None:
    put(
        "Agent/memory/semantic/2026/05/unsure.md",
        b"---\ntype: fix\nstatus: unfiled\nconfidence: 0.4\nenriched_by: x@1\n"
        b"enriched_at: 2026-08-01T00:00:00Z\nrules_hash: aa\ncaptured: 2026-05-01\n---\nHm.\n",
    )
    put("ideas.md", b"# Ideas\n\n- mine\n- a lid that sings (added by the agent, 2026-08-14)\n"
        b"- of old (added by the agent, 2026-08-01)\n")  # fmt: skip
    build_index(settings, os.environ, None)
    location = settings.location
    records.append(location, stage("slop", planned=400, anomaly=True, limit=60.0))
    records.append(location, stage("stubs", planned=14, applied=5, held=9))
    records.append(location, stage("stubs", planned=9, applied=5, held=4))
    records.append(location, stage("drift", measured={"tripped": 1}, notes=("alike by 0.9",)))
    records.append(location, stage("merges", parked=("merges: a.md (it broke)",)))
    at = (now - timedelta(hours=2)).isoformat(timespec="seconds")
    failed = ProbeResult(at, False, 5.0, None, 1, 2.0, "Agent/x.md", "not among the first 5 hits")
    append_line(
        location.log_dir / "probes.jsonl",
        json.dumps({name: getattr(failed, name) for name in failed.__slots__}),
    )
    append_line(location.log_dir / "refusals.jsonl", json.dumps({"at": at, "code": "text-empty"}))
    with IndexStore(location.duckdb_file).transaction() as connection:
        queue.enqueue(connection, "merges", [("a.md", "new")], now - timedelta(days=5))
    health()
    needs = section(morning().text, "What needs you")
    for told in (
        "**Round trip FAILED: not among the first 5 hits; its note is kept: Agent/x.md**",
        "**embedder fails:** the weights",
        "**slop wanted 400 changes**, over the 60 that are normal",
        "**drift is over its line:** alike by 0.9",
        "Given up after three failures: merges: a.md (it broke)",
        "dead letters in all: `agentm queue` lists them",
        "1 note for review, the oldest since 2026-08-01: `Agent/memory/semantic/2026/05/unsure.md`",
        "4 changes wait for the next night, since the cap was reached: stubs 4.",
        "The queue merges stalls: its oldest item has waited 5 days.",
        "Captures were refused: text-empty 1.",
        "An agent added an idea: a lid that sings",
    ):
        assert told in needs
    assert "of old" not in needs
    assert "mine" not in needs


def test_changed_and_broken_rules_are_told(
    vault: Path,
    health: Callable[..., HealthReport],
    morning: Callable[..., MorningReport],
    put: Callable[[str, bytes], Path],
) -> None:
    health(timedelta(days=-1))
    assert morning().text.count("storage rules have changed") == 0
    from agentm_assets.contract.rules import default_rules_text

    put("standards/storage-rules.md", default_rules_text().replace(b"## Voice", b"## Own voice"))
    assert "The storage rules have changed" in section(morning().text, "What needs you")
    put("standards/storage-rules.md", b"# no block\n")
    assert "**The storage rules are broken, filing halts:**" in morning().text


def test_the_corpus_is_one_line_and_spend_stands_against_its_line(
    settings: Settings,
    backend: StorageBackend,
    health: Callable[..., HealthReport],
    morning: Callable[..., MorningReport],
    now: datetime,
) -> None:
    health(timedelta(days=-1))
    text = morning().text
    line = section(text, "The corpus").strip()
    assert "\n" not in line
    assert line.startswith("4 memories (+0 since 2026-08-13): 2 active, 1 unfiled, 1 superseded")
    assert "No model is configured" in section(text, "Spend")

    called = {"at": "2026-08-14T01:00:00Z", "tier": "strong", "outcome": "reply",
              "input_tokens": 700, "output_tokens": 300, "cost": 0.5}  # fmt: skip
    append_line(settings.location.log_dir / "spend.jsonl", json.dumps(called))
    from agentm_assets.config.models_table import ModelsTable, TierTable

    strong = TierTable(
        provider="openai-compatible", model="m", base_url="http://127.0.0.1:1/v1",
        daily_tokens=800, daily_usd=2.0, input_price=1, output_price=1,
    )  # fmt: skip
    rich = settings.model_copy(update={"models": ModelsTable(strong=strong)})
    spend = section(report_morning(rich, backend, os.environ, now).text, "Spend")
    assert "| strong | 2026-08-14 | 1 | 1,000 | **125% of 800** | $0.50 | 25% of 2 |" in spend


def test_a_note_covers_the_time_since_the_note_before(
    vault: Path, morning: Callable[..., MorningReport], git: Callable[..., str]
) -> None:
    first = morning(timedelta(days=-1, hours=-3))
    assert first.morning.since == "2026-08-12T02:40:00+00:00", "a day, without an earlier one"
    second = morning()
    assert second.morning.since == "2026-08-13T02:40:00+00:00"
    assert second.written.paths == (f"{MORNING}/2026-08-14.md", f"{MORNING}/latest_morning_note.md")
    count = git("rev-list", "--count", "HEAD")
    again = morning(timedelta(minutes=30))
    assert (again.written.paths, again.text) == ((), second.text)
    assert git("rev-list", "--count", "HEAD") == count
    assert morning(timedelta(days=90)).morning.since == "2026-11-05T05:40:00+00:00", (
        "a week at most"
    )


def test_an_edited_note_is_kept_and_said(
    vault: Path, morning: Callable[..., MorningReport], settings: Settings
) -> None:
    morning()
    page = vault / f"{MORNING}/2026-08-14.md"
    page.write_bytes(page.read_bytes().replace(b"## Spend", b"## Spend, my remark"))
    edited = page.read_bytes()
    records.append(settings.location, stage("stubs", planned=1, applied=1))
    done = morning()
    assert done.written.edited == (f"{MORNING}/2026-08-14.md",)
    assert page.read_bytes() == edited
    assert b"stubs" in (vault / f"{MORNING}/latest_morning_note.md").read_bytes()


def test_nothing_of_a_closed_space_is_in_a_report(
    vault: Path, settings: Settings, backend: StorageBackend, now: datetime,
    health: Callable[..., HealthReport], morning: Callable[..., MorningReport],
) -> None:  # fmt: skip
    report_graph(settings, backend, os.environ, now)
    health(), morning()
    for page in (vault / "Agent/diagnostics").rglob("*"):
        assert page.is_dir() or b"diary" not in page.read_bytes().lower()


def test_every_part_is_looked_at_for_real(settings: Settings, now: datetime) -> None:
    looked = look(settings, os.environ, IndexStore(settings.location.duckdb_file), now, None)
    states = {each.name: each.ok for each in looked.components}
    assert states == {
        "storage rules": True,
        "index integrity": True,
        "embedder": True,
        "capture loop": True,
        "MCP dispatch": True,
        "entity resolution": True,
        "round trip": None,
    }
    assert looked.loop is not None
    assert all(each.ms for each in looked.components if each.ok)


def test_a_probe_of_days_ago_says_nothing_of_tonight(now: datetime) -> None:
    at = (now - timedelta(days=3)).isoformat(timespec="seconds")
    old = ProbeResult(at, True, 5.0, 1, 1, 2.0, "Agent/x.md", None)
    shown = _round_trip(old, now)
    assert (shown.ok, shown.said[:19]) == (None, "no probe for 3 days")
    assert _round_trip(old, now - timedelta(days=3)).ok


def test_a_part_that_is_broken_fails(
    settings: Settings,
    put: Callable[[str, bytes], Path],
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put("standards/storage-rules.md", b"# no block\n")
    store = IndexStore(settings.location.duckdb_file)
    with store.transaction() as connection:
        connection.execute("INSERT INTO notes SELECT * FROM notes LIMIT 1")
    monkeypatch.setattr("agentm_assets.reports.components.CAPTURE_MS", 0.0)
    monkeypatch.setenv("PYTHONPATH", "/nonexistent")
    bare = settings.model_copy(update={"embedder_model": "/nonexistent/model"})
    looked = look(bare, os.environ, store, now, None)
    failed = {each.name for each in looked.components if each.ok is False}
    assert failed >= {"storage rules", "index integrity", "embedder", "capture loop"}


def test_the_morning_note_reads_no_torn_lines(settings: Settings, location: VaultLocation) -> None:
    append_line(location.log_dir / "failed-runs.jsonl", '{"at": "2026-08-14T02:00:00+00:00", "ru')
    assert morning_of.failed_runs(location, "2026-08-01T00:00:00+00:00") == ()


def test_reports_go_where_the_agents_space_is(
    vault: Path, location: VaultLocation, notes: None, now: datetime, git: Callable[..., str]
) -> None:
    from agentm_assets.storage.selection import open_backend

    (vault / "Agent").rename(vault / "agent")
    git("add", "-A")
    git("commit", "-qm", "renamed")
    backend = open_backend(location)
    found = Settings.load(os.environ)
    build_index(found, os.environ, None)
    report_graph(found, backend, os.environ, now)
    assert (vault / "agent/diagnostics/health/latest_memory_graph.svg").exists()
    assert not backend.exists(Locator("Agent/diagnostics"))
    with begin(location, backend, pass_name="report"):
        pass
