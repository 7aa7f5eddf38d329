"""When sources are read without being asked."""

import dagster as dg

from agentm_assets.ingest.assets.jobs import ingest_sources
from resources.workspace import WorkspaceResource


@dg.schedule(
    name="hourly_ingest",
    job=ingest_sources,
    cron_schedule="27 * * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Once an hour the tails of session logs and new mails are read, where folders are "
    "configured.",
)
def hourly_ingest(workspace: WorkspaceResource) -> dg.RunRequest | dg.SkipReason:
    if not workspace.settings().ingest.folders:
        return dg.SkipReason("No folders are configured: [profiles.NAME.ingest] folders = […].")
    return dg.RunRequest(tags={"agentm/trigger": "hourly_ingest"})
