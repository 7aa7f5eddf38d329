"""Telling Dagster that a later step of a run has brought the index in line once more.

The tables were materialised earlier in the run, from the vault as it was then. Without these events
they would show as stale, for a change that they hold already.
"""

from collections.abc import Mapping

import dagster as dg
import duckdb

from agentm_assets.index.assets.sources import current_versions
from agentm_assets.index.assets.versions import published_versions
from resources.workspace import WorkspaceResource

_VERSION = "dagster/data_version"
_INPUT = "dagster/input_data_version/"


def renew(
    context: dg.AssetExecutionContext,
    workspace: WorkspaceResource,
    connection: duckdb.DuckDBPyConnection,
    model_id: str | None,
    space: str,
) -> None:
    """Observe `space` as it is now, and materialise what was published anew since its last event.

    What this step itself hangs on is then read again, so that its own result counts as made from
    the index that it leaves.
    """
    versions: dict[str, str] = {space: current_versions(workspace)[space]}
    context.log_event(dg.AssetObservation(space, tags={_VERSION: versions[space]}))
    for name, version in published_versions(connection, model_id).items():
        event = context.instance.get_latest_materialization_event(dg.AssetKey(name))
        last = event.asset_materialization if event is not None else None
        if last is None or last.tags is None:
            continue
        tags = renewed(last.tags, version, versions)
        versions[name] = version
        if tags != dict(last.tags):
            context.log_event(
                dg.AssetMaterialization(
                    name,
                    description="Indexed again after notes were judged.",
                    metadata=dict(last.metadata),
                    tags=tags,
                )
            )
    context.get_step_execution_context().fetch_external_input_asset_version_info()


def renewed(tags: Mapping[str, str], version: str, inputs: Mapping[str, str]) -> dict[str, str]:
    """The tags of a materialisation with another version, made from inputs of other versions."""
    renewed = dict(tags) | {_VERSION: version}
    for name, now in inputs.items():
        if f"{_INPUT}{name}" in renewed:
            renewed[f"{_INPUT}{name}"] = now
    return renewed
