"""The servers' watch for runs of the command line that were killed."""

from pathlib import Path

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus

from agentm_assets.cli.servers import _CommandLineRuns
from agentm_assets.config.dagster_home import RUN_BEGAN_FILE, ensure_dagster_home
from agentm_assets.index.assets.run import CLI_TAGS


def killed_run(home: Path) -> str:
    """What a run leaves that began and was killed before anybody looked."""
    run = DagsterRun(job_name="index_changes", status=DagsterRunStatus.STARTED, tags=CLI_TAGS)
    with DagsterInstance.from_config(str(home)) as instance:
        instance.add_run(run)
    (home / RUN_BEGAN_FILE).touch()
    return run.run_id


def status(home: Path, run_id: str) -> DagsterRunStatus:
    with DagsterInstance.from_config(str(home)) as instance:
        run = instance.get_run_by_id(run_id)
        assert run is not None
        return run.status


def test_a_run_that_began_and_died_between_two_looks_is_buried(tmp_path: Path) -> None:
    ensure_dagster_home(tmp_path)
    runs = _CommandLineRuns(tmp_path)
    first = killed_run(tmp_path)
    runs.look()
    assert status(tmp_path, first) == DagsterRunStatus.FAILURE
    second = killed_run(tmp_path)
    runs.look()
    assert status(tmp_path, second) == DagsterRunStatus.FAILURE
