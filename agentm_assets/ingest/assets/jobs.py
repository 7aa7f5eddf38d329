"""The job over the ingest group."""

import dagster as dg

from agentm_assets.ingest.assets.sources import GROUP

ingest_sources = dg.define_asset_job(
    "ingest_sources",
    selection=dg.AssetSelection.groups(GROUP),
    tags={"agentm/lane": "ingest"},
    description="Reads what is new in the configured folders: agentm ingest.",
)

JOBS = [ingest_sources]
