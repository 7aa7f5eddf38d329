"""A failed run leaves one line where the reports look for it."""

import json
from pathlib import Path

import dagster as dg
from dagster import DagsterInstance

from resources.workspace import WorkspaceResource
from sensors.failed_runs import failed_runs


@dg.op
def breaks() -> None:
    raise ValueError("the disk is on fire")


@dg.job
def doomed() -> None:
    breaks()


def test_a_failed_run_is_one_line_in_the_log(vault: Path, workspace: WorkspaceResource) -> None:
    with DagsterInstance.ephemeral() as instance:
        result = doomed.execute_in_process(instance=instance, raise_on_error=False)
        context = dg.build_run_status_sensor_context(
            sensor_name="failed_runs",
            dagster_instance=instance,
            dagster_run=result.dagster_run,
            dagster_event=result.get_run_failure_event(),
            resources={"workspace": workspace},
        ).for_run_failure()
        failed_runs(context)
    (line,) = (workspace.settings().location.log_dir / "failed-runs.jsonl").read_text().splitlines()
    entry = json.loads(line)
    assert (entry["job"], entry["run"]) == ("doomed", result.run_id)
    assert entry["error"]
