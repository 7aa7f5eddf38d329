"""Nightly pruning: old runs, vectors that no text needs any more, delta files.

Dagster keeps every run for ever (some 170 kB each with SQLite). Deleting a run deletes its
materialisations too, so a run that is the latest of any asset stays, however old.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import dagster as dg
from dagster import DagsterInstance, DagsterRunStatus, RunsFilter
from filelock import FileLock

from agentm_assets.index.publish import compact_vectors, drop_unused_embeddings
from resources.workspace import WorkspaceResource

KEEP_DAYS = 14
_FINISHED = [DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED]


@dataclass(frozen=True, slots=True)
class Pruned:
    """Runs deleted, and runs as old that stay because an asset's latest event is theirs."""

    deleted: int
    kept_as_latest: int


def prune_runs(
    instance: DagsterInstance, asset_keys: Iterable[dg.AssetKey], *, now: datetime
) -> Pruned:
    """Delete finished runs that were created over KEEP_DAYS before `now` (with time zone)."""
    events = instance.get_latest_materialization_events(list(asset_keys))
    latest = {event.run_id for event in events.values() if event is not None}
    old = instance.get_run_ids(
        RunsFilter(statuses=_FINISHED, created_before=now - timedelta(days=KEEP_DAYS))
    )
    doomed = [run_id for run_id in old if run_id not in latest]
    for run_id in doomed:
        instance.delete_run(run_id)
    return Pruned(len(doomed), len(old) - len(doomed))


@dg.op(pool="index", description="Deletes what is no longer needed from Dagster and the cache.")
def prune(context: dg.OpExecutionContext, workspace: WorkspaceResource) -> None:
    location = workspace.settings().location
    keys = context.instance.all_asset_keys()
    pruned = prune_runs(context.instance, keys, now=datetime.now(UTC))
    store = workspace.store()
    # An embedding run that is under way may just be about to use what looks unused.
    with FileLock(location.index_dir / "embed.lock", timeout=60):
        dropped = drop_unused_embeddings(store)
    compacted = compact_vectors(location.vectors_dir)
    context.log.info(
        f"{pruned.deleted} old runs deleted, {pruned.kept_as_latest} kept as an asset's latest; "
        f"{dropped} unused vectors dropped; vector files compacted: {compacted}"
    )


@dg.job(
    executor_def=dg.in_process_executor,
    tags={"agentm/lane": "prune"},
    description="Deletes old runs and unused vectors. Never touches the vault.",
)
def prune_history() -> None:
    prune()


nightly_prune = dg.ScheduleDefinition(
    name="nightly_prune",
    job=prune_history,
    cron_schedule="23 4 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Once a night old runs go, so that the Dagster home does not grow for ever.",
)
