"""Files and folders that may not be read or written, by a process without root's powers."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def mode(path: Path, bits: int) -> Iterator[None]:
    """Give a path other permissions for a while, so that it can be removed afterwards."""
    before = path.stat().st_mode
    path.chmod(bits)
    try:
        yield
    finally:
        path.chmod(before)


def test_unreadable_files_and_folders_are_one_finding_each_and_keep_what_was_indexed(
    indexed: Any, snapshot: Callable[[Path], Any]
) -> None:
    (indexed.vault / "fresh.md").write_text("zyxfresh\n")
    indexed.git("init", "-q")
    indexed.git("add", "-A")
    indexed.git("commit", "-q", "-m", "As it is")
    with (
        mode(indexed.vault / "deep", 0),
        mode(indexed.vault / "fresh.md", 0),
        mode(indexed.vault / "n7.md", 0),
    ):
        before = snapshot(indexed.vault)
        first = indexed.index("--hash", unprivileged=True)
        assert [(f["path"], f["code"], f["line"]) for f in first["findings"]] == [
            ("deep", "folder-unreadable", None),
            ("fresh.md", "unreadable", None),
            ("n7.md", "unreadable", None),
        ]
        assert (first["notes"], first["changed"], first["deleted"]) == (60, 0, 0)
        answer = indexed.json("recall", "zyxkept0 zyxkept7 zyxkept8", unprivileged=True)
        shown = {hit["path"]: hit["snippet"] for hit in answer["hits"]}
        assert "zyxkept8" in shown["n8.md"]
        assert "zyxkept0" not in "".join(shown.values())
        assert "could not be read" in answer["why"]
        state = indexed.json("status", unprivileged=True)
        assert state["findings"] == first["findings"]
        assert (state["changed"], state["deleted"]) == (0, 0)
        assert snapshot(indexed.vault) == before

    second = indexed.index(unprivileged=True)
    assert (second["findings"], second["notes"]) == ([], 61)
    assert indexed.recall("zyxfresh")[:1] == ["fresh.md"]
    assert indexed.git("status", "--porcelain") == ""


UNWRITABLE = ("can't be written (Permission denied)", "XDG_STATE_HOME", "the vault is untouched")


def red(done: Any, *said: str) -> None:
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stdout == ""
    for words in said:
        assert words in done.stderr


@pytest.mark.parametrize("bits", [0o555, 0])
def test_init_in_a_folder_that_may_not_be_written_is_refused(machine: Any, bits: int) -> None:
    shut = machine.folder / "shut"
    shut.mkdir()
    with mode(shut, bits):
        for path in (shut, shut / "below"):
            done = machine.run("init", str(path), "--json", unprivileged=True)
            assert (done.returncode, done.stdout) == (2, "")
            assert f"{shut}" in done.stderr and "(Permission denied)" in done.stderr
            assert "Choose a folder" in done.stderr
    assert list(shut.iterdir()) == []
    assert not (machine.folder / "config").exists()


@pytest.mark.parametrize("command", ["index", "init", "up"])
def test_a_state_folder_that_may_not_be_made_is_a_red_state(machine: Any, command: str) -> None:
    (machine.folder / "state").mkdir(mode=0o555)
    more = {"index": ["--no-embeddings"], "init": [str(machine.vault)], "up": ["--port", "0"]}
    red(machine.run(command, *more[command], unprivileged=True), *UNWRITABLE)


def test_a_state_folder_that_may_not_be_written_is_a_red_state_and_answers_on(
    indexed: Any,
) -> None:
    folders = [indexed.state, *(path for path in indexed.state.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    red(
        indexed.run("index", "--no-embeddings", "--json", unprivileged=True),
        f"Dagster can't use its records in {indexed.state / 'dagster'}",
        "readonly database",
        "Mend the permissions",
    )
    assert indexed.json("status", unprivileged=True)["notes"] == 60
    doctor = indexed.run("doctor", "--json", unprivileged=True)
    checks = {check["name"]: check for check in json.loads(doctor.stdout)["checks"]}
    assert doctor.returncode == 3
    assert checks["state"]["outcome"] == "fail"
    assert "can't be written" in checks["state"]["message"]
    for folder in folders:
        folder.chmod(0o755)


def test_status_and_doctor_say_that_a_shut_state_folder_cannot_be_read(indexed: Any) -> None:
    with mode(indexed.state, 0):
        red(indexed.run("status", "--json", unprivileged=True), "Permission denied")
        doctor = indexed.run("doctor", "--json", unprivileged=True)
    assert doctor.returncode == 3
    checks = {check["name"]: check["outcome"] for check in json.loads(doctor.stdout)["checks"]}
    assert (checks["state"], checks["facts"]) == ("fail", "fail")


def test_recall_says_in_one_sentence_that_a_shut_state_folder_cannot_be_read(indexed: Any) -> None:
    with mode(indexed.state, 0):
        red(indexed.run("recall", "zyxkept7", "--json", unprivileged=True), "Permission denied")
    assert indexed.recall("zyxkept7")[:1] == ["n7.md"]
