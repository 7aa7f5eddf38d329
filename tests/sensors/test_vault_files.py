"""The file sensor as a function: bursts, reverts, old stamps, deletions, half-written files."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster import DagsterInstance, DagsterRunStatus
from dagster._core.test_utils import create_run_for_test

from agentm_assets.index.publish import publish_facts
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.storage.seam import StorageBackend
from resources.workspace import WorkspaceResource
from sensors.vault_files import (
    BATCH_NOTES,
    EAGER_JOB,
    HOLD_SECONDS,
    REPEAT_SECONDS,
    STEP_MS,
    Cursor,
    evaluate,
)


class Time:
    """A clock that moves when the sensor waits. `script` maps a step to what happens in it."""

    def __init__(self, script: dict[int, Callable[[], object]] | None = None) -> None:
        self.now = 1_000.0
        self.steps = 0
        self.script = script or {}

    def __call__(self) -> float:
        return self.now

    def events(self, store: StorageBackend) -> Iterator[bool]:
        while True:
            self.now += STEP_MS / 1000
            self.steps += 1
            action = self.script.get(self.steps)
            if action is not None:
                action()
            yield action is not None


class Sensor:
    """The sensor of one vault, ticking with the cursor it left."""

    def __init__(self, workspace: WorkspaceResource, instance: DagsterInstance) -> None:
        self.workspace = workspace
        self.instance = instance
        self.cursor: str | None = None
        self.wall = 5_000.0

    def tick(self, time: Time | None = None) -> dg.SensorResult:
        time = time or Time()
        context = dg.build_sensor_context(instance=self.instance, cursor=self.cursor)
        result = evaluate(
            context, self.workspace, events=time.events, clock=time, wall_clock=lambda: self.wall
        )
        if isinstance(result, dg.SkipReason):
            return dg.SensorResult(skip_reason=result)
        self.cursor = result.cursor
        return result

    def index(self) -> None:
        """What the requested run does."""
        location = self.workspace.settings().location
        store = self.workspace.store()
        reconcile(
            self.workspace.open_vault(),
            store,
            self.workspace.rules_or_none(),
            ReconcileOptions(),
            lock_file=location.index_dir / "tables.lock",
        )
        publish_facts(store, location.facts_file)


@pytest.fixture
def sensor(workspace: WorkspaceResource) -> Iterator[Sensor]:
    with DagsterInstance.ephemeral() as instance:
        yield Sensor(workspace, instance)


def requests(result: dg.SensorResult) -> list[dg.RunRequest]:
    return list(result.run_requests or [])


def observed(result: dg.SensorResult) -> set[str]:
    return {event.asset_key.to_user_string() for event in result.asset_events}


def test_the_first_tick_indexes_everything_in_one_run(vault: Path, sensor: Sensor) -> None:
    for number in range(BATCH_NOTES + 10):
        (vault / f"{number}.md").write_text("x")
    (request,) = requests(sensor.tick())
    assert request.run_config == {}
    sensor.index()
    assert requests(sensor.tick()) == []


def test_nothing_changed_waits_for_the_whole_hold_and_says_so(vault: Path, sensor: Sensor) -> None:
    (vault / "a.md").write_text("x")
    sensor.tick()
    sensor.index()
    time = Time()
    result = sensor.tick(time)
    assert requests(result) == []
    assert "nothing changed in 1 notes" in str(result.skip_reason)
    assert HOLD_SECONDS <= time.now - 1_000 < HOLD_SECONDS + 1


def test_a_change_during_the_hold_ends_it_once_it_has_settled(vault: Path, sensor: Sensor) -> None:
    (vault / "a.md").write_text("x")
    sensor.tick()
    sensor.index()
    time = Time({10: lambda: (vault / "b.md").write_text("new")})
    (request,) = requests(sensor.tick(time))
    assert request.tags["agentm/changed"] == "1"
    assert time.now - 1_000 < 4


def test_a_burst_becomes_one_run(vault: Path, sensor: Sensor) -> None:
    (vault / "a.md").write_text("x")
    sensor.tick()
    sensor.index()
    script: dict[int, Callable[[], object]] = {
        step: lambda step=step: (vault / f"n{step}.md").write_text("new") for step in range(3, 12)
    }
    (request,) = requests(sensor.tick(Time(script)))
    assert request.tags["agentm/changed"] == "9"


def test_a_file_that_never_settles_is_taken_after_the_patience(vault: Path, sensor: Sensor) -> None:
    (vault / "a.md").write_text("x")
    sensor.tick()
    sensor.index()
    log = vault / "log.md"
    time = Time({step: lambda step=step: log.write_text("x" * step) for step in range(2, 400)})
    assert len(requests(sensor.tick(time))) == 1
    assert time.now - 1_000 < 8


def test_a_half_written_file_is_taken_in_its_last_state(vault: Path, sensor: Sensor) -> None:
    (vault / "a.md").write_text("x")
    sensor.tick()
    sensor.index()
    half = vault / "half.md"
    first = sensor.tick(
        Time({2: lambda: half.write_text("ha"), 5: lambda: half.write_text("half")})
    )
    (request,) = requests(first)
    sensor.index()
    assert requests(sensor.tick()) == []
    half.write_text("ha")
    (other,) = requests(sensor.tick())
    assert other.run_key != request.run_key


def test_a_revert_to_the_old_content_runs_again(vault: Path, sensor: Sensor) -> None:
    note = vault / "a.md"
    keys = []
    for text in ("one", "two!", "one"):
        note.write_text(text)
        (request,) = requests(sensor.tick())
        keys.append(request.run_key)
        sensor.index()
    assert len(set(keys)) == 3


def test_an_old_stamp_is_seen(vault: Path, sensor: Sensor) -> None:
    note = vault / "a.md"
    note.write_text("new")
    sensor.tick()
    sensor.index()
    note.write_text("restored from a backup")
    os.utime(note, ns=(10**9, 10**9))
    assert len(requests(sensor.tick())) == 1


def test_deletions_and_renames_are_seen(vault: Path, sensor: Sensor) -> None:
    for name in ("a.md", "b.md"):
        (vault / name).write_text(name)
    sensor.tick()
    sensor.index()
    (vault / "a.md").unlink()
    (request,) = requests(sensor.tick())
    assert request.tags["agentm/deleted"] == "1"
    sensor.index()
    (vault / "b.md").rename(vault / "c.md")
    (request,) = requests(sensor.tick())
    assert (request.tags["agentm/changed"], request.tags["agentm/deleted"]) == ("1", "1")


def test_a_new_attachment_is_seen_since_links_may_lead_to_it(vault: Path, sensor: Sensor) -> None:
    (vault / "a.md").write_text("![[plan.pdf]]")
    sensor.tick()
    sensor.index()
    (vault / "plan.pdf").write_bytes(b"%PDF")
    assert len(requests(sensor.tick())) == 1


def test_batches_are_capped_once_there_is_an_index(vault: Path, sensor: Sensor) -> None:
    (vault / "a.md").write_text("x")
    sensor.tick()
    sensor.index()
    (vault / "b.md").write_text("x")
    (request,) = requests(sensor.tick())
    assert request.run_config["ops"]["index_tables"]["config"]["limit"] == BATCH_NOTES


def test_while_a_run_is_under_way_nothing_is_asked_for(vault: Path, sensor: Sensor) -> None:
    (vault / "a.md").write_text("x")
    create_run_for_test(sensor.instance, job_name=EAGER_JOB, status=DagsterRunStatus.STARTED)
    time = Time()
    result = sensor.tick(time)
    assert requests(result) == []
    assert "under way" in str(result.skip_reason)
    assert time.now - 1_000 >= HOLD_SECONDS


def test_a_state_that_a_run_left_standing_waits_before_it_is_asked_for_again(
    vault: Path, sensor: Sensor
) -> None:
    (vault / "a.md").write_text("x")
    assert len(requests(sensor.tick())) == 1
    assert requests(sensor.tick()) == []
    sensor.wall += REPEAT_SECONDS
    assert len(requests(sensor.tick())) == 1


def test_observations_name_the_spaces_that_changed_and_no_others(
    vault: Path, sensor: Sensor
) -> None:
    (vault / "projects").mkdir()
    (vault / "projects/p.md").write_text("x")
    assert observed(sensor.tick()) >= {"projects", "other", "memory"}
    sensor.index()
    (vault / "top.md").write_text("x")
    assert observed(sensor.tick()) == {"other"}


def test_generated_pages_change_no_version(vault: Path, sensor: Sensor) -> None:
    (vault / "Agent/memory/mocs").mkdir(parents=True)
    sensor.tick()
    (vault / "Agent/memory/mocs/all.md").write_text("# Map")
    result = sensor.tick()
    assert observed(result) == set()
    assert len(requests(result)) == 1


def test_a_vault_that_is_gone_skips_and_names_it(vault: Path, sensor: Sensor) -> None:
    (vault / "a.md").write_text("x")
    sensor.tick()
    sensor.index()
    moved = vault.rename(vault.with_name("elsewhere"))
    result = sensor.tick()
    assert requests(result) == []
    assert "vault" in str(result.skip_reason)
    moved.rename(vault)
    assert requests(sensor.tick()) == []


def test_the_cursor_survives_writing_and_reading() -> None:
    cursor = Cursor(3, "abc", 12.5, {"memory": "v"})
    assert Cursor.read(cursor.write()) == cursor
    assert Cursor.read(None) == Cursor()
