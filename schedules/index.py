"""When the index is checked against the vault without being asked."""

import dagster as dg

from agentm_assets.index.assets.jobs import reconcile_vault, verify_index

hourly_reconcile = dg.ScheduleDefinition(
    name="hourly_reconcile",
    job=reconcile_vault,
    cron_schedule="17 * * * *",
    tags={"agentm/trigger": "hourly_reconcile"},
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Events get lost: once an hour every file is compared by content hash.",
)

nightly_verify = dg.ScheduleDefinition(
    name="nightly_verify",
    job=verify_index,
    cron_schedule="41 4 * * *",
    tags={"agentm/trigger": "nightly_verify"},
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Once a night the tables are built from nothing and compared row by row.",
)
