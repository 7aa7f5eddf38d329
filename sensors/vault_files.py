"""The file sensor: waits inside its tick for a change, then asks for one run.

A tick comes at most every five seconds, so the waiting happens in the tick (`watchfiles`), which
ends at once when something changes. One run at a time: while one is under way the tick waits for
its end, and the next run takes along whatever came up meanwhile. What decides is the difference
between the vault and the manifest of the last finished pass, so a lost event, a failed run or an
old time stamp loses nothing.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace

import dagster as dg
from dagster import DagsterRunStatus, RunsFilter

from agentm_assets.config.errors import ConfigError
from agentm_assets.contract.spaces import SPACES
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.pending import (
    Manifest,
    Pending,
    pending_changes,
    settled,
    space_versions,
)
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.storage.seam import StorageBackend, StorageError
from agentm_assets.storage.selection import open_vault
from agentm_assets.storage.vault import NoteUnreadable, Scan, content_hash
from resources.workspace import WorkspaceResource

HOLD_SECONDS = 20.0
"""How long one tick waits: well under Dagster's 60 s for a sensor call."""

STEP_MS = 200
BATCH_NOTES = 500
"""Changed notes of one run, so that a mass change never keeps a fresh capture waiting for long."""

REPEAT_SECONDS = 90.0
"""A state that a run has left standing (a mass deletion held back, a crash) is tried again only
after this long, else it would start a run at every tick."""

EAGER_JOB = "index_changes"
_ACTIVE = [
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]


@dataclass(frozen=True, slots=True)
class Cursor:
    """What the sensor remembers between ticks: how many runs it asked for, for which state of the
    vault it asked last and when (seconds since the epoch), and the versions it reported."""

    seq: int = 0
    asked_for: str = ""
    asked_at: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str | None) -> "Cursor":
        return cls(**json.loads(text)) if text else cls()

    def write(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


class _Tick:
    """One look at the vault, repeated while the tick waits."""

    def __init__(self, workspace: WorkspaceResource) -> None:
        location = workspace.settings().location
        self.vault = open_vault(location)
        self.facts_file = location.facts_file

    def look(self) -> tuple[Scan, Manifest | None, Pending]:
        """The vault now against the last finished pass; the manifest is None before the first."""
        scan = self.vault.scan()
        try:
            with FactsReader.open(self.facts_file) as facts:
                manifest: Manifest | None = facts.manifest()
                attachments = facts.attachments()
        except ServingUnreadable:
            manifest, attachments = None, frozenset()
        return scan, manifest, pending_changes(scan, manifest or {}, attachments)

    def hash_of(self, path: str) -> str | None:
        try:
            return content_hash(self.vault.read_bytes(path))
        except (NoteUnreadable, FileNotFoundError):
            return None


def evaluate(
    context: dg.SensorEvaluationContext,
    workspace: WorkspaceResource,
    *,
    events: Callable[[StorageBackend], Iterator[bool]] | None = None,
    clock: Callable[[], float] = time.monotonic,
    wall_clock: Callable[[], float] = time.time,
) -> dg.SensorResult | dg.SkipReason:
    """One tick. `events` yields at least every STEP_MS whether something happened in the store;
    `clock` is monotonic seconds, `wall_clock` seconds since the epoch: tests pass all three."""
    cursor = Cursor.read(context.cursor)
    try:
        tick = _Tick(workspace)
        deadline = clock() + HOLD_SECONDS
        happened = (events or _events)(tick.vault.store)
        next(happened)  # the watcher stands from here on: nothing after the first look is missed
        if not _wait_for_free_lane(context, happened, clock, deadline):
            return dg.SkipReason("the run before is still under way; its end is waited for")
        scan, manifest, pending = tick.look()
        while not pending.count and clock() < deadline:
            if next(happened):
                scan, manifest, pending = tick.look()
        if pending.count:
            scan, manifest, pending = _settle(tick, happened, clock, (scan, manifest, pending))
    except (ConfigError, StorageError) as error:
        return dg.SkipReason(str(error))
    versions = space_versions(scan, manifest or {}, tick.hash_of)
    observed = [
        dg.AssetObservation(space, tags={"dagster/data_version": versions[space]})
        for space in SPACES
        if cursor.versions.get(space) != versions[space]
    ]
    state, now = pending.digest(scan), wall_clock()
    if not pending.count:
        skip = f"nothing changed in {len(scan.notes)} notes"
    elif state == cursor.asked_for and 0 <= now - cursor.asked_at < REPEAT_SECONDS:
        skip = f"{pending.count} files wait for a second look {REPEAT_SECONDS:.0f} s later"
    else:
        return dg.SensorResult(
            run_requests=[_request(cursor.seq + 1, state, pending, first=manifest is None)],
            cursor=Cursor(cursor.seq + 1, state, now, versions).write(),
            asset_events=observed,
        )
    return dg.SensorResult(
        skip_reason=skip,
        cursor=replace(cursor, versions=versions).write(),
        asset_events=observed,
    )


def _events(store: StorageBackend) -> Iterator[bool]:
    for changes in store.watch(lambda: False, STEP_MS):
        yield bool(changes)


def _wait_for_free_lane(
    context: dg.SensorEvaluationContext,
    happened: Iterator[bool],
    clock: Callable[[], float],
    deadline: float,
) -> bool:
    active = RunsFilter(job_name=EAGER_JOB, statuses=_ACTIVE)
    while context.instance.get_run_records(active, limit=1):
        if clock() >= deadline:
            return False
        next(happened)
    return True


def _settle(
    tick: _Tick,
    happened: Iterator[bool],
    clock: Callable[[], float],
    seen: tuple[Scan, Manifest | None, Pending],
) -> tuple[Scan, Manifest | None, Pending]:
    """Wait until the batch has settled; the last look is the one that counts."""
    first_seen = last_change = clock()
    while not settled(first_seen, last_change, clock()):
        if next(happened):
            last_change = clock()
    return tick.look() if clock() > first_seen else seen


def _request(seq: int, state: str, pending: Pending, *, first: bool) -> dg.RunRequest:
    # Before there is an index nothing else waits, and slices would only cost a process start each.
    limit = None if first else BATCH_NOTES
    return dg.RunRequest(
        run_key=f"{EAGER_JOB}:{seq}:{state}",
        run_config={"ops": {"index_tables": {"config": {"limit": limit}}}} if limit else {},
        tags={
            "agentm/trigger": "vault_files",
            "agentm/changed": str(len(pending.changed)),
            "agentm/deleted": str(len(pending.deleted)),
        },
    )


@dg.sensor(
    name="vault_files",
    job_name=EAGER_JOB,
    minimum_interval_seconds=1,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Waits for files of the vault to change and indexes them, one run at a time.",
)
def vault_files(
    context: dg.SensorEvaluationContext, workspace: WorkspaceResource
) -> dg.SensorResult | dg.SkipReason:
    return evaluate(context, workspace)
