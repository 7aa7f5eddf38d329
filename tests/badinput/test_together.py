"""Several commands at once, and commands that are killed in the middle."""

import json
import os
import signal
import subprocess
import time
from typing import Any

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, RunsFilter

from agentm_assets.index.assets.run import CLI_TAGS

FINISHED = {DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED}
PATIENCE = 60.0
"""Seconds that a test waits at most for a state that another process brings about."""


def payload(process: "subprocess.Popen[str]") -> Any:
    out, err = process.communicate(timeout=PATIENCE * 3)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    return json.loads(out)


def test_two_at_once_both_end_well_and_the_work_is_done_once(machine: Any) -> None:
    processes = [machine.start("index", "--no-embeddings", "--json") for _ in range(2)]
    done = [payload(process) for process in processes]
    assert [each["notes"] for each in done] == [60, 60]
    assert sorted(each["changed"] for each in done) == [0, 60]
    assert machine.recall("zyxkept7")[:1] == ["n7.md"]


def test_recall_never_fails_nor_misses_a_known_note_while_all_is_indexed_anew(
    indexed: Any,
) -> None:
    for number in range(800):
        (indexed.vault / f"m{number}.md").write_text(f"# M {number}\n\n{'filler ' * 40}\n")
    indexing = indexed.start("index", "--full", "--no-embeddings", "--json")
    asked = 0
    while indexing.poll() is None:
        done = indexed.run("recall", "zyxkept7", "--json")
        assert done.returncode == 0, done.stderr
        assert [hit["path"] for hit in json.loads(done.stdout)["hits"]][:1] == ["n7.md"]
        asked += 1
    assert payload(indexing)["changed"] == 860
    assert asked >= 3


def extracting(machine: Any, indexing: "subprocess.Popen[str]") -> bool:
    """Wait until the pass has committed a batch; False when it ended before that was seen."""
    deadline = time.monotonic() + PATIENCE
    folder = machine.state / "index"

    def size() -> int:
        return sum(file.stat().st_size for file in folder.glob("index.duckdb*"))

    before = size()
    while indexing.poll() is None:
        if size() > before:
            return True
        assert time.monotonic() < deadline, "the pass never got to its first batch"
    return False


def unfinished(machine: Any, tags: dict[str, str] | None = None) -> int:
    """How many runs count as under way in Dagster's records."""
    statuses = [status for status in DagsterRunStatus if status not in FINISHED]
    with DagsterInstance.from_config(str(machine.state / "dagster")) as instance:
        return instance.get_runs_count(RunsFilter(tags=tags, statuses=statuses))


def held_slots(machine: Any) -> set[str]:
    with DagsterInstance.from_config(str(machine.state / "dagster")) as instance:
        return set(instance.event_log_storage.get_concurrency_run_ids())


def test_a_killed_index_is_completed_by_the_next(indexed: Any) -> None:
    for number in range(1000):
        (indexed.vault / f"m{number}.md").write_text(f"# M {number}\n\nzyxmore{number}\n" * 20)
    killed = indexed.start("index", "--no-embeddings", "--json")
    assert extracting(indexed, killed)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=PATIENCE)
    assert killed.returncode == -signal.SIGKILL
    assert indexed.recall("zyxkept7")[:1] == ["n7.md"]
    completed = indexed.index()
    assert (completed["notes"], completed["findings"]) == (1060, [])
    assert completed["changed"] <= 1000
    assert indexed.recall("zyxmore999")[:1] == ["m999.md"]
    assert unfinished(indexed) == 0
    assert held_slots(indexed) == set()


def test_what_killed_servers_left_running_is_buried_before_the_next_index(indexed: Any) -> None:
    home = indexed.state / "dagster"
    lock = home / "agentm-up.lock"
    run = DagsterRun(job_name="index_changes", status=DagsterRunStatus.STARTED)
    with DagsterInstance.from_config(str(home)) as instance:
        instance.add_run(run)
        storage = instance.event_log_storage
        assert storage.claim_concurrency_slot("index", run.run_id, "index_tables").is_claimed
    lock.write_text("4194303 4194304")  # as servers leave it that did not end in order
    assert indexed.index()["notes"] == 60
    assert unfinished(indexed) == 0
    assert held_slots(indexed) == set()
    assert lock.read_text() == ""


def test_servers_bury_a_killed_index_and_keep_others_out_when_they_outlive_their_launcher(
    indexed: Any,
) -> None:
    launcher = indexed.start("up", "--port", "0")
    assert launcher.stdout is not None
    ready = launcher.stdout.readline()
    lock = indexed.state / "dagster" / "agentm-up.lock"
    servers = [int(number) for number in lock.read_text().split()]
    try:
        assert ready.startswith("agentm is up: http://127.0.0.1:")
        assert servers[0] == launcher.pid and len(servers) == 3

        killed = indexed.start("index", "--full", "--no-embeddings", "--json")
        deadline = time.monotonic() + PATIENCE
        while not unfinished(indexed, CLI_TAGS):
            assert time.monotonic() < deadline and killed.poll() is None
        killed.send_signal(signal.SIGKILL)
        killed.communicate(timeout=PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while unfinished(indexed, CLI_TAGS):
            assert time.monotonic() < deadline, "nobody buries the killed run"

        launcher.send_signal(signal.SIGKILL)
        launcher.communicate(timeout=PATIENCE)
        second = indexed.run("up", "--port", "0")
        assert second.returncode == 3
        assert "is running" in second.stderr
        assert f"{servers[1]} {servers[2]}" in second.stderr
    finally:
        for server in servers[1:]:
            os.killpg(server, signal.SIGKILL)
