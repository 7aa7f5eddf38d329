"""Ending the records of runs whose process is gone, for whoever knows that it is.

Dagster counts a run that was killed as running and leaves its pool slot taken: every later run
would wait for it for ever.
"""

import sys
from pathlib import Path

from dagster import DagsterInstance, DagsterRunStatus, RunsFilter
from filelock import FileLock, Timeout

from agentm_assets.index.assets.run import bury_dead_runs, open_instance

_FINISHED = {DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED}


def bury_all_runs(instance: DagsterInstance) -> None:
    """End every unfinished run and free every slot. Only while no run of any kind is alive."""
    unfinished = [status for status in DagsterRunStatus if status not in _FINISHED]
    for run in instance.get_runs(RunsFilter(statuses=unfinished)):
        instance.report_run_failed(run, "the process was ended before the run was")
    bury_dead_runs(instance)


def bury(home: Path, *, everything: bool) -> None:
    """Bury the runs of the command line, or all. Does nothing while one of the former is alive."""
    lock = FileLock(home / "agentm-index.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return
    try:
        with open_instance(home) as instance:
            if everything:
                bury_all_runs(instance)
            else:
                bury_dead_runs(instance)
    finally:
        lock.release()


if __name__ == "__main__":
    # The launcher of the servers calls this as a process of its own: Dagster once imported would
    # take 150 MB there for as long as they run.
    bury(Path(sys.argv[1]), everything=sys.argv[2:] == ["--all"])
