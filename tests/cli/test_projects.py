"""The commands of the projects room as an operator or an agent runs them."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets import __version__

Run = Callable[..., subprocess.CompletedProcess[str]]


def spoken(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def files(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def piped(env: dict[str, str], cwd: Path, data: bytes, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "agentm_assets.cli.entry", *arguments],
        env=env,
        cwd=cwd,
        input=data,
        capture_output=True,
        check=False,
    )
    return f"{done.returncode} {done.stdout.decode()}{done.stderr.decode()}"


def test_a_project_from_declaration_to_door(agentm: Run, vault: Path) -> None:
    assert spoken(agentm("door", "projects/lid/docs/x.md", "--json"))["verdict"] == "outside"
    made = spoken(agentm("project", "new", "lid", "--title", "The lid", "--json"))
    assert made["slug"] == "lid" and "projects/lid/project.yaml" in json.dumps(made["written"])
    assert made["history"] is not None and "no-repository" in json.dumps(made["history"])
    assert spoken(agentm("door", "projects/lid/docs/x.md", "--json"))["verdict"] == "standing"
    assert agentm("project", "list").stdout == "lid\n"
    before = files(vault)
    again = agentm("project", "new", "lid")
    assert again.returncode == 2 and "there already" in again.stderr and files(vault) == before


def test_without_a_repository_the_operator_hears_of_it(agentm: Run) -> None:
    done = agentm("task", "new", "Measure it")
    assert done.returncode == 0 and "no git repository" in done.stderr


def test_a_task_from_start_to_end(agentm: Run, vault: Path) -> None:
    assert spoken(agentm("task", "new", "Measure it", "--json"))["slug"] == "measure-it"
    listed = json.loads(agentm("task", "list", "--json").stdout)
    assert [task["slug"] for task in listed] == ["measure-it"]
    assert agentm("task", "done", "measure-it").returncode == 0
    assert json.loads(agentm("task", "list", "--json").stdout) == []
    assert "[done]" in agentm("task", "list", "--all").stdout
    assert agentm("task", "done", "nope").returncode == 2


def test_an_idea_of_the_agents_is_announced(agentm: Run, vault: Path) -> None:
    (vault / "ideas.md").write_bytes(b"- one\r\n- two")
    added = spoken(agentm("idea", "--agent", "three", "--json"))
    assert "I added an idea" in str(added["announcement"]) and added["line"] == 3
    assert (vault / "ideas.md").read_bytes().startswith(b"- one\r\n- two\r\n- three (added by")
    assert agentm("idea", " ").returncode == 2


def test_forgetting(agentm: Run, vault: Path) -> None:
    note = vault / "Agent/memory/semantic/x.md"
    note.parent.mkdir(parents=True)
    note.write_bytes(b"---\nstatus: active\n---\nx\n")
    path = "Agent/memory/semantic/x.md"
    dry = spoken(agentm("forget", path, "--reason", "wrong", "--dry-run", "--json"))
    assert dry["status"] == "expired" and dry["dry_run"] is True
    assert note.read_bytes() == b"---\nstatus: active\n---\nx\n"
    assert spoken(agentm("forget", path, "--reason", "wrong", "--json"))["already"] is False
    assert note.read_bytes() == b"---\nstatus: expired\nstatus_reason: wrong\n---\nx\n"
    assert spoken(agentm("forget", path, "--reason", "x", "--json"))["already"] is True
    for bad in ("personal/x.md", "../x.md", "nope.md"):
        done = agentm("forget", bad, "--reason", "x")
        assert done.returncode == 2 and done.stderr.startswith("agentm: ")


def test_a_trace_from_standard_input(env: dict[str, str], tmp_path: Path, vault: Path) -> None:
    told = {"session_id": "a", "title": "Lid", "started": "2026-08-14T09:00:00Z", "summary": "é"}
    said = piped(env, tmp_path, json.dumps(told).encode(), "trace")
    assert said.startswith("0 created: calendar/2026/2026-08-14_lid-")
    assert piped(env, tmp_path, json.dumps(told).encode(), "trace").startswith("0 unchanged")
    assert piped(env, tmp_path, b"{", "trace").startswith("2 ")
    assert len(files(vault / "calendar")) == 1


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "lid"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    return folder


def test_state_goes_where_the_project_is(
    agentm: Run, env: dict[str, str], vault: Path, checkout: Path
) -> None:
    agentm("project", "new", "lid")
    said = piped(env, checkout / "src", b"plan\r\n", "state", "write", "PLAN.md")
    assert said.startswith("0 ")
    assert (vault / "projects/lid/_harness/PLAN.md").read_bytes() == b"plan\r\n"
    digest = hashlib.sha256(b"plan\r\n").hexdigest()
    stale = piped(env, checkout, b"x", "state", "write", "PLAN.md", "--expect", "0" * 64)
    assert stale.startswith("2 ") and "changed" in stale
    assert piped(env, checkout, b"two", "state", "write", "PLAN.md", "--expect", digest)[0] == "0"
    assert agentm("state", "read", "PLAN.md", "--root", str(checkout)).stdout == "two"
    where = spoken(agentm("state", "dir", "--root", str(checkout), "--json"))
    assert where["in_store"] is True and where["locator"] == "projects/lid/_harness"
    (checkout / ".harness").mkdir()
    (checkout / ".harness/.project-mode").write_text("local\n")
    assert agentm("state", "dir", "--root", str(checkout)).stdout == f"{checkout}/.harness\n"
    assert agentm("state", "read", "PLAN.md", "--root", str(checkout)).returncode == 3
    escape = piped(env, checkout, b"x", "state", "write", "../PLAN.md")
    assert escape.startswith("2 ") and not (checkout / "PLAN.md").exists()


def test_a_vault_that_is_gone_is_no_reason_to_write_here(
    env: dict[str, str], tmp_path: Path, checkout: Path
) -> None:
    gone = {**env, "AGENTM_VAULT": str(tmp_path / "gone")}
    assert piped(gone, checkout, b"x", "state", "write", "PLAN.md").startswith("2 ")
    assert not (checkout / ".harness").exists()


def test_nothing_configured_keeps_the_state_in_the_checkout(
    env: dict[str, str], checkout: Path
) -> None:
    bare = {name: value for name, value in env.items() if name != "AGENTM_VAULT"}
    assert piped(bare, checkout, b"x", "state", "write", "PLAN.md").startswith("0 ")
    assert (checkout / ".harness/PLAN.md").read_bytes() == b"x"


def test_outside_of_any_checkout_no_state_is_written(
    agentm: Run, env: dict[str, str], vault: Path, tmp_path: Path
) -> None:
    (vault / "a.md").write_bytes(b"a note\n")
    folder = tmp_path / "nowhere"
    folder.mkdir()
    said = piped(env, folder, b"x", "state", "write", "PLAN.md")
    assert said.startswith("2 ") and "--root" in said
    assert list(folder.iterdir()) == []
    # The operator may mean it; and a folder that has the name of a project belongs to that.
    assert piped(env, folder, b"x", "state", "write", "A.md", "--root", str(folder))[0] == "0"
    assert (folder / ".harness/A.md").read_bytes() == b"x"
    (folder / ".harness/A.md").unlink()
    (folder / ".harness").rmdir()
    agentm("project", "new", "nowhere")
    assert piped(env, folder, b"x", "state", "write", "PLAN.md")[0] == "0"
    assert list(folder.iterdir()) == []


def test_a_title_has_a_limit(agentm: Run, vault: Path) -> None:
    done = agentm("task", "new", "kettle " * 44)
    assert done.returncode == 2 and "300 characters" in done.stderr
    assert not (vault / "Agent").exists()


def test_the_version_is_told(agentm: Run) -> None:
    done = agentm("--version")
    assert (done.returncode, done.stdout) == (0, f"agentm {__version__}\n")


def test_checkouts_are_registered(agentm: Run, vault: Path, checkout: Path) -> None:
    agentm("project", "new", "kettle")
    assert agentm("repos", "add", "kettle", str(checkout)).returncode == 0
    assert json.loads(agentm("repos", "--json").stdout) == [
        {"slug": "kettle", "root_path": str(checkout)}
    ]
    where = agentm("state", "dir", "--root", str(checkout)).stdout
    assert where == f"{vault}/projects/kettle/_harness\n"
    assert spoken(agentm("repos", "remove", str(checkout), "--json"))["removed"] is True
    assert agentm("repos", "list").stdout == ""
    assert agentm("repos", "add", "Bad Slug", str(checkout)).returncode == 2
