"""The rules sensor as a function: versions observed, breakage said once, no run started."""

import json
from pathlib import Path

import dagster as dg
import pytest

from agentm_assets.contract.rules import default_rules_text
from agentm_assets.enrichment.rules_seen import remember_rules
from agentm_assets.index.publish import publish_facts
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from resources.models import ModelsResource
from resources.workspace import WorkspaceResource
from sensors.rules_file import JUDGMENT, RANKING, evaluate


class Sensor:
    def __init__(self, workspace: WorkspaceResource) -> None:
        self.workspace = workspace
        self.cursor: str | None = None
        self.instance = dg.DagsterInstance.ephemeral()

    def tick(self) -> dg.SensorResult | dg.SkipReason:
        models = ModelsResource(workspace=self.workspace)
        context = dg.build_sensor_context(self.instance, self.cursor)
        result = evaluate(context, self.workspace, models)
        if isinstance(result, dg.SensorResult):
            assert not result.run_requests
            self.cursor = result.cursor or self.cursor
        return result


def observed(result: dg.SensorResult | dg.SkipReason) -> set[str]:
    if isinstance(result, dg.SkipReason):
        return set()
    return {
        event.asset_key.to_user_string()
        for event in result.asset_events
        if isinstance(event, dg.AssetObservation)
    }


def evaluations(result: dg.SensorResult | dg.SkipReason) -> list[bool]:
    if isinstance(result, dg.SkipReason):
        return []
    return [e.passed for e in result.asset_events if isinstance(e, dg.AssetCheckEvaluation)]


@pytest.fixture
def rules(vault: Path) -> Path:
    file = vault / "standards/storage-rules.md"
    file.parent.mkdir()
    file.write_bytes(default_rules_text())
    return file


@pytest.fixture
def sensor(workspace: WorkspaceResource, rules: Path) -> Sensor:
    return Sensor(workspace)


def test_the_first_tick_reports_both_versions_and_the_next_has_nothing(sensor: Sensor) -> None:
    first = sensor.tick()
    assert observed(first) == {JUDGMENT, RANKING}
    assert evaluations(first) == [True]
    assert isinstance(sensor.tick(), dg.SkipReason)


def test_an_edit_moves_the_version_of_its_part_alone(sensor: Sensor, rules: Path) -> None:
    sensor.tick()
    text = rules.read_text()
    rules.write_text(text.replace("excludes: []", "excludes: ['drafts/**']"))
    assert observed(sensor.tick()) == {RANKING}
    rules.write_text("A new first sentence.\n\n" + rules.read_text())
    assert observed(sensor.tick()) == {JUDGMENT}


def test_broken_rules_are_said_once_and_no_version_is_taken_from_them(
    sensor: Sensor, rules: Path
) -> None:
    sensor.tick()
    good = rules.read_text()
    rules.write_text(good.replace("default_type: reference", "default_type: nonsense"))
    broken = sensor.tick()
    assert observed(broken) == set()
    assert evaluations(broken) == [False]
    assert "nonsense" in str(getattr(broken, "skip_reason", ""))
    assert isinstance(sensor.tick(), dg.SkipReason)
    rules.write_text(good)
    mended = sensor.tick()
    assert observed(mended) == set(), "the rules are what they were before the mistake"
    assert evaluations(mended) == [True]
    assert "problem" not in json.loads(sensor.cursor or "{}")


def test_a_vault_that_is_gone_skips_with_the_reason(sensor: Sensor, vault: Path) -> None:
    vault.rename(vault.with_name("elsewhere"))
    result = sensor.tick()
    assert isinstance(result, dg.SkipReason)
    assert "vault" in str(result.skip_message)


def test_an_edit_says_at_once_how_many_judgments_it_makes_stale_and_which_keys_differ(
    sensor: Sensor, workspace: WorkspaceResource, vault: Path, rules: Path
) -> None:
    judged = workspace.rules()
    location = workspace.settings().location
    remember_rules(location, judged)
    note = vault / "Agent/memory/semantic/a.md"
    note.parent.mkdir(parents=True)
    stamps = f"enriched_by: extractive-1\nrules_hash: {judged.rules_hash}\n"
    note.write_text(f"---\ntype: fix\nstatus: active\n{stamps}---\nText.\n")
    lock = location.index_dir / "tables.lock"
    store = workspace.store()
    reconcile(workspace.open_vault(), store, judged, ReconcileOptions(), lock_file=lock)
    publish_facts(store, location.facts_file)

    def stale() -> list[tuple[bool, int]]:
        result = sensor.tick()
        assert isinstance(result, dg.SensorResult)
        return [
            (event.passed, event.metadata["stale_notes"].value)
            for event in result.asset_events
            if isinstance(event, dg.AssetCheckEvaluation) and event.check_name == "nothing_stale"
        ]

    assert stale() == [(True, 0)]
    text = rules.read_text()
    rules.write_text(text.replace("  idea: semantic", "  idea: procedural"))
    assert stale() == [(False, 1)]
    rules.write_text(text)
    assert stale() == [(True, 0)], "taken back, and no run was needed"
    rules.write_text(text.replace("excludes: []", "excludes: ['drafts/**']"))
    assert stale() == [], "what only ranks makes nothing stale"
    run = dg.DagsterRun("index_changes", status=dg.DagsterRunStatus.STARTED)
    sensor.instance.add_run(run)
    rules.write_text(text.replace("  idea: semantic", "  idea: procedural"))
    assert stale() == [], "the run is about to write coverage"
    sensor.instance.report_run_canceled(run)
    assert stale() == [(False, 1)]
    assert isinstance(sensor.tick(), dg.SkipReason)
