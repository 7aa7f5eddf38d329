"""`agentm dream`, `ledger`, `queue` and `slop` as processes."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

NOTE = (
    "---\ntype: reference\nstatus: active\nslug: {0}\ntitle: {0}\ntags: [kettle]\n---\n{0} [[a]]\n"
)


@pytest.fixture
def kept(agentm: Run, vault: Path) -> Path:
    assert agentm("init", str(vault)).returncode == 0
    for name in ("a", "b", "c"):
        file = vault / f"Agent/memory/semantic/2026/06/{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(NOTE.format(name))
    return vault


def test_a_stage_is_planned_run_and_quiet_the_second_time(agentm: Run, kept: Path) -> None:
    first = json.loads(agentm("dream", "--stage", "mocs", "--json").stdout)
    (stage,) = first["stages"]
    assert (stage["stage"], stage["applied"], stage["error"]) == ("mocs", 2, "")
    page = kept / "Agent/memory/mocs/topic-kettle.md"
    assert "2026/06/a|a]]" in page.read_text()
    page.unlink()
    planned = json.loads(agentm("dream", "--stage", "mocs", "--dry-run", "--json").stdout)
    assert [report["paths"] for report in planned] == [["Agent/memory/mocs/topic-kettle.md"]]
    assert not page.exists()
    shown = agentm("dream", "--stage", "mocs")
    assert shown.returncode == 0
    assert shown.stdout.startswith("mocs                 1 written, topics 1")
    again = json.loads(agentm("dream", "--stage", "mocs", "--json").stdout)
    assert again["stages"][0]["planned"] == 0
    ledger = json.loads(agentm("ledger", "--json").stdout)
    assert {"embedding", "enrichment"} <= {each["stage"] for each in ledger}
    rebuilt = json.loads(agentm("ledger", "rebuild", "--yes", "--json").stdout)
    assert rebuilt["before"].get("enrichment") == rebuilt["after"].get("enrichment")


def test_stages_are_named_and_unknown_ones_refused(agentm: Run, kept: Path) -> None:
    stages = json.loads(agentm("dream", "--list", "--json").stdout)
    assert {"mocs", "stubs", "topology-page"} <= {stage["name"] for stage in stages}
    done = agentm("dream", "--stage", "moks")
    assert (done.returncode, done.stdout) == (2, "")
    assert "agentm dream --list" in done.stderr
    assert agentm("dream", "--accept").returncode == 2


def test_a_dead_letter_is_listed_and_revived(agentm: Run, kept: Path) -> None:
    from datetime import UTC, datetime

    from agentm_assets.index.store import IndexStore
    from agentm_assets.ledger import queue

    assert agentm("index").returncode == 0
    state = json.loads(agentm("config", "show", "--json").stdout)["state_dir"]
    now = datetime(2026, 8, 1, tzinfo=UTC)
    with IndexStore(Path(state) / "index" / "index.duckdb").transaction() as connection:
        queue.enqueue(connection, "rollups", [("person:jan", "new")], now)
        for _ in range(3):
            (item,) = queue.drain(connection, "rollups", 1, now)
            queue.failed(connection, item, "schema")
    assert "rollups                0 waiting, 1 parked" in agentm("queue").stdout
    listed = json.loads(agentm("queue", "list", "--dead", "--json").stdout)
    assert [item["target"] for item in listed["items"]] == ["person:jan"]
    assert agentm("queue", "revive", "rollups", "person:eva").returncode == 2
    assert agentm("queue", "revive", "rollups", "person:jan").returncode == 0
    depths = json.loads(agentm("queue", "--json").stdout)
    assert [(each["pending"], each["dead"]) for each in depths] == [(1, 0)]
    log = subprocess.run(
        ["git", "-C", str(kept), "log", "-1", "--format=%an %s"], capture_output=True, text=True
    )
    assert log.stdout.strip() == "agentm-queue Revive a dead letter"


def test_options_before_a_subcommand_are_refused(agentm: Run, kept: Path) -> None:
    for name, sub in (("queue", "list"), ("ledger", "rebuild")):
        assert agentm(name, "--json", sub).returncode == 2


def test_the_operators_word_on_slop_is_on_record(agentm: Run, kept: Path, vault: Path) -> None:
    assert agentm("index").returncode == 0
    assert json.loads(agentm("slop", "list", "--json").stdout)["confirmed"] is False
    assert agentm("slop", "confirm").returncode == 0
    assert agentm("slop", "keep", "Agent/memory/semantic/2026/06/a.md").returncode == 0
    assert agentm("slop", "keep", "Agent/nothing.md").returncode == 2
    (vault / "personal").mkdir(exist_ok=True)
    (vault / "personal/own.md").write_text("Mine.\n")
    assert agentm("slop", "keep", "personal/own.md").returncode == 2
    assert json.loads(agentm("slop", "list", "--json").stdout)["confirmed"] is True
    said = (kept / "Agent/_meta/slop.jsonl").read_text()
    assert [json.loads(line)["said"] for line in said.split("\n")[:-1]] == ["confirm", "keep"]
