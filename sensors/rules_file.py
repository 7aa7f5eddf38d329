"""The rules sensor: reports a new version of the filing rules, or that they are broken.

It starts no run: what an edit makes stale shows as stale, with how many notes it is and what
changed, and the operator (or the night) drains it.
"""

import json

import dagster as dg

from agentm_assets.config.errors import ConfigError
from agentm_assets.contract.rules import LoadedRules, RulesError
from agentm_assets.enrichment.assets.coverage import (
    NOTHING_STALE,
    judged_staleness,
    stale_metadata,
)
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.serving import ServingUnreadable
from resources.models import ModelsResource
from resources.workspace import WorkspaceResource

JUDGMENT = "storage_rules_judgment"
RANKING = "storage_rules_ranking"
PARSE_CHECK = "rules_parse"
COUNTED = "counted"  # the rules for which the stale judgments were counted last
UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def evaluate(
    context: dg.SensorEvaluationContext, workspace: WorkspaceResource, models: ModelsResource
) -> dg.SensorResult | dg.SkipReason:
    """One tick: observations for versions that differ from the cursor's, a check for the parse, and
    one for the judgments that were made under other rules: once no run is under way."""
    before: dict[str, str] = json.loads(context.cursor) if context.cursor else {}
    try:
        rules = workspace.rules()
    except ConfigError as error:
        return dg.SkipReason(str(error))
    except RulesError as error:
        problem = str(error)
        if before.get("problem") == problem:
            return dg.SkipReason(f"the rules are still broken: {problem}")
        return dg.SensorResult(
            cursor=json.dumps(before | {"problem": problem}, sort_keys=True),
            asset_events=[parse_evaluation(problem)],
            skip_reason=f"the rules are broken, filing halts: {problem}",
        )
    now = {JUDGMENT: rules.rules_hash, RANKING: rules.ranking_hash}
    counted = before.get(COUNTED)
    stale: list[dg.AssetCheckEvaluation] = []
    if counted != rules.rules_hash and not _is_running(context.instance):
        stale = stale_evaluation(rules, workspace, models)
        counted = rules.rules_hash if stale else counted
    events: list[dg.AssetObservation | dg.AssetCheckEvaluation] = [
        dg.AssetObservation(key, tags={"dagster/data_version": version})
        for key, version in now.items()
        if before.get(key) != version
    ]
    if events or "problem" in before:
        events.append(parse_evaluation(None))
    if not events and not stale:
        return dg.SkipReason("the rules have not changed")
    cursor = now if counted is None else now | {COUNTED: counted}
    return dg.SensorResult(
        cursor=json.dumps(cursor, sort_keys=True), asset_events=[*events, *stale]
    )


def _is_running(instance: dg.DagsterInstance) -> bool:
    """Whether a run may still write coverage: after it, an evaluation made meanwhile would count as
    one of an older state, and the UI would show none at all."""
    return bool(instance.get_run_ids(dg.RunsFilter(statuses=UNFINISHED), limit=1))


def stale_evaluation(
    rules: LoadedRules, workspace: WorkspaceResource, models: ModelsResource
) -> list[dg.AssetCheckEvaluation]:
    """The check of coverage, as it is under these rules; none before there is an index."""
    try:
        with FactsReader.open(workspace.settings().location.facts_file) as facts:
            rows = facts.judgments()
    except ServingUnreadable:
        return []
    stale = judged_staleness(rows, rules, workspace, models)
    return [
        dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey("coverage"),
            check_name=NOTHING_STALE,
            passed=not stale.stale,
            severity=dg.AssetCheckSeverity.WARN,
            metadata=stale_metadata(stale),
        )
    ]


def parse_evaluation(problem: str | None) -> dg.AssetCheckEvaluation:
    """The outcome of reading the rules, for the check that filing waits for."""
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(JUDGMENT),
        check_name=PARSE_CHECK,
        passed=problem is None,
        metadata={"problem": problem or "none"},
        blocking=True,
    )


@dg.sensor(
    name="rules_file",
    minimum_interval_seconds=4,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Reports a new version of standards/storage-rules.md, or why it can't be used.",
    asset_selection=None,
)
def rules_file(
    context: dg.SensorEvaluationContext, workspace: WorkspaceResource, models: ModelsResource
) -> dg.SensorResult | dg.SkipReason:
    return evaluate(context, workspace, models)
