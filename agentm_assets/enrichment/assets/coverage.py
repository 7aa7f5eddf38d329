"""Coverage over all stages: what is judged and embedded, what is stale and why, what waits."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

import dagster as dg
import duckdb
from dagster import MaterializeResult, MetadataValue

from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.population import STOPPED
from agentm_assets.enrichment.staleness import Judged, Staleness, staleness
from agentm_assets.evaluation.serving_stamp import serving, standings
from agentm_assets.index import coverage as coverage_of
from agentm_assets.index.assets.metadata import column_schema, table
from agentm_assets.index.assets.sources import RULES_JUDGMENT
from agentm_assets.index.assets.tables import CODE_VERSION, FRESH, OWNERS, POOL
from agentm_assets.index.assets.tables import GROUP as INDEX_GROUP
from agentm_assets.index.coverage import StageCoverage
from agentm_assets.index.digests import data_version
from agentm_assets.ledger import ledger
from agentm_assets.storage.selection import open_backend
from resources.embedder import EmbedderResource
from resources.models import ModelsResource
from resources.workspace import WorkspaceResource

STAGE = "enrichment"
NOTHING_STALE = "nothing_stale"


@dg.asset(
    deps=["notes", "embeddings", "enriched_notes", RULES_JUDGMENT],
    group_name=INDEX_GROUP,
    owners=OWNERS,
    kinds={"duckdb"},
    code_version=CODE_VERSION,
    freshness_policy=FRESH,
    pool=POOL,
    description="How much of the vault is judged and embedded, how much is stale, what waits.",
    check_specs=[
        dg.AssetCheckSpec(
            NOTHING_STALE,
            asset="coverage",
            description="No note was judged under rules, by a prompt or by a model that have "
            "changed since. The check names what changed.",
        )
    ],
)
def coverage(
    workspace: WorkspaceResource, embedder: EmbedderResource, models: ModelsResource
) -> Iterator[MaterializeResult[None] | dg.AssetCheckResult]:
    yield from measure_coverage(workspace, embedder, models)


def measure_coverage(
    workspace: WorkspaceResource, embedder: EmbedderResource, models: ModelsResource
) -> tuple[MaterializeResult[None], dg.AssetCheckResult]:
    """The asset as it is now, which is put into its table, and its check."""
    rules = workspace.rules_or_none()
    with workspace.store().transaction() as connection:
        stages = [coverage_of.embedding_coverage(connection, embedder.model_id())]
        stale = None
        if rules is not None:
            stale = _staleness(connection, rules, workspace, models)
            stages.insert(0, stage_of(stale))
        coverage_of.store(connection, stages)
        stopped = ledger.counted(connection, STOPPED)
        version = data_version(connection, "coverage")
        schema = column_schema(connection, "coverage")
    result: MaterializeResult[None] = MaterializeResult(
        data_version=dg.DataVersion(f"{rules.rules_hash if rules else 'broken'}:{version}"),
        metadata={
            "dagster/row_count": len(stages),
            "dagster/column_schema": schema,
            "rules": rules.rules_hash if rules else "broken: filing halts",
            "stages": table(
                ("stage", "population", "done", "stale", "waiting"),
                [(s.stage, s.population, s.done, s.stale, s.waiting) for s in stages],
            ),
            "stopped_by": MetadataValue.json(stopped),
            **_models_metadata(workspace, models),
            "stale": stale.text if stale is not None else "not known while the rules are broken",
            "awaiting_model": 0 if stale is None else stale.awaiting_model,
        },
    )
    return result, nothing_stale(stale)


def _models_metadata(
    workspace: WorkspaceResource, models: ModelsResource
) -> Mapping[str, MetadataValue | str]:
    """Which tier serves which job and why, and what each has spent today against its line."""
    tiers, now = models.open(), datetime.now(UTC)
    jobs = standings(tiers, open_backend(workspace.settings().location), now)
    spent = models.spend_log(tiers).today(now)
    return {
        "tiers": table(
            ("job", "serves", "why", "samples", "agreement"),
            [
                (
                    each.job,
                    each.serves or "nobody",
                    each.why,
                    each.samples,
                    "" if each.agreement is None else f"{each.agreement:.2f}",
                )
                for each in jobs
            ],
        ),
        "spent_today": table(
            ("tier", "calls", "tokens", "daily_tokens", "cost_usd", "daily_usd"),
            [
                (
                    each.tier,
                    each.spent.calls,
                    each.spent.tokens,
                    "no line" if each.line.tokens is None else f"{each.line.tokens}",
                    f"{each.spent.cost:.4f}",
                    "no line" if each.line.usd is None else f"{each.line.usd:.2f}",
                )
                for each in spent
            ],
        ),
    }


def stage_of(stale: Staleness) -> StageCoverage:
    """Enrichment as one stage of the coverage."""
    return StageCoverage(STAGE, stale.population, stale.current, stale.stale, stale.unjudged)


def nothing_stale(stale: Staleness | None) -> dg.AssetCheckResult:
    """`stale` None: broken rules make nothing stale."""
    return dg.AssetCheckResult(
        check_name=NOTHING_STALE,
        passed=stale is None or not stale.stale,
        severity=dg.AssetCheckSeverity.WARN,
        metadata=stale_metadata(stale),
    )


def stale_metadata(stale: Staleness | None) -> Mapping[str, dg.MetadataValue | str | int]:
    """How many notes, what changed, and what to do about it."""
    changes = () if stale is None else stale.changes
    return {
        "stale_notes": 0 if stale is None else stale.stale,
        "what_changed": table(
            ("notes", "changed", "what", "was", "now"),
            [(c.notes, c.cause, ", ".join(c.what), c.was, c.now) for c in changes],
        ),
        "cure": MetadataValue.text(
            "agentm backfill, or a backfill of reenriched_notes" if changes else "none needed"
        ),
    }


def _staleness(
    connection: duckdb.DuckDBPyConnection,
    rules: LoadedRules,
    workspace: WorkspaceResource,
    models: ModelsResource,
) -> Staleness:
    rows = connection.execute(_NOTES).fetchall()
    return judged_staleness(rows, rules, workspace, models)


def judged_staleness(
    rows: Iterable[tuple[str, str, str | None, str | None]],
    rules: LoadedRules,
    workspace: WorkspaceResource,
    models: ModelsResource,
) -> Staleness:
    """`rows`: path, status, enriched_by and rules_hash of the notes that can be judged."""
    location = workspace.settings().location
    judge = serving(models.open(), open_backend(location), datetime.now(UTC))
    return staleness(
        (Judged(*row) for row in rows),
        rules,
        None if judge is None else judge.stamp,
        location,
        also_current=() if judge is None else judge.also_current,
    )


_NOTES = """
SELECT path, status, enriched_by, rules_hash FROM notes
WHERE memory_class IN ('semantic', 'procedural', 'episodic') AND NOT generated AND kind IS NULL
  AND status IN ('unfiled', 'active')
ORDER BY path
"""
