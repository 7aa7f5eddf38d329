"""An asset a stage, each behind the one before it: the order of the night is that of the graph."""

import hashlib
import json
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg
from dagster import AssetsDefinition, MaterializeResult

from agentm_assets.contract.rules import RulesError
from agentm_assets.contract.spaces import space_of
from agentm_assets.dreaming import records
from agentm_assets.dreaming.assets.group import CODE_VERSION, GROUP, asset_name
from agentm_assets.dreaming.assets.metadata import halted, stage_metadata
from agentm_assets.dreaming.attempt import attempt
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.opened import open_night
from agentm_assets.dreaming.order import STAGES
from agentm_assets.dreaming.stage import Stage, StageReport
from agentm_assets.index.assets.renewed import renew
from agentm_assets.index.assets.sources import RULES_JUDGMENT
from agentm_assets.index.assets.tables import OWNERS
from resources.embedder import EmbedderResource
from resources.models import ModelsResource
from resources.workspace import WorkspaceResource

_DIGESTED_SPACES = ("memory", "calendar", "projects", "desk")


class StageConfig(dg.Config):
    """`accept`: so many changes are right, says the operator; the breaker is not asked."""

    accept: bool = False


def stage_asset(stage: Stage, behind: Collection[str]) -> AssetsDefinition:
    """The asset of a stage. `behind`: the assets that go before it."""
    name = asset_name(stage.name)

    @dg.asset(
        name=name,
        deps=[*behind, RULES_JUDGMENT],
        group_name=GROUP,
        owners=OWNERS,
        kinds={"markdown"},
        code_version=f"{CODE_VERSION}.{stage.version}",
        freshness_policy=dg.FreshnessPolicy.time_window(
            fail_window=timedelta(hours=50), warn_window=timedelta(hours=26)
        ),
        check_specs=[
            dg.AssetCheckSpec("could_run", asset=name, description="The stage could do its work."),
            dg.AssetCheckSpec(
                "no_anomaly",
                asset=name,
                description="It wants to change no more than three times what it did on average.",
            ),
        ],
        description=stage.description
        + (" A part of it asks a model; without one that part waits." if stage.needs_model else ""),
    )
    def run(
        context: dg.AssetExecutionContext,
        config: StageConfig,
        workspace: WorkspaceResource,
        embedder: EmbedderResource,
        models: ModelsResource,
    ) -> Iterator[MaterializeResult[None] | dg.AssetCheckResult]:
        try:
            night = _night(context, workspace, embedder, models)
        except RulesError as error:
            yield MaterializeResult(
                data_version=dg.DataVersion("halted"), metadata=halted(str(error))
            )
            yield from _checks(StageReport.failed(stage.name, str(error), 0.0, dry_run=False))
            return
        report = attempt(night, stage, accept=config.accept)
        yield MaterializeResult(
            data_version=dg.DataVersion(_version(night, stage, report)),
            metadata=stage_metadata(report),
        )
        yield from _checks(report)

    return run


def _night(
    context: dg.AssetExecutionContext,
    workspace: WorkspaceResource,
    embedder: EmbedderResource,
    models: ModelsResource,
) -> Night:
    store = workspace.store()

    def told(paths: Collection[str]) -> None:
        """Tell Dagster that the index holds what was written, else its tables would show stale."""
        spaces = {space_of(path).space for path in paths}
        with store.transaction() as connection:
            for space in _DIGESTED_SPACES:
                if space in spaces:
                    renew(context, workspace, connection, embedder.model_id(), space)

    return open_night(
        workspace.settings(),
        store,
        workspace.rules(),
        night_id=context.run_id,
        now=datetime.now(UTC),
        models=models.open(),
        embedder=embedder.open,
        on_reindex=told,
    )


def _checks(report: StageReport) -> Iterator[dg.AssetCheckResult]:
    yield dg.AssetCheckResult(
        check_name="could_run",
        passed=report.error is None,
        severity=dg.AssetCheckSeverity.ERROR,
        description=report.error or report.remark or "It ran.",
    )
    yield dg.AssetCheckResult(
        check_name="no_anomaly",
        passed=not report.anomaly,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{report.planned:,} changes planned"
        + (f", limit {report.limit:,.0f}" if report.limit is not None else ""),
    )


def _version(night: Night, stage: Stage, report: StageReport) -> str:
    """Changes when the stage wrote something or measured something else, and not with each run."""
    wrote = [
        record.run_id
        for record in records.stage_records(night.location)
        if record.stage == stage.name and record.run_id
    ]
    said = json.dumps([wrote[-1:], dict(report.measured)], sort_keys=True, default=str)
    digest = hashlib.sha256(said.encode()).hexdigest()[:12]
    return f"{stage.version}:{night.rules.rules_hash}:{digest}"


def _in_order() -> list[AssetsDefinition]:
    assets: list[AssetsDefinition] = []
    index = ("lexical_index", "vector_index")
    behind: Collection[str] = index
    for stage in STAGES:
        assets.append(stage_asset(stage, behind))
        # A stage that is run alone waits for the index as well.
        behind = (*index, asset_name(stage.name))
    return assets


ASSETS = _in_order()
