"""The reports and the probe through Dagster: what they write, what their checks say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from agentm_assets.capture.files import append_line
from agentm_assets.index.assets.run import open_instance
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.pending import pending_changes


@pytest.fixture
def ready(graph: Any, git: Callable[..., str]) -> Any:
    graph.put("Agent/memory/semantic/kettle.md", "---\ntype: reference\nstatus: active\n---\n# K\n")
    graph.put("Agent/memory/semantic/spout.md", "# Spout\nOf the [[kettle]].\n")
    graph.run()
    return graph


def run(graph: Any, job: str) -> dg.ExecuteInProcessResult:
    with open_instance(graph.location.dagster_home) as instance:
        return graph.defs.resolve_job_def(job).execute_in_process(instance=instance)


def checks(result: dg.ExecuteInProcessResult) -> dict[str, bool]:
    return {each.check_name: each.passed for each in result.get_asset_check_evaluations()}


def test_the_probe_goes_the_round_trip_and_its_check_says_so(ready: Any) -> None:
    result = run(ready, "probe_round_trip")
    assert checks(result) == {"found_again": True}
    (event,) = result.asset_materializations_for_node("round_trip")
    assert "found by its text at" in str(event.metadata["did"].value)
    assert 0 < float(str(event.metadata["seconds"].value)) < 10


def test_the_reports_are_written_indexed_and_set_off_nothing(ready: Any) -> None:
    append_line(
        ready.location.log_dir / "failed-runs.jsonl",
        json.dumps(
            {"at": "2999-01-01T00:00:00+00:00", "run": "feed", "job": "dream", "error": "x"}
        ),
    )
    result = run(ready, "write_reports")
    assert result.success
    found = checks(result)
    assert found["all_parts_pass"]
    assert found["mail_handed_over"]
    assert not found["nothing_failed"], "a failed run is told"
    (note,) = result.asset_materializations_for_node("morning_note")
    assert "**Failed run** `dream`" in str(note.metadata["note"].value)
    (card,) = result.asset_materializations_for_node("health_scorecard")
    assert card.metadata["memories"].value == 2
    folder = ready.vault / "Agent/diagnostics"
    assert (folder / "health/latest_health_scorecard.md").exists()
    assert (folder / "health/latest_memory_graph.svg").exists()
    assert (folder / "morning/latest_morning_note.md").exists()
    with FactsReader.open(ready.location.facts_file) as facts:
        assert facts.note("Agent/diagnostics/morning/latest_morning_note.md") is not None
        scan = ready.workspace.open_vault().scan()
        waiting = pending_changes(scan, facts.manifest(), facts.attachments())
    assert not waiting.changed


def test_a_second_run_changes_no_byte(ready: Any, git: Callable[..., str]) -> None:
    run(ready, "write_reports")
    held = {p: p.read_bytes() for p in (ready.vault / "Agent").rglob("*") if p.is_file()}
    count = git("rev-list", "--count", "HEAD")
    result = run(ready, "write_reports")
    for name in ("memory_graph", "health_scorecard", "morning_note"):
        (event,) = result.asset_materializations_for_node(name)
        assert event.metadata["written"].value == "nothing new"
    assert {p: p.read_bytes() for p in (ready.vault / "Agent").rglob("*") if p.is_file()} == held
    assert git("rev-list", "--count", "HEAD") == count
    assert Path(ready.vault).exists()
