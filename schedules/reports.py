"""When the round trip is tried and the reports are written: at the end of the night."""

import dagster as dg

from agentm_assets.reports.assets.jobs import probe_round_trip, write_reports

daily_probe = dg.ScheduleDefinition(
    name="daily_probe",
    job=probe_round_trip,
    cron_schedule="31 5 * * *",
    tags={"agentm/trigger": "daily_probe"},
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Once a day a fact is saved, asked for and found, before the reports tell of it.",
)

nightly_reports = dg.ScheduleDefinition(
    name="nightly_reports",
    job=write_reports,
    cron_schedule="43 5 * * *",
    tags={"agentm/trigger": "nightly_reports"},
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Last of the night: graph, scorecard and morning note, whatever ran before.",
)
