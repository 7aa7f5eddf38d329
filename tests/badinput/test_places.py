"""A vault that is nowhere, no folder, shut, or gone for a while: one sentence, no traceback."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COMMANDS = (
    ("index", "--no-embeddings", "--json"),
    ("recall", "zyxone", "--json"),
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
    (machine.vault / "one.md").unlink()
    (machine.vault / "two.md").unlink()
    (machine.vault / "three.md").unlink()
    machine.vault.rmdir()


def a_file(machine: Any) -> None:
    nowhere(machine)
    machine.vault.write_text("no folder")


def a_broken_link(machine: Any) -> None:
    nowhere(machine)
    machine.vault.symlink_to(machine.folder / "gone")


def an_empty_path(machine: Any) -> None:
    machine.more["AGENTM_VAULT"] = ""


def state_inside(machine: Any) -> None:
    machine.more["XDG_STATE_HOME"] = str(machine.vault / ".state")


@pytest.mark.parametrize(
    ("happened", "said"),
    [
        (nowhere, "does not exist"),
        (a_file, "is not a directory"),
        (a_broken_link, "does not exist"),
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
        assert {file.name for file in machine.vault.iterdir()} == {"one.md", "two.md", "three.md"}


def test_a_vault_that_vanishes_and_comes_back_loses_nothing_of_its_index(machine: Any) -> None:
    machine.index()
    away = machine.folder / "away"
    machine.vault.rename(away)
    for command in COMMANDS:
        refused(machine.run(*command), 2, str(machine.vault), "mount it")
    away.rename(machine.vault)
    again = machine.index()
    assert (again["changed"], again["deleted"], again["notes"]) == (0, 0, 3)
    assert machine.recall("zyxtwo")[0] == "two.md"


def test_a_vault_that_is_emptied_all_at_once_is_kept_for_a_second_look(
    machine: Any, new_machine: Callable[..., Any]
) -> None:
    for number in range(60):
        (machine.vault / f"n{number}.md").write_text(f"# N {number}\n\nzyxmany{number}\n")
    machine.index()
    for file in machine.vault.iterdir():
        file.unlink()
    done = machine.run("index", "--no-embeddings")
    assert done.returncode == 0
    assert "63 notes seem gone" in done.stderr
    assert "--accept-deletions" in done.stderr
    assert machine.json("status")["notes"] == 63
    accepted = machine.index("--accept-deletions")
    assert (accepted["notes"], accepted["deleted"]) == (0, 63)


@pytest.mark.parametrize("command", COMMANDS[:1] + COMMANDS[2:])
def test_a_vault_that_may_not_be_listed_is_a_red_state(
    machine: Any, command: tuple[str, ...]
) -> None:
    if command[0] == "status":
        machine.index()
    machine.vault.chmod(0)
    try:
        done = machine.run(*command, unprivileged=True)
    finally:
        machine.vault.chmod(0o755)
    refused(done, 3, "can't be listed (Permission denied)")


def test_a_read_only_vault_is_indexed_and_recalled(
    machine: Any, snapshot: Callable[[Path], Any]
) -> None:
    for file in machine.vault.iterdir():
        file.chmod(0o444)
    machine.vault.chmod(0o555)
    before = snapshot(machine.vault)
    adopted = machine.json("init", str(machine.vault), unprivileged=True)
    assert adopted["adopted"] is True
    assert machine.index(unprivileged=True)["notes"] == 3
    assert machine.recall("zyxthree")[0] == "three.md"
    assert snapshot(machine.vault) == before
    machine.vault.chmod(0o755)


def test_an_empty_vault_is_indexed_and_asked(machine: Any) -> None:
    for file in machine.vault.iterdir():
        file.unlink()
    assert machine.index()["notes"] == 0
    answer = machine.json("recall", "anything at all")
    assert (answer["verdict"], answer["hits"]) == ("none", [])
    assert machine.json("status")["notes"] == 0
