"""When notes are judged without an event that sets it off."""

import dagster as dg

from agentm_assets.enrichment.assets.jobs import enrich_all, enrich_waiting

hourly_enrichment = dg.ScheduleDefinition(
    name="hourly_enrichment",
    job=enrich_waiting,
    cron_schedule="37 * * * *",
    tags={"agentm/trigger": "hourly_enrichment"},
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Once an hour what the runs after captures left is judged.",
)

nightly_enrichment = dg.ScheduleDefinition(
    name="nightly_enrichment",
    job=enrich_all,
    cron_schedule="7 2 * * *",
    tags={"agentm/trigger": "nightly_enrichment"},
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Once a night all that waits is judged, stale judgments included.",
)
