"""Materialising the index in this process: what `agentm index` does, visible as a run in the UI."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from dagster import DagsterInstance, DagsterRunStatus, RunsFilter
from filelock import FileLock, Timeout

from agentm_assets.config.dagster_home import RUN_BEGAN_FILE, ensure_dagster_home
from agentm_assets.index.assets.sources import (
    RULES_JUDGMENT,
    RULES_RANKING,
    current_versions,
)
from resources.workspace import WorkspaceResource

VERSION_TAG = "dagster/data_version"
CLI_TAGS = {"agentm/trigger": "cli", "agentm/lane": "cli"}
_INTERRUPTED = ("DagsterExecutionInterruptedError", "KeyboardInterrupt")
_UNFINISHED = [
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]


@dataclass(frozen=True, slots=True)
class IndexRun:
    """Outcome of one run. `numbers` are the metadata of `notes`; those of other assets have a
    prefix: embeddings_, vectors_, judged_."""

    run_id: str
    success: bool
    error: str | None
    numbers: Mapping[str, int | float | str]


def open_instance(home: Path) -> DagsterInstance:
    """The Dagster instance of this vault's home, created on first use."""
    ensure_dagster_home(home)
    os.environ["DAGSTER_HOME"] = str(home)
    return DagsterInstance.from_config(str(home))


def report_versions(instance: DagsterInstance, workspace: WorkspaceResource) -> None:
    """Observe the sources whose version differs from the last one that Dagster heard of."""
    versions = current_versions(workspace)
    rules = workspace.rules_or_none()
    if rules is not None:
        versions |= {RULES_JUDGMENT: rules.rules_hash, RULES_RANKING: rules.ranking_hash}
    for name, version in versions.items():
        key = dg.AssetKey(name)
        last = instance.get_latest_data_version_record(key, is_source=True)
        observation = last.asset_observation if last else None
        if observation is None or observation.tags.get(VERSION_TAG) != version:
            instance.report_runless_asset_event(
                dg.AssetObservation(key, tags={VERSION_TAG: version})
            )


def bury_dead_runs(instance: DagsterInstance) -> int:
    """End in Dagster's books what ended in truth, and free the pool slots that the dead hold.

    The caller holds the lock that every run of the command line holds while it lives: one that is
    still "started" was killed. Without this its slot would block all later runs for ever. Returns
    how many runs were ended. Runs of the daemon are the daemon's to watch.
    """
    killed = instance.get_runs(RunsFilter(tags=CLI_TAGS, statuses=_UNFINISHED))
    for run in killed:
        instance.report_run_failed(run, "the process was ended before the run was")
    for run_id in instance.event_log_storage.get_concurrency_run_ids():
        holder = instance.get_run_by_id(run_id)
        if holder is None or holder.is_finished:
            instance.event_log_storage.free_concurrency_slots_for_run(run_id)
    return len(killed)


def run_index(
    definitions: dg.Definitions,
    workspace: WorkspaceResource,
    *,
    tables_config: Mapping[str, object],
    job: str = "index_changes",
    on_wait: Callable[[], None] = lambda: None,
) -> IndexRun:
    """Run the job here and now. Never raises for a failed step: the outcome says so.

    Runs of the command line take turns; `on_wait` hears that another one is under way.
    """
    with turn_of_the_command_line(workspace, on_wait) as instance:
        result = definitions.resolve_job_def(job).execute_in_process(
            instance=instance,
            run_config=run_config({"index_tables": dict(tables_config)}),
            tags=CLI_TAGS,
            raise_on_error=False,
        )
    numbers: dict[str, int | float | str] = {}
    for event in result.get_asset_materialization_events():
        prefix = _PREFIXES.get(event.asset_key.path[-1] if event.asset_key else "")
        if prefix is not None and event.step_key in _OWN_STEPS:
            numbers |= {f"{prefix}{name}": value for name, value in numbers_of(event).items()}
    return IndexRun(result.run_id, result.success, first_error(result), numbers)


_PREFIXES = {
    "notes": "",
    "embeddings": "embeddings_",
    "vector_index": "vectors_",
    "enriched_notes": "judged_",
}
_OWN_STEPS = {"index_tables", "embeddings", "vector_index", "enriched_notes"}
"""A later step reports the same assets again when it has written notes."""


def run_config(ops: Mapping[str, object]) -> dict[str, object]:
    """The configuration of a run in this process, which logs to Dagster and not to the terminal."""
    return {
        "ops": {name: {"config": config} for name, config in ops.items()},
        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
    }


def numbers_of(event: dg.DagsterEvent) -> dict[str, int | float | str]:
    """What a materialisation says in numbers and words."""
    metadata = event.step_materialization_data.materialization.metadata
    return {
        name: value.value
        for name, value in metadata.items()
        if isinstance(value.value, int | float | str)
    }


@contextmanager
def turn_of_the_command_line(
    workspace: WorkspaceResource, on_wait: Callable[[], None]
) -> Iterator[DagsterInstance]:
    """The instance of the vault's home, for one run of the command line at a time; `on_wait` hears
    that another one is under way. Runs that were killed are ended first, and what changed in the
    sources is observed."""
    home = workspace.settings().location.dagster_home
    home.mkdir(parents=True, exist_ok=True)
    turn = FileLock(home / "agentm-index.lock")
    try:
        turn.acquire(timeout=0)
    except Timeout:
        on_wait()
        turn.acquire()
    try:
        with open_instance(home) as instance:
            (home / RUN_BEGAN_FILE).touch()  # for servers that watch for killed runs
            bury_dead_runs(instance)
            report_versions(instance, workspace)
            yield instance
    finally:
        turn.release()


def first_error(result: dg.ExecuteInProcessResult) -> str | None:
    """Why a run failed, in one sentence; None when it did not."""
    for event in result.all_events:
        if event.is_failure and event.event_specific_data is not None:
            error = getattr(event.event_specific_data, "error", None)
            # Dagster wraps what a step raised; what lies under that is a library's affair.
            cause = getattr(error, "cause", None) or error
            if cause is not None and cause.cls_name in _INTERRUPTED:
                return "it was interrupted; what is done stays, and the next run goes on from there"
            if cause is not None:
                return str(cause.message).strip()
    return None if result.success else "the run failed; its log in the Dagster UI says where"
