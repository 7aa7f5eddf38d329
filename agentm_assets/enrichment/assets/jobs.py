"""Jobs over the enrichment group. The eager one, which it is part of, is `index_changes`."""

import dagster as dg

from agentm_assets.enrichment.assets.notes import CAPTURE_MONTH

_WAITING = dg.AssetSelection.assets("enriched_notes", "review_queue", "coverage")

enrich_waiting = dg.define_asset_job(
    "enrich_waiting",
    selection=_WAITING,
    config={"ops": {"enriched_notes": {"config": {"pace": "hourly"}}}},
    # It takes turns with the eager runs, which go first: two never judge the same note.
    tags={"agentm/lane": "eager", "dagster/priority": "0"},
    description="Judges what the runs after captures left, and takes up what batches answered.",
)

enrich_all = dg.define_asset_job(
    "enrich_all",
    selection=_WAITING,
    config={"ops": {"enriched_notes": {"config": {"pace": "batch", "scope": "all"}}}},
    tags={"agentm/lane": "dream"},
    description="Judges all that waits, stale judgments included, the oldest first.",
)

reenrich = dg.define_asset_job(
    "reenrich",
    selection=dg.AssetSelection.assets("reenriched_notes"),
    partitions_def=CAPTURE_MONTH,
    tags={"agentm/lane": "backfill"},
    description="Judges the stale notes of one month of capture again: agentm backfill.",
)

JOBS = [enrich_waiting, enrich_all, reenrich]
