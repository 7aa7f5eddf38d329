"""The assets that judge notes. They are thin: `work` and the room's pass do it all."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, Literal

import dagster as dg
from dagster import MaterializeResult

from agentm_assets.config.enrichment_table import Limits
from agentm_assets.contract.rules import LoadedRules, RulesError
from agentm_assets.enrichment.assets.group import CODE_VERSION, GROUP
from agentm_assets.enrichment.assets.measured_again import measure_again
from agentm_assets.enrichment.assets.metadata import (
    could_judge,
    halted,
    pass_metadata,
    refusal_rate,
    rules_hold,
    within_budget,
)
from agentm_assets.enrichment.assets.work import STALE, UNJUDGED, Done, Work, judge_notes
from agentm_assets.enrichment.population import UNDATED
from agentm_assets.index.assets.renewed import renew
from agentm_assets.index.assets.sources import RULES_JUDGMENT
from agentm_assets.index.assets.tables import OWNERS
from resources.embedder import EmbedderResource
from resources.models import ModelsResource
from resources.progress import ProgressReporter
from resources.workspace import WorkspaceResource

CAPTURE_MONTH: Final = dg.DynamicPartitionsDefinition(name="capture_month")
"""Months of capture such as 2026-08, and "undated". Keys come with the notes and never go."""

_JUDGED_SPACE: Final = "memory"
_MOST_PATIENCE: Final = 7_200.0
"""Seconds that a month waits for the command line or the night: two of their longest runs."""

Pace = Literal["after_capture", "hourly", "batch"]


class EnrichConfig(dg.Config):
    """What one run judges: notes that nobody has judged, or stale ones as well (`scope`), by which
    limits of the configuration (`pace`), captured in which `month` (None: in any)."""

    scope: Literal["unjudged", "all"] = "unjudged"
    pace: Pace = "after_capture"
    month: str | None = None


def _checks() -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(
            "rules_parse",
            asset="enriched_notes",
            description="The rules can be read; while they can't, nothing is judged.",
        ),
        dg.AssetCheckSpec(
            "refusal_rate",
            asset="enriched_notes",
            description="At most a fifth of the answers are refused by the gates behind the judge.",
        ),
        dg.AssetCheckSpec(
            "within_budget",
            asset="enriched_notes",
            description="Nothing had to be left for a later run.",
        ),
        dg.AssetCheckSpec(
            "could_judge",
            asset="enriched_notes",
            description="There is a judge, and git holds what it wrote.",
        ),
    ]


@dg.asset(
    deps=["lexical_index", "vector_index", RULES_JUDGMENT],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"markdown"},
    code_version=CODE_VERSION,
    freshness_policy=dg.FreshnessPolicy.time_window(
        fail_window=timedelta(hours=26), warn_window=timedelta(hours=3)
    ),
    check_specs=_checks(),
    description="Raw captures, judged between the gates: type, altitude, names, body. What is not "
    "sure enough stays unfiled and waits for the operator. What it writes is indexed at once.",
)
def enriched_notes(
    context: dg.AssetExecutionContext,
    config: EnrichConfig,
    workspace: WorkspaceResource,
    embedder: EmbedderResource,
    models: ModelsResource,
    progress: dg.ResourceParam[ProgressReporter],
) -> Iterator[MaterializeResult[None] | dg.AssetCheckResult]:
    try:
        rules = workspace.rules()
    except RulesError as error:
        yield MaterializeResult(data_version=dg.DataVersion("halted"), metadata=halted(str(error)))
        yield from _checked(Done.nothing("the rules are broken"), str(error))
        return
    limits = _limits(workspace, config.pace)
    is_eager = config.pace == "after_capture"
    done = judge_notes(
        Work(
            reasons=UNJUDGED | STALE if config.scope == "all" else UNJUDGED,
            trigger="eager" if is_eager else "batch",
            limits=limits,
            month=config.month,
            only_fresh=is_eager,
            patience=5.0 if is_eager else 60.0,
        ),
        rules,
        workspace,
        embedder,
        models,
        context.run_id,
        progress.for_run(context),
    )
    version = _settle_graph(context, workspace, embedder, done, rules)
    yield MaterializeResult(data_version=dg.DataVersion(version), metadata=pass_metadata(done))
    yield from _checked(done, None)


def _checked(done: Done, problem: str | None) -> Iterator[dg.AssetCheckResult]:
    yield rules_hold(problem)
    yield refusal_rate(done)
    yield within_budget(done)
    yield could_judge(done)


@dg.asset(
    deps=["lexical_index", "vector_index", RULES_JUDGMENT],
    partitions_def=CAPTURE_MONTH,
    group_name=GROUP,
    owners=OWNERS,
    kinds={"markdown"},
    code_version=CODE_VERSION,
    # A backfill in the UI starts its months at once, and they would wait for each other's lock.
    pool="reenrich",
    description="Notes whose judgment is stale since rules, prompt or model changed, judged again "
    "by month of capture, the oldest judgment first. A run that was ended goes on where it was.",
)
def reenriched_notes(
    context: dg.AssetExecutionContext,
    workspace: WorkspaceResource,
    embedder: EmbedderResource,
    models: ModelsResource,
    progress: dg.ResourceParam[ProgressReporter],
) -> MaterializeResult[None]:
    try:
        rules = workspace.rules()
    except RulesError as error:
        return MaterializeResult(data_version=dg.DataVersion("halted"), metadata=halted(str(error)))
    done = judge_notes(
        Work(
            reasons=STALE,
            trigger="batch",
            limits=_limits(workspace, "batch"),
            month=context.partition_key,
            patience=_MOST_PATIENCE,
        ),
        rules,
        workspace,
        embedder,
        models,
        context.run_id,
        progress.for_run(context),
    )
    if done.is_busy:
        raise dg.Failure("another process has judged notes all the time; start the month again")
    version = _settle_graph(context, workspace, embedder, done, rules)
    measure_again(context, workspace, embedder, models, rules.rules_hash)
    return MaterializeResult(data_version=dg.DataVersion(version), metadata=pass_metadata(done))


def _limits(workspace: WorkspaceResource, pace: Pace) -> Limits:
    table = workspace.settings().enrichment
    paces: dict[Pace, Limits] = {
        "after_capture": table.after_capture,
        "hourly": table.hourly,
        "batch": table.batch,
    }
    return paces[pace]


def _settle_graph(
    context: dg.AssetExecutionContext,
    workspace: WorkspaceResource,
    embedder: EmbedderResource,
    done: Done,
    rules: LoadedRules,
) -> str:
    """Tell Dagster what was indexed again, which months there are, and who judged by which rules;
    returns the version of what is filed now."""
    with workspace.store().transaction() as connection:
        if done.reindexed:
            renew(context, workspace, connection, embedder.model_id(), _JUDGED_SPACE)
        months = {month or UNDATED for (month,) in connection.execute(_MONTHS).fetchall()}
        filed = connection.execute(_FILED).fetchone() or (0, 0)
    context.instance.add_run_tags(
        context.run_id,
        {"agentm/rules_hash": rules.rules_hash, "agentm/pass_version": done.stamp or "none"},
    )
    known = set(context.instance.get_dynamic_partitions(str(CAPTURE_MONTH.name)))
    if months - known:
        context.instance.add_dynamic_partitions(str(CAPTURE_MONTH.name), sorted(months - known))
    return f"{rules.rules_hash}:{done.stamp}:{filed[0]}-{filed[1] or 0:x}"


_MEMORIES = """
memory_class IN ('semantic', 'procedural', 'episodic') AND NOT generated AND kind IS NULL
"""
_MONTHS = f"""
SELECT DISTINCT CASE WHEN regexp_matches(captured, '^\\d{{4}}-(0[1-9]|1[0-2])([^0-9]|$)')
                     THEN captured[1:7] END
FROM notes WHERE {_MEMORIES}
"""
_FILED = f"""
SELECT count(*), bit_xor(hash(path, status, enriched_by, rules_hash)) FROM notes
WHERE {_MEMORIES} AND enriched_by IS NOT NULL
"""
