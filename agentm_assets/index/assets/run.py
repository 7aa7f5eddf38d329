"""Materialising the index in this process: what `agentm index` does, visible as a run in the UI."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from dagster import DagsterInstance

from agentm_assets.config.dagster_home import ensure_dagster_home
from agentm_assets.index.assets.sources import (
    RULES_JUDGMENT,
    RULES_RANKING,
    current_versions,
)
from resources.workspace import WorkspaceResource

VERSION_TAG = "dagster/data_version"


@dataclass(frozen=True, slots=True)
class IndexRun:
    """Outcome of one run. `numbers` are the metadata of `notes`, those of `embeddings` prefixed."""

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


def run_index(
    definitions: dg.Definitions,
    workspace: WorkspaceResource,
    *,
    tables_config: Mapping[str, object],
    job: str = "index_changes",
) -> IndexRun:
    """Run the job here and now. Never raises for a failed step: the outcome says so."""
    with open_instance(workspace.settings().location.dagster_home) as instance:
        report_versions(instance, workspace)
        result = definitions.resolve_job_def(job).execute_in_process(
            instance=instance,
            run_config={
                "ops": {"index_tables": {"config": dict(tables_config)}},
                "loggers": {"console": {"config": {"log_level": "ERROR"}}},
            },
            tags={"agentm/trigger": "cli", "agentm/lane": "cli"},
            raise_on_error=False,
        )
        numbers: dict[str, int | float | str] = {}
        for event in result.get_asset_materialization_events():
            prefix = {"notes": "", "embeddings": "embeddings_", "vector_index": "vectors_"}.get(
                event.asset_key.path[-1] if event.asset_key else ""
            )
            if prefix is None:
                continue
            for name, value in event.materialization.metadata.items():
                if isinstance(value.value, int | float | str):
                    numbers[prefix + name] = value.value
        return IndexRun(result.run_id, result.success, _first_error(result), numbers)


def _first_error(result: dg.ExecuteInProcessResult) -> str | None:
    for event in result.all_events:
        if event.is_failure and event.event_specific_data is not None:
            error = getattr(event.event_specific_data, "error", None)
            cause = error
            while cause is not None and getattr(cause, "cause", None) is not None:
                cause = cause.cause
            if cause is not None:
                return str(cause.message).strip()
    return None if result.success else "the run failed; its log in the Dagster UI says where"
