"""Jobs over the index group. All run in one process: a second one costs two seconds a step.

The eager one judges what it has indexed in the same run: one capture, one run.
"""

import dagster as dg

INDEX = dg.AssetSelection.assets(
    "notes",
    "chunks",
    "backlinks",
    "entities",
    "aliases",
    "embeddings",
    "lexical_index",
    "vector_index",
    "coverage",
)
ENRICHMENT = dg.AssetSelection.assets("enriched_notes", "review_queue")
_REBUILD = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("notes"), "rebuild_identity"))
_IN_LINE = dg.AssetSelection.checks(
    dg.AssetCheckKey(dg.AssetKey("lexical_index"), "serving_in_line")
)
_RULES = dg.AssetSelection.checks(
    dg.AssetCheckKey(dg.AssetKey("storage_rules_judgment"), "rules_parse")
)

index_changes = dg.define_asset_job(
    "index_changes",
    selection=(INDEX - _REBUILD - _IN_LINE) | ENRICHMENT,
    tags={"agentm/lane": "eager", "dagster/priority": "10"},
    description="From changed files to judged notes and published serving files, in one run.",
)

reconcile_vault = dg.define_asset_job(
    "reconcile_vault",
    selection=(INDEX - _REBUILD) | _IN_LINE | _RULES,
    config={"ops": {"index_tables": {"config": {"hash_all": True}}}},
    tags={"agentm/lane": "reconcile"},
    description="Compares every file by content hash, for what no event told; does the rest too.",
)

verify_index = dg.define_asset_job(
    "verify_index",
    selection=_REBUILD | _IN_LINE | _RULES,
    tags={"agentm/lane": "verify"},
    description="Builds the tables from nothing beside the real ones and compares every row.",
)

JOBS = [index_changes, reconcile_vault, verify_index]
