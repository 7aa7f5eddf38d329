"""A vault that is nowhere, no folder, shut, or gone for a while: one sentence, no traceback."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COMMANDS = (
    ("index", "--no-embeddings", "--json"),
    ("recall", "zyxkept7", "--json"),
    ("status", "--json"),
)


def refused(done: Any, code: int, *said: str) -> None:
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("agentm: ")
    assert done.stderr.count("\n") == 1
    for words in said:
        assert words in done.stderr


def nowhere(machine: Any) -> None:
    shutil.rmtree(machine.vault)


def a_file(machine: Any) -> None:
    nowhere(machine)
    machine.vault.write_text("no folder")


def an_empty_path(machine: Any) -> None:
    machine.more["AGENTM_VAULT"] = ""


def state_inside(machine: Any) -> None:
    machine.more["XDG_STATE_HOME"] = str(machine.vault / ".state")


@pytest.mark.parametrize(
    ("happened", "said"),
    [
        (nowhere, "does not exist"),
        (a_file, "is not a directory"),
        (an_empty_path, "is empty"),
        (state_inside, "lies inside the vault"),
    ],
)
def test_an_unusable_vault_is_refused_by_every_command_before_anything_is_made(
    machine: Any, happened: Callable[[Any], None], said: str
) -> None:
    happened(machine)
    for command in COMMANDS:
        refused(machine.run(*command), 2, said)
    doctor = machine.run("doctor", "--json")
    assert doctor.returncode == 3
    (check,) = json.loads(doctor.stdout)["checks"]
    assert (check["name"], check["outcome"]) == ("config", "fail")
    assert said in check["message"]
    assert not (machine.folder / "state").exists()
    if machine.vault.is_dir():
        assert {f.suffix for f in machine.vault.rglob("*") if f.is_file()} == {".md"}


def test_a_vault_that_vanishes_and_comes_back_loses_nothing_of_its_index(indexed: Any) -> None:
    away = indexed.folder / "away"
    indexed.vault.rename(away)
    for command in COMMANDS:
        refused(indexed.run(*command), 2, str(indexed.vault), "mount it")
    away.rename(indexed.vault)
    again = indexed.index()
    assert (again["changed"], again["deleted"], again["notes"]) == (0, 0, 60)
    assert indexed.recall("zyxkept7")[:1] == ["n7.md"]


def test_a_vault_that_is_emptied_all_at_once_is_kept_for_a_second_look(indexed: Any) -> None:
    for file in indexed.vault.rglob("*.md"):
        file.unlink()
    done = indexed.run("index", "--no-embeddings")
    assert done.returncode == 0
    assert "60 notes seem gone" in done.stderr
    assert "--accept-deletions" in done.stderr
    assert indexed.json("status")["notes"] == 60
    assert indexed.run("recall", "zyxkept7").returncode == 0


@pytest.mark.parametrize("command", [COMMANDS[0], COMMANDS[2]], ids=["index", "status"])
def test_a_vault_that_may_not_be_listed_is_a_red_state(
    indexed: Any, command: tuple[str, ...]
) -> None:
    indexed.vault.chmod(0)
    try:
        done = indexed.run(*command, unprivileged=True)
    finally:
        indexed.vault.chmod(0o755)
    refused(done, 3, "can't be listed (Permission denied)")


def test_a_read_only_vault_is_adopted_indexed_and_recalled(
    machine: Any, snapshot: Callable[[Path], Any]
) -> None:
    folders = [machine.vault, *(f for f in machine.vault.rglob("*") if f.is_dir())]
    for file in machine.vault.rglob("*.md"):
        file.chmod(0o444)
    for folder in folders:
        folder.chmod(0o555)
    before = snapshot(machine.vault)
    assert machine.json("init", str(machine.vault), unprivileged=True)["adopted"] is True
    assert machine.index(unprivileged=True)["notes"] == 60
    assert machine.recall("zyxkept7")[:1] == ["n7.md"]
    assert snapshot(machine.vault) == before
    for folder in folders:
        folder.chmod(0o755)
