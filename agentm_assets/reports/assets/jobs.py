"""The jobs of the reports, and of the daily probe that they tell of."""

import dagster as dg

write_reports = dg.define_asset_job(
    "write_reports",
    selection=dg.AssetSelection.groups("reports"),
    # In the lane of the night: behind its last stage, never beside it.
    tags={"agentm/lane": "dream"},
    description="Draws the memory graph and writes the day's scorecard and morning note.",
)

probe_round_trip = dg.define_asset_job(
    "probe_round_trip",
    selection=dg.AssetSelection.assets("round_trip"),
    tags={"agentm/lane": "verify"},
    description="Saves a synthetic fact and asks for it from a fresh process: agentm probe.",
)

JOBS = [write_reports, probe_round_trip]
