"""`agentm capture` as real processes: many at once, killed, blocked, and on disks that fail."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.capture.journal import not_committed
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.storage.atomic import sweep_temps

Desk = Any  # the class in conftest.py, which cannot be imported from here

HEAVY = {
    "dagster", "torch", "duckdb", "polars", "numpy", "pydantic", "pydantic_settings", "typer",
    "rich", "onnxruntime", "tokenizers", "sentence_transformers", "tantivy", "mcp", "yaml",
    "watchfiles", "filelock", "git",
}  # fmt: skip

LOADED = """
import sys
sys.argv = ["agentm", *sys.argv[1:]]
from agentm_assets.cli.entry import main
try:
    main()
finally:
    print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def loaded(desk: Desk, *arguments: str) -> set[str]:
    """Top names of the modules that a real run of the command has loaded at its end."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        env=desk.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "saved" in done.stdout or "reinforced" in done.stdout
    return set(done.stderr.split())


def test_a_capture_loads_nothing_heavy(desk: Desk) -> None:
    first = loaded(desk, "capture", "The first one validates the rules.")
    assert "pydantic" in first
    later = loaded(
        desk, "capture", "Größe: 3 cm", "--title", "3 Größen", "--alias", "größe", "--type", "fix"
    )
    # A value that begins with a digit may be a number to YAML, so its resolver is asked.
    assert not later & (HEAVY - {"yaml"})
    plain = loaded(desk, "capture", "Plain words.", "--tag", "lab", "--source", "https://x.example")
    assert not plain & HEAVY
    again = loaded(desk, "capture", "Plain words.", "--source", "https://x.example")
    assert not again & (HEAVY - {"yaml"})


def test_text_comes_from_standard_input_too(desk: Desk) -> None:
    for arguments in ((), ("-",)):
        text = f"Zeile 1\r\nLine {len(arguments)}\n".encode()
        done = desk.json("capture", *arguments, data=text)
        assert desk.body(done["path"]) == text
    assert set(done) == {
        *("path", "slug", "type", "status", "captured", "indexed", "duplicate_of", "remarks")
    }


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "text-empty"),
        (b" \n\t ", "text-empty"),
        (b"PK\x03\x04\0\0", "text-binary"),
        (b"caf\xe9", "text-not-utf8"),
        (b"a" * 10_000_000, "text-too-long"),
    ],
    ids=["empty", "blanks", "binary", "latin-1", "10 MB"],
)
def test_unusable_input_is_refused_with_nothing_left(desk: Desk, data: bytes, code: str) -> None:
    done = desk.run("capture", data=data)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"[{code}]" in done.stderr
    assert desk.notes() == []
    assert json.loads((desk.location.log_dir / "refusals.jsonl").read_text())["code"] == code


@pytest.mark.parametrize(
    "arguments",
    [
        ("s3cret one", "s3cret two"),
        ("text", "--pass", "s3cret"),
        ("text", "--typ", "s3cret"),
        ("text", "--type", "s3cret"),
        ("text", "--space", "../s3cret"),
        ("text", "--project", "../s3cret"),
        ("text", "--status", "s3cret"),
        ("text", "--tags", '["s3cret", '),
        ("text", "--tags", "[[s3cret], {}]"),
        ("text", "--title", "s3cret" * 100),
        (b"s3cret \xff",),
        ("text", "--personal", "--space", "s3cret"),
    ],
    ids=str,
)
def test_bad_arguments_are_not_echoed(desk: Desk, arguments: tuple[Any, ...]) -> None:
    words = [os.fsdecode(word) if isinstance(word, bytes) else word for word in arguments]
    done = desk.run("capture", *words)
    assert done.returncode == 2
    assert "s3cret" not in done.stdout + done.stderr
    assert desk.notes() == []


def test_lists_of_names_in_every_form(desk: Desk) -> None:
    done = desk.json(
        *("capture", "text", "--tags", "a, b", "--tags", '["c, d", "e"]', "--tag", "f"),
        *("--aliases", "One, Two", "--alias", "Three, four"),
    )
    found = desk.properties(done["path"])
    assert found.fields["tags"].items == ("f", "a", "b", "c,-d", "e")
    assert found.fields["aliases"].items == ("Three, four", "One", "Two")


def test_personal_by_the_flag_alone(desk: Desk) -> None:
    assert desk.run("capture", "text", "--space", "personal").returncode == 2
    assert desk.json("capture", "text", "--personal")["path"] == "personal/text.md"


def test_the_command_is_listed_and_answers_through_typer_too(desk: Desk) -> None:
    assert "capture" in desk.run("--help").stdout
    assert "--instructions" in desk.run("capture", "--help").stdout


MANY = """
import json, os, sys
from datetime import datetime, timezone
from agentm_assets.capture.request import CaptureRequest
from agentm_assets.capture.transaction import capture
from agentm_assets.config.vault import locate
location = locate(os.environ)
for number in range(int(sys.argv[2])):
    body = f"writer {sys.argv[1]}, number {number}\\n" + "x" * 20_000 + "\\nend"
    done = capture(
        CaptureRequest(body, title="The same title"), location, os.environ,
        datetime(2026, 8, 19, tzinfo=timezone.utc),
    )
    sys.stdout.write(json.dumps([done.path, sys.argv[1], number]) + "\\n")
    sys.stdout.flush()
"""


def writers(desk: Desk, count: int, each: int) -> list["subprocess.Popen[bytes]"]:
    return [
        subprocess.Popen(
            [sys.executable, "-c", MANY, str(number), str(each)],
            env=desk.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for number in range(count)
    ]


def replies(process: "subprocess.Popen[bytes]") -> list[tuple[str, str, int]]:
    # Not communicate(), which passes over what a readline() before it has read ahead.
    assert process.stdout is not None
    said = process.stdout.read()
    process.wait(timeout=90)
    return [tuple(json.loads(line)) for line in said.split(b"\n")[:-1]]


def whole(desk: Desk, path: str, writer: str, number: int) -> bool:
    data = desk.data(path)
    body = data[read_frontmatter(data).body_start :].decode()
    return body == f"writer {writer}, number {number}\n" + "x" * 20_000 + "\nend"


def test_sixteen_processes_with_one_title_lose_nothing(desk: Desk) -> None:
    desk.capture("The snapshot is made.")
    said = [reply for process in writers(desk, 16, 20) for reply in replies(process)]
    assert len(said) == 320
    assert len({path for path, _, _ in said}) == 320
    assert all(whole(desk, *reply) for reply in said)
    assert len(desk.notes()) == 321
    assert len(not_committed(desk.location).entries) == 321


def test_what_was_said_to_be_saved_survives_kills(desk: Desk) -> None:
    chance = random.Random(3)
    said: list[tuple[str, str, int]] = []
    for _ in range(3):
        running = writers(desk, 4, 1000)
        for process in running:
            # A few replies in, so that the kill lands in the middle of the work.
            for _ in range(chance.randrange(1, 12)):
                assert process.stdout is not None
                said.append(tuple(json.loads(process.stdout.readline())))
            process.send_signal(signal.SIGKILL)
        for process in running:
            said += replies(process)
    assert len(said) > 12
    assert all(whole(desk, *reply) for reply in said)
    # Nothing half-written has a note's name, and what a kill left is swept away.
    for path in desk.notes():
        if path.endswith(".md"):
            assert desk.data(path).endswith(b"\nend")
    sweep_temps(desk.root)
    assert all(path.endswith(".md") for path in desk.notes())
    assert desk.json("capture", "Life goes on.")["path"]


HOLDER = """
import os, sys, time
from agentm_assets.config.vault import locate
from agentm_assets.storage.mutex import VaultMutex
from agentm_assets.storage.selection import open_backend
location = locate(os.environ)
with VaultMutex(open_backend(location).identity, location.locks_dir).held():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(desk: Desk) -> Iterator[None]:
    """Another process holds the vault's lock while the test runs."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        env=desk.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    yield
    assert holder.poll() is None
    holder.communicate()


def test_a_held_lock_delays_no_capture(desk: Desk, held: None) -> None:
    began = time.monotonic()
    first = desk.json("capture", "A fact.")
    again = desk.json("capture", "A fact.")
    # The lock is never let go: a capture that waited for it would wait its ten seconds.
    assert time.monotonic() - began < 9
    assert again["duplicate_of"] == first["path"]
    assert "next capture or pass" in again["remarks"][0]


def test_logs_that_cannot_be_written_cost_the_journal_and_not_the_note(desk: Desk) -> None:
    (desk.folder / "state").mkdir()
    (desk.folder / "state").chmod(0o500)
    try:
        done = desk.run("capture", "A fact.", unprivileged=True)
        again = desk.run("capture", "", unprivileged=True)
    finally:
        (desk.folder / "state").chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert "recall finds this note only after the next index pass" in done.stdout
    assert [desk.body(path) for path in desk.notes()] == [b"A fact."]
    assert again.returncode == 2


def test_a_read_only_vault_is_a_red_state(desk: Desk) -> None:
    desk.capture("An older fact.")
    month = desk.root / "Agent/memory/semantic"
    for folder in (month, *month.rglob("*")):
        folder.chmod(0o500 if folder.is_dir() else 0o400)
    before = desk.notes()
    try:
        done = desk.run("capture", "A fact.", unprivileged=True)
    finally:
        for folder in (month, *sorted(month.rglob("*"))):
            folder.chmod(0o700 if folder.is_dir() else 0o600)
    assert done.returncode == 3
    assert "write permission" in done.stderr
    assert desk.notes() == before


def test_a_vault_that_is_gone_is_said_and_not_made_anew(desk: Desk) -> None:
    shutil.rmtree(desk.root)
    done = desk.run("capture", "A fact.")
    assert done.returncode == 2
    assert "does not exist" in done.stderr
    assert not desk.root.exists()


@pytest.fixture
def small_disk(desk: Desk) -> Iterator[Path]:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(desk.root)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("no file system may be mounted here")
    try:
        yield desk.root
    finally:
        subprocess.run(["umount", str(desk.root)], check=True)


def test_a_full_disk_refuses_and_keeps_what_is_there(desk: Desk, small_disk: Path) -> None:
    text = b"A fact. " * 2_000
    kept: list[bytes] = []
    for number in range(40):
        data = b"%d " % number + text
        done = desk.run("capture", "--title", "Fact", data=data)
        if done.returncode != 0:
            break
        kept.append(data)
    assert done.returncode == 3
    assert "the disk is full" in done.stderr
    assert kept
    assert sorted(desk.body(path) for path in desk.notes()) == sorted(kept)
    (small_disk / desk.notes()[0]).unlink()
    assert desk.run("capture", "--title", "Fact", data=data).returncode == 0
