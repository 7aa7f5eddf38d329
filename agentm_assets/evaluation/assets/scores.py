"""`recall_scores`: recall of the vault, measured every night and held against what was accepted."""

import os
from collections.abc import Iterator
from datetime import datetime, timedelta

import dagster as dg
from dagster import MaterializeResult

from agentm_assets.evaluation.assets.metadata import (
    check_metadata,
    data_version,
    score_metadata,
)
from agentm_assets.evaluation.known import QUESTIONS, SEED
from agentm_assets.evaluation.nightly import SECONDS, TOLERANCE, Options, measure_vault
from agentm_assets.evaluation.score_log import ScoreLog
from resources.progress import ProgressReporter
from resources.workspace import WorkspaceResource

GROUP = "evaluation"
OWNERS = ["team:operator"]
CODE_VERSION = "1"
SHOWN_RUNS = 14
"""Runs of the history beside the asset: a fortnight of nights."""

HOLDS = dg.AssetCheckSpec(
    "recall_holds",
    asset="recall_scores",
    description="Every bar is met, and no question of the last accepted result is lost beyond "
    "tolerance. Fails, too, when recall could not be measured.",
)
WHOLE = dg.AssetCheckSpec(
    "recall_not_degraded",
    asset="recall_scores",
    description="Recall was asked as it should be: rules that parse, the index of today, vectors.",
)


class RecallScoresConfig(dg.Config):
    """What is asked. `questions`: paths of question sets in the vault; none: those under
    standards/recall-questions*.json, else `n` known items. See Options."""

    questions: list[str] | None = None
    n: int = QUESTIONS
    seed: int = SEED
    seconds: float = SECONDS
    tolerance: float = TOLERANCE


@dg.asset(
    name="recall_scores",
    deps=["lexical_index", "vector_index", "storage_rules_ranking"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"markdown"},
    code_version=CODE_VERSION,
    freshness_policy=dg.FreshnessPolicy.time_window(
        fail_window=timedelta(hours=74), warn_window=timedelta(hours=26)
    ),
    check_specs=[HOLDS, WHOLE],
    description="Does recall find what is known to be in the vault? The operator's question sets, "
    "else titles and headings drawn from the notes, asked of the index as it is. Nothing asked "
    "here counts as a use of a note.",
)
def recall_scores(
    context: dg.AssetExecutionContext,
    config: RecallScoresConfig,
    workspace: WorkspaceResource,
    progress: dg.ResourceParam[ProgressReporter],
) -> Iterator[MaterializeResult[None] | dg.AssetCheckResult]:
    settings = workspace.settings()
    options = Options(
        tuple(config.questions or ()), config.n, config.seed, config.seconds, config.tolerance
    )
    scores = measure_vault(
        settings, os.environ, options, datetime.now().astimezone(), progress.for_run(context)
    )
    history = ScoreLog(settings.location).read(SHOWN_RUNS)
    for fault in scores.faults:
        context.log.error(fault)
    yield MaterializeResult(
        data_version=dg.DataVersion(data_version(scores)),
        metadata=score_metadata(scores, history),
    )
    yield dg.AssetCheckResult(
        check_name=HOLDS.name,
        passed=not scores.faults,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata=check_metadata(scores),
    )
    yield dg.AssetCheckResult(
        check_name=WHOLE.name,
        passed=not scores.remarks and not scores.problems,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"remarks": dg.MetadataValue.json([*scores.problems, *scores.remarks])},
    )


ASSETS = [recall_scores]
