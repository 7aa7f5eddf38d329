"""Real runs that judge notes, on a real Dagster instance: one run is enough, and what follows."""

import subprocess
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster import build_sensor_context

from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.properties import text_of
from agentm_assets.index.assets.run import open_instance
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical import LexicalReader
from sensors.vault_files import evaluate

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


def check(graph: Graph, asset: str, name: str) -> dg.AssetCheckEvaluation:
    with open_instance(graph.location.dagster_home) as instance:
        record = instance.get_latest_asset_check_evaluation_record(
            dg.AssetCheckKey(dg.AssetKey(asset), name)
        )
    assert record is not None and record.event is not None and record.event.dagster_event
    return record.event.dagster_event.asset_check_evaluation_data


def test_an_edit_of_the_rules_is_counted_named_and_drained_by_months(graph: Graph) -> None:
    put(graph, "one", "2026-03-01T08:00:00Z")
    put(graph, "two", "2026-04-01T08:00:00Z")
    put(graph, "three", "once")
    graph.run()
    assert check(graph, "coverage", "nothing_stale").passed
    rules = graph.vault / "standards/storage-rules.md"
    text = rules.read_text()
    rules.write_text(text.replace("low_confidence: 0.65", "low_confidence: 0.64"))
    graph.run()
    found = check(graph, "coverage", "nothing_stale")
    assert not found.passed and found.metadata["stale_notes"].value == 3
    (changed,) = found.metadata["what_changed"].value.records
    assert changed.data["what"] == "thresholds.low_confidence"
    rules.write_text(text)
    graph.run()
    assert check(graph, "coverage", "nothing_stale").passed, "taken back, and nobody was asked"

    rules.write_text(text.replace("low_confidence: 0.65", "low_confidence: 0.64"))
    graph.run()
    job = graph.defs.resolve_job_def("reenrich")
    with open_instance(graph.location.dagster_home) as instance:
        months = instance.get_dynamic_partitions("capture_month")
        assert sorted(months) == ["2026-03", "2026-04", "undated"]
        for month in months:
            result = job.execute_in_process(instance=instance, partition_key=month)
            (event,) = (
                each
                for each in result.get_asset_materialization_events()
                if each.asset_key == dg.AssetKey("reenriched_notes")
            )
            assert event.materialization.metadata["enriched"].value == 1
    graph.run()
    assert check(graph, "coverage", "nothing_stale").passed
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
