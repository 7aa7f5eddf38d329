"""When recall is measured without being asked."""

import dagster as dg

from agentm_assets.evaluation.assets.jobs import measure_recall

daily_recall_scores = dg.ScheduleDefinition(
    name="daily_recall_scores",
    job=measure_recall,
    cron_schedule="11 5 * * *",
    tags={"agentm/trigger": "daily_recall_scores"},
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Once a day, after the index was checked, recall is asked what it must know.",
)
