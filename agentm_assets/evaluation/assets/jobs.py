"""The job of the evaluation group."""

import dagster as dg

measure_recall = dg.define_asset_job(
    "measure_recall",
    selection=dg.AssetSelection.assets("recall_scores"),
    # In the lane of the nightly check: it waits for that, instead of competing for two cores.
    tags={"agentm/lane": "verify"},
    description="Asks the vault's question sets and holds the answers against the accepted ones.",
)

JOBS = [measure_recall]
