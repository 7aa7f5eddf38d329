"""Real runs that judge notes, on a real Dagster instance: one run is enough, and what follows."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster import build_sensor_context
from filelock import FileLock

from agentm_assets.config.enrichment_table import AfterCapture
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.properties import text_of
from agentm_assets.enrichment.assets.run import MonthRun, plan_backfill, run_backfill
from agentm_assets.enrichment.assets.work import UNJUDGED, Work, judge_notes
from agentm_assets.enrichment.version import stamp_of
from agentm_assets.index.assets.run import open_instance, run_config
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical import LexicalReader
from resources.embedder import EmbedderResource
from resources.models import ModelsResource
from sensors.vault_files import evaluate

sys.path.append(
    str(Path(__file__).resolve().parents[1])
)  # model_servers, beside the rooms' folders
from model_servers import openai_server

Graph = Any  # the class in conftest.py, which cannot be imported from here

FIX = """---
type: reference
status: unfiled
captured: {captured}
---
# The kettle would not start

The kettle failed with error E42 and crashed at start. The cause was a corroded relay. Fixed by
replacing the relay K1; after that it works again.
"""


@pytest.fixture
def graph(graph: Graph) -> Graph:
    run = ["git", "-C", str(graph.vault), "-c", "user.name=Olga", "-c", "user.email=o@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Start"]):
        subprocess.run([*run, *arguments], check=True)
    subprocess.run([*run[:3], "config", "user.name", "Olga"], check=True)
    subprocess.run([*run[:3], "config", "user.email", "o@example.org"], check=True)
    return graph


def put(graph: Graph, name: str, captured: str = "2026-05-01T08:00:00Z") -> Path:
    return graph.put(f"Agent/memory/semantic/2026/05/{name}.md", FIX.format(captured=captured))


def metadata(graph: Graph, asset: str) -> dict[str, Any]:
    with open_instance(graph.location.dagster_home) as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey(asset))
        assert event and event.asset_materialization
        return {name: v.value for name, v in event.asset_materialization.metadata.items()}


def tick(graph: Graph) -> dg.SensorResult | dg.SkipReason:
    """What the file sensor would do now, without waiting."""
    with open_instance(graph.location.dagster_home) as instance:
        context = build_sensor_context(instance=instance)
        clock = iter(float(second) for second in range(0, 10_000, 30))
        return evaluate(
            context,
            graph.workspace,
            events=lambda store: iter(lambda: False, None),
            clock=lambda: next(clock),
        )


def test_one_run_indexes_judges_commits_and_leaves_nothing_to_do(graph: Graph) -> None:
    note = put(graph, "relay")
    run = graph.run()
    moved = graph.vault / "Agent/memory/procedural/2026/05/relay.md"
    place = moved if moved.exists() else note
    frontmatter = read_frontmatter(place.read_bytes())
    assert text_of(frontmatter, "enriched_by") == "extractive-1"
    assert text_of(frontmatter, "type") == "fix"
    shown = metadata(graph, "enriched_notes")
    assert (shown["enriched"], shown["left"], shown["remarks"]) == (1, 0, "none")
    with FactsReader.open(graph.location.facts_file) as facts:
        row = facts.note(str(place.relative_to(graph.vault)))
    assert row is not None and (row.type, row.enriched_by) == ("fix", "extractive-1")
    hits = LexicalReader.open(graph.location.lexical_dir).search("corroded relay", 5)
    assert hits
    subjects = subprocess.run(
        ["git", "-C", str(graph.vault), "log", "--format=%an|%(trailers:key=Agentm-Run,valueonly)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert f"agentm-enrich|{run.run_id}" in subjects
    result = tick(graph)
    assert isinstance(result, dg.SensorResult) and not result.run_requests, "one capture, one run"
    graph.observe()
    assert graph.stale() == set(), "what the run wrote is what its index holds"
    with open_instance(graph.location.dagster_home) as instance:
        assert instance.get_dynamic_partitions("capture_month") == ["2026-05"]


def test_broken_rules_halt_judging_alone_and_the_cure_needs_no_restart(graph: Graph) -> None:
    rules = graph.vault / "standards/storage-rules.md"
    text = rules.read_text()
    rules.write_text(text.replace("default_type: reference", "default_type: nope"))
    put(graph, "relay")
    run = graph.run()
    assert run.success and run.numbers["changed"] == 2
    assert "halted" in metadata(graph, "enriched_notes")["did"]
    assert not check(graph, "enriched_notes", "rules_parse").passed
    assert LexicalReader.open(graph.location.lexical_dir).search("corroded relay", 5)
    rules.write_text(text)
    graph.run()
    assert metadata(graph, "enriched_notes")["enriched"] == 1
    assert check(graph, "enriched_notes", "rules_parse").passed


def test_broken_rules_block_what_depends_on_them_and_nothing_else(graph: Graph) -> None:
    rules = graph.vault / "standards/storage-rules.md"
    rules.write_text(rules.read_text().replace("default_type: reference", "default_type: nope"))
    put(graph, "relay")
    with open_instance(graph.location.dagster_home) as instance:
        result = graph.defs.resolve_job_def("reconcile_vault").execute_in_process(
            instance=instance, raise_on_error=False
        )
    (parse,) = (e for e in result.get_asset_check_evaluations() if e.check_name == "rules_parse")
    assert parse.blocking and not parse.passed
    made = {event.asset_key.to_user_string() for event in result.get_asset_materialization_events()}
    assert {"notes", "lexical_index"} <= made and "coverage" not in made
    assert LexicalReader.open(graph.location.lexical_dir).search("corroded relay", 5)


def check(graph: Graph, asset: str, name: str) -> dg.AssetCheckEvaluation:
    with open_instance(graph.location.dagster_home) as instance:
        record = instance.get_latest_asset_check_evaluation_record(
            dg.AssetCheckKey(dg.AssetKey(asset), name)
        )
    assert record is not None and record.event is not None and record.event.dagster_event
    return record.event.dagster_event.asset_check_evaluation_data


def judge(graph: Graph, *assets: str, **config: object) -> None:
    """Run `enriched_notes` alone over the index as it is, and the assets that are named."""
    with open_instance(graph.location.dagster_home) as instance:
        result = graph.defs.resolve_job_def("index_changes").execute_in_process(
            instance=instance,
            run_config=run_config({"enriched_notes": config}),
            asset_selection=[dg.AssetKey(name) for name in ("enriched_notes", *assets)],
        )
        assert result.success


def test_an_edit_of_the_rules_is_counted_named_and_drained_by_months(graph: Graph) -> None:
    put(graph, "one", "2026-03-01T08:00:00Z")
    put(graph, "two", "once")
    graph.run()
    assert check(graph, "coverage", "nothing_stale").passed
    rules = graph.vault / "standards/storage-rules.md"
    rules.write_text(rules.read_text().replace("low_confidence: 0.65", "low_confidence: 0.64"))
    graph.run()
    found = check(graph, "coverage", "nothing_stale")
    assert not found.passed and found.metadata["stale_notes"].value == 2
    (changed,) = found.metadata["what_changed"].value.records
    assert changed.data["what"] == "thresholds.low_confidence"

    job = graph.defs.resolve_job_def("reenrich")
    with open_instance(graph.location.dagster_home) as instance:
        months = instance.get_dynamic_partitions("capture_month")
        assert sorted(months) == ["2026-03", "undated"]
        for month in months:
            result = job.execute_in_process(instance=instance, partition_key=month)
            (event,) = (
                each
                for each in result.get_asset_materialization_events()
                if each.asset_key == dg.AssetKey("reenriched_notes")
            )
            assert event.materialization.metadata["enriched"].value == 1
            run = instance.get_run_by_id(result.run_id)
            assert run is not None and run.tags["agentm/pass_version"] == "extractive-1"
    # A backfill in the UI is over with its last month: what the graph shows must be so already.
    assert check(graph, "coverage", "nothing_stale").passed
    (enrichment, *_) = metadata(graph, "coverage")["stages"].records
    assert (enrichment.data["done"], enrichment.data["stale"]) == (2, 0)
    with open_instance(graph.location.dagster_home) as instance:
        for asset, name in (("coverage", "nothing_stale"), ("review_queue", "queue_age")):
            key = dg.AssetKey(asset)
            event = instance.get_latest_materialization_event(key)
            (record,) = instance.event_log_storage.get_asset_check_execution_history(
                dg.AssetCheckKey(key, name), limit=1
            )
            assert event is not None and event.run_id == record.run_id == result.run_id
    graph.observe()
    assert graph.stale() == set()


def test_an_edit_of_the_operator_while_notes_are_judged_is_left_to_the_next_run(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(graph, "relay")
    from agentm_assets.enrichment.assets import work

    original = work.enrich

    def enrich(*arguments: Any) -> Any:
        graph.put("projects/p/notes/edit.md", "# Edited meanwhile\n")
        return original(*arguments)

    monkeypatch.setattr(work, "enrich", enrich)
    graph.run()
    result = tick(graph)
    assert isinstance(result, dg.SensorResult) and result.run_requests
    assert result.run_requests[0].tags["agentm/changed"] == "1"


def answer(asked: Any) -> str:
    """A judgment that keeps the note's words: there is nothing to be checked in it."""
    return json.dumps(
        {
            "type": "fix",
            "altitude": "artifact",
            "class": "procedural",
            "title": "The kettle would not start",
            "slug": "relay",
            "tags": [],
            "aliases": [],
            "summary": None,
            "body": None,
            "confidence": 0.9,
        }
    )


def test_a_model_is_asked_once_for_each_note_within_the_budget_and_never_about_personal_ones(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2, 3):
        put(graph, f"relay-{number}", f"2026-0{number}-01T08:00:00Z")
    secret = FIX.format(captured="2026-05-01T08:00:00Z").replace("relay", "diaryword")
    diary = graph.put("personal/diary.md", secret)
    (graph.vault / "Agent/memory/semantic/2026/05/link.md").symlink_to(diary)
    config = graph.location.config_file
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[profiles.default.enrichment.after_capture]\ncalls = 2\n")
    with openai_server(answer=answer) as server:
        monkeypatch.setenv("AGENTM_MODEL", f"openai-compatible/m@{server.url}")
        graph.run()
        shown = metadata(graph, "enriched_notes")
        assert (shown["enriched"], shown["left"], shown["calls"]) == (2, 1, 2)
        assert not check(graph, "enriched_notes", "within_budget").passed
        judge(graph)
        assert len(server.asked) == 2, "what is left waits for the hourly run"
        judge(graph, pace="hourly")
        assert len(server.asked) == 3
        assert metadata(graph, "enriched_notes")["left"] == 0

        rules = graph.vault / "standards/storage-rules.md"
        rules.write_text(rules.read_text().replace("confidence: 0.65", "confidence: 0.64"))
        judge(graph)
        assert len(server.asked) == 3, "an edit of the rules spends nothing by itself"
        backfill = list(run_backfill(graph.defs, graph.workspace, models_of(graph), "2026-02"))
        assert [run.numbers.get("enriched", 0) for run in backfill] == [0, 1]
        assert len(server.asked) == 4
        assert not server.seen(b"diaryword") and not server.seen(b"personal/diary")
        judge(graph, "coverage")
        shown = metadata(graph, "coverage")
        (today,) = [each.data for each in shown["spent_today"].records if each.data["calls"]]
        assert (today["tier"], today["calls"], today["daily_usd"]) == ("strong", 4, "no line")
        serving = {each.data["job"]: each.data["serves"] for each in shown["tiers"].records}
        assert serving["enrichment"] == serving["crystallize"] == "strong"
    spent = (graph.location.log_dir / "spend.jsonl").read_text().split("\n")
    assert sum('"outcome": "reply"' in line for line in spent) == 4


def test_what_another_tier_has_judged_is_not_judged_anew_nor_stale(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    with openai_server(answer=answer) as server:
        monkeypatch.setenv("AGENTM_MODEL", f"openai-compatible/large@{server.url}")
        monkeypatch.setenv("AGENTM_CHEAP_MODEL", f"openai-compatible/small@{server.url}")
        stamp = stamp_of("openai-compatible/small", "cheap")
        rules_hash = graph.workspace.rules().rules_hash
        judged = f"status: active\nenriched_by: {stamp}\nrules_hash: {rules_hash}"
        note = FIX.format(captured="2026-05-01T08:00:00Z").replace("status: unfiled", judged)
        path = graph.put("Agent/memory/semantic/2026/05/relay.md", note)
        graph.run()
        assert check(graph, "coverage", "nothing_stale").passed
        judge(graph, pace="batch", scope="all")
        assert metadata(graph, "enriched_notes")["waiting"] == 0
        rules = graph.workspace.rules()
        assert plan_backfill(graph.workspace, models_of(graph), rules, None).stale == {}
        assert [run.month for run in backfilled(graph)] == [None]
        assert server.asked == [] and path.read_text() == note

        monkeypatch.setenv("AGENTM_CHEAP_MODEL", f"openai-compatible/other@{server.url}")
        judge(graph, "coverage")
        assert not check(graph, "coverage", "nothing_stale").passed
        planned = plan_backfill(graph.workspace, models_of(graph), rules, None)
        assert planned.stale == {"2026-05": 1}, "of a model that serves no longer"
        assert [run.month for run in backfilled(graph)] == [None, "2026-05"]
        assert server.asked


def backfilled(graph: Graph) -> list[MonthRun]:
    return list(run_backfill(graph.defs, graph.workspace, models_of(graph), None))


def test_notes_that_no_gate_lets_through_keep_nobody_waiting(graph: Graph) -> None:
    for number in range(3):
        broken = FIX.format(captured=f"2026-06-0{number + 1}T08:00:00Z")
        graph.put(
            f"Agent/memory/semantic/2026/05/probe-{number}.md",
            broken.replace("status:", "probe: true\nstatus:"),
        )
    put(graph, "relay", "2026-05-01T08:00:00Z")  # older: it comes last
    put(graph, "relay-2", "2026-05-02T08:00:00Z")
    config = graph.location.config_file
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[profiles.default.enrichment.after_capture]\nnotes = 1\n")
    graph.run()
    shown = metadata(graph, "enriched_notes")
    assert (shown["waiting"], shown["enriched"], shown["left"]) == (5, 1, 1)
    assert shown["refused_by_code"] == {"probe": 3}
    assert "the 1 notes of this run are done" in shown["deferred_because"]
    judge(graph)
    shown = metadata(graph, "enriched_notes")
    assert (shown["enriched"], shown["left"]) == (1, 0)
    graph.run()
    stopped = metadata(graph, "coverage")["stopped_by"]
    assert stopped == {"probe": 3}, "the ledger has what no gate let through"


def test_what_was_judged_is_asked_for_by_its_own_words(graph: Graph) -> None:
    put(graph, "relay")
    long = " ".join(f"The pump number {n} leaks at its valve.\n\n" for n in range(900))
    graph.put(
        "Agent/memory/semantic/2026/05/long.md",
        f"---\ntype: reference\nstatus: unfiled\ncaptured: 2026-05-01\n---\n# Pumps\n\n{long}",
    )
    graph.run()
    shown = metadata(graph, "enriched_notes")
    asked, found = shown["asked_for"], shown["found_again"]
    assert asked == shown["enriched"] > 2, "the parts of the long note, and not the note itself"
    assert found == asked
    assert f"{found} of {asked} notes come among the first 5" in shown["answerability"]
    assert f"{found} of {asked} found by a sentence of theirs" in shown["did"]
    queue = metadata(graph, "review_queue")
    assert queue["dagster/row_count"] == shown["kept_unfiled"] > 0
    assert queue["by_reason"] == {"unsure": shown["kept_unfiled"]}
    assert check(graph, "review_queue", "queue_age").metadata["waiting"].value > 0


def models_of(graph: Graph) -> ModelsResource:
    return ModelsResource(workspace=graph.workspace)


def test_who_judges_already_is_not_joined(graph: Graph) -> None:
    put(graph, "relay")
    lock = graph.location.index_dir / "enrich.lock"
    lock.parent.mkdir(parents=True)
    with FileLock(lock):
        done = judge_notes(
            Work(UNJUDGED, "eager", AfterCapture(), patience=0.0),
            graph.workspace.rules(),
            graph.workspace,
            EmbedderResource(workspace=graph.workspace, enabled=False),
            models_of(graph),
            "run",
            lambda stage, through, total: None,
        )
    assert done.report is None and "another process" in done.remarks[0]
