"""When the night's work over the whole vault is done."""

import dagster as dg

from agentm_assets.dreaming.assets.jobs import dream

nightly_dream = dg.ScheduleDefinition(
    name="nightly_dream",
    job=dream,
    cron_schedule="7 3 * * *",
    tags={"agentm/trigger": "nightly_dream"},
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Once a night, after the judging: pages, links, meters, lessons, stage by stage.",
)
