"""`agentm migrate` over a vault in git: dry run, the run, a second run, the way back."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.cli.app import app

CLI = [sys.executable, "-m", "agentm_assets.cli.entry", "migrate"]
NOTES = {
    "Agent/memory/semantic/2024/03/well.md": b"---\ntype: decision\nstatus: filed\n"
    b"captured: 2024-03-01\nslug: well\n---\nDeep.\n",
    "Agent/memory/procedural/pump.md": b"---\r\nkind: runbook\r\nstatus: active\r\n"
    b"captured: 2024-03-02\r\nslug: pump\r\n---\r\nPrime it.\r\n",
    "Agent/memory/semantic/odd.md": b"---\naliases:\n- @ann\n---\nx\n",
    "Agent/memory/entities/rotor.md": b"---\ntype: decision\n---\nbuilt by a pass\n",
    "personal/diary.md": b"---\ntype: decision\n---\nmine\n",
    "standards/rule.md": b"---\ntype: non-negotiable\n---\nrule\n",
    "blog/post.md": b"---\ntype: research\n---\npost\n",
    "plain.md": b"no properties\n",
}


@pytest.fixture
def notes(put: Callable[[str, bytes], Path]) -> dict[str, bytes]:
    for path, data in NOTES.items():
        put(path, data)
    return NOTES


def held(vault: Path) -> dict[str, bytes]:
    return {
        path.relative_to(vault).as_posix(): path.read_bytes()
        for path in vault.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*CLI, *arguments], capture_output=True, text=True, check=False, encoding="utf-8"
    )


def migrate(*arguments: str) -> dict[str, Any]:
    done = run("--json", *arguments)
    assert done.returncode == 0, done.stderr
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def test_a_vault_is_migrated_once_and_can_be_had_back(
    vault: Path, notes: dict[str, bytes], git: Callable[..., str]
) -> None:
    plan = migrate("--dry-run")
    assert held(vault) == notes
    assert git("rev-list", "--count", "HEAD").strip() == "1"
    changed = {each["path"] for each in plan["changed"]}
    assert changed == {
        "Agent/memory/semantic/2024/03/well.md",
        "Agent/memory/procedural/pump.md",
        "standards/rule.md",
    }

    done = migrate()
    assert {each["path"] for each in done["changed"]} == changed
    assert done["changed"] == plan["changed"]
    assert [each["path"] for each in done["left"]] == ["Agent/memory/semantic/odd.md"]
    assert done["outside"] == ["blog/post.md"]
    after = held(vault)
    machine = {path for path in after if path.startswith("Agent/_")}
    assert set(after) - machine == set(notes), "no path comes or goes"
    assert {path for path in notes if after[path] != notes[path]} == changed
    assert after["Agent/memory/procedural/pump.md"] == notes[
        "Agent/memory/procedural/pump.md"
    ].replace(b"kind: runbook", b"type: workflow")
    record = after["Agent/_meta/migrations.jsonl"].decode().split("\n")[:-1]
    assert {json.loads(line)["path"] for line in record} == changed
    assert {json.loads(line)["run"] for line in record} == {done["run"]}
    assert git("rev-list", "--count", "HEAD").strip() == "2"
    assert git("log", "-1", "--format=%an").strip() == "agentm-migrate"
    assert git("status", "--porcelain") == ""

    again = migrate()
    assert (again["changed"], again["run"]) == ([], None)
    assert held(vault) == after
    assert git("rev-list", "--count", "HEAD").strip() == "2"

    back = subprocess.run(
        [*CLI[:-1], "revert", done["run"]], capture_output=True, text=True, check=False
    )
    assert back.returncode == 0, back.stderr
    assert {path: data for path, data in held(vault).items() if path in notes} == notes


def test_a_folder_outside_the_declared_spaces_is_edited_when_it_is_named(
    vault: Path, notes: dict[str, bytes], git: Callable[..., str]
) -> None:
    done = migrate("--folder", "blog/")
    assert "blog/post.md" in {each["path"] for each in done["changed"]}
    assert done["outside"] == []
    assert (vault / "blog/post.md").read_bytes() == b"---\ntype: reference\n---\npost\n"
    assert (vault / "personal/diary.md").read_bytes() == notes["personal/diary.md"]
    named = migrate("--folder", ".", "--folder", "personal")
    assert named["changed"] == [], "personal/ stays the operator's, whatever is named"


def test_without_a_repository_nothing_is_written(vault: Path, notes: dict[str, bytes]) -> None:
    done = run()
    assert done.returncode == 3
    assert "git" in done.stderr
    assert held(vault) == notes
    assert migrate("--dry-run")["changed"], "the plan can be seen all the same"


def test_the_plan_is_readable(notes: dict[str, bytes]) -> None:
    shown = run("--dry-run").stdout
    assert "type: decision  ->  type: convention" in shown
    assert "kind: runbook  ->  type: workflow" in shown
    assert "left  Agent/memory/semantic/odd.md:" in shown
    assert "3 of 4 notes would change, 4 lines; nothing was written (--dry-run)" in shown


@pytest.mark.parametrize(
    "arguments",
    [("--only", "everything"), ("--status", "shelved"), ("--status", "x=gone"),
     ("--status", "active=expired"), ("--status", "=active")],
)  # fmt: skip
def test_words_that_mean_nothing_are_refused(vault: Path, arguments: tuple[str, str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert arguments[1] in done.stderr


def test_the_command_is_registered() -> None:
    assert "migrate" in {command.name for command in app.registered_commands}


@pytest.mark.parametrize("folder", ["../x", "/no/such", "blog/none"])
def test_a_folder_that_is_not_there_changes_nothing(
    vault: Path, notes: dict[str, bytes], git: Callable[..., str], folder: str
) -> None:
    before = held(vault)
    done = run("--folder", folder)
    assert done.returncode == 2
    assert "no such folder" in done.stderr
    assert held(vault) == before
