"""Coverage and queue after a month of a backfill.

The UI runs a backfill over `reenriched_notes` alone. Without these events it would end with the
check for stale judgments still red, and with numbers from before it.
"""

import dagster as dg
from dagster import AssetCheckResult, MaterializeResult

from agentm_assets.enrichment.assets.coverage import measure_coverage
from agentm_assets.enrichment.assets.review import measure_queue
from agentm_assets.index.assets.renewed import renewed
from agentm_assets.index.assets.sources import RULES_JUDGMENT
from agentm_assets.index.assets.versions import published_versions
from resources.embedder import EmbedderResource
from resources.models import ModelsResource
from resources.workspace import WorkspaceResource


def measure_again(
    context: dg.AssetExecutionContext,
    workspace: WorkspaceResource,
    embedder: EmbedderResource,
    models: ModelsResource,
    rules_hash: str,
) -> None:
    """Materialise both anew with their checks, as far as there is an earlier result of theirs."""
    with workspace.store().transaction() as connection:
        inputs = published_versions(connection, embedder.model_id())
    inputs[RULES_JUDGMENT] = rules_hash
    _report(context, "coverage", measure_coverage(workspace, embedder, models), inputs)
    _report(context, "review_queue", measure_queue(workspace), inputs)


def _report(
    context: dg.AssetExecutionContext,
    name: str,
    measured: tuple[MaterializeResult[None], AssetCheckResult],
    inputs: dict[str, str],
) -> None:
    result, check = measured
    event = context.instance.get_latest_materialization_event(dg.AssetKey(name))
    last = event.asset_materialization if event is not None else None
    if last is None or last.tags is None or result.data_version is None:
        return
    context.log_event(
        dg.AssetMaterialization(
            name,
            description="Measured again after stale notes were judged.",
            metadata=dict(result.metadata or {}),
            tags=renewed(last.tags, result.data_version.value, inputs),
        )
    )
    evaluation = dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(name),
        check_name=check.check_name or "",
        passed=check.passed,
        severity=check.severity,
        metadata=check.metadata,
    )
    # Behind the materialisation, in its run: else it would count as one of an older state.
    context.log_event(evaluation)
