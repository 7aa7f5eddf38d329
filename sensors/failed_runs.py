"""The failure sensor: one line in this machine's log for each failed run; reports read it."""

import json
from datetime import UTC, datetime

import dagster as dg

from resources.workspace import WorkspaceResource


@dg.run_failure_sensor(
    name="failed_runs",
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Appends each failed run to log/failed-runs.jsonl, where the reports find it.",
)
def failed_runs(context: dg.RunFailureSensorContext, workspace: WorkspaceResource) -> None:
    run = context.dagster_run
    line = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "run": run.run_id,
        "job": run.job_name,
        "error": context.failure_event.message,
    }
    folder = workspace.settings().location.log_dir
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "failed-runs.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(line, ensure_ascii=False) + "\n")
