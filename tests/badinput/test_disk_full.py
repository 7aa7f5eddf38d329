"""A disk that is full: said so, nothing lost, and the work goes on once there is space."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 48 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"a full disk needs the right to mount one: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Fill the disk up to `leave` bytes."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        try:
            while True:
                file.write(bytes(1 << 16))
                file.flush()
        except OSError:
            pass
    ballast.open("r+b").truncate(max(0, ballast.stat().st_size - leave))
    return ballast


def test_a_full_disk_is_said_and_the_index_that_was_there_answers_on(
    indexed: Any, disk: Path
) -> None:
    shutil.copytree(indexed.folder / "state", disk, dirs_exist_ok=True)
    indexed.more["XDG_STATE_HOME"] = str(disk)
    ballast = fill(disk, leave=0)
    (indexed.vault / "new.md").write_text("# New\n\nzyxnew\n")
    done = indexed.run("index", "--no-embeddings", "--json")
    assert done.returncode == 3
    assert done.stdout == ""
    assert "full" in done.stderr and "Free some space" in done.stderr
    assert indexed.recall("zyxkept7")[:1] == ["n7.md"]
    state = indexed.json("status")
    assert (state["notes"], state["changed"]) == (60, 1)
    (check,) = (c for c in indexed.json("doctor")["checks"] if c["name"] == "state")
    assert check["outcome"] == "warn" and "0 MiB" in check["message"]

    ballast.unlink()
    assert indexed.index()["notes"] == 61
    assert indexed.recall("zyxnew")[:1] == ["new.md"]
    assert indexed.recall("zyxkept7")[:1] == ["n7.md"]


def test_a_disk_that_fills_up_during_the_first_index_is_said_and_made_up_for(
    machine: Any, disk: Path
) -> None:
    machine.more["XDG_STATE_HOME"] = str(disk)
    for number in range(300):
        (machine.vault / f"m{number}.md").write_text(f"# M {number}\n\nzyxmore{number}\n" * 60)
    ballast = fill(disk, leave=1_000_000)
    done = machine.run("index", "--no-embeddings", "--json")
    assert done.returncode == 3
    assert done.stdout == ""
    assert "agentm: " in done.stderr
    assert "space" in done.stderr
    ballast.unlink()
    assert machine.index()["notes"] == 360
    assert machine.recall("zyxmore299")[:1] == ["m299.md"]
