"""A full disk under the vault, the logs or the locks: said so, nothing lost, nothing torn."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.history.captures import settle
from agentm_assets.history.outcome import Committed, GitTrouble
from agentm_assets.history.run import begin
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.retry import read_modify_write
from agentm_assets.storage.seam import ABSENT, StorageError

Place = Any  # the class in conftest.py, which cannot be imported from here
KETTLE = Locator("Agent/memory/semantic/kettle.md")


@pytest.fixture
def small_disk() -> Iterator[Callable[[Path], Path]]:
    """Mount a disk of 2 MiB at a folder, and fill it when told to."""
    with ExitStack() as stack:

        def mount(folder: Path) -> Path:
            folder.mkdir(parents=True, exist_ok=True)
            mounted = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)],
                capture_output=True,
                text=True,
                check=False,
            )
            if mounted.returncode != 0:
                pytest.skip(f"a full disk needs the right to mount one: {mounted.stderr.strip()}")
            stack.callback(subprocess.run, ["umount", str(folder)], check=True)
            return folder

        yield mount


def fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    for size in (1 << 16, 1):
        try:
            with ballast.open("ab", buffering=0) as file:
                while True:
                    file.write(bytes(size))
        except OSError:
            continue
    return ballast


def add_much(old: bytes) -> bytes:
    return old + b"More.\n" * 2000


def leftovers(root: Path) -> list[str]:
    return [name for _, _, names in os.walk(root) for name in names if name.endswith(".tmp")]


def test_a_full_vault_refuses_and_keeps_every_byte(
    small_disk: Callable[[Path], Path], make_place: Callable[..., Place], tmp_path: Path
) -> None:
    disk = small_disk(tmp_path / "vault")
    place = make_place("notes")
    before = place.read(KETTLE.key)
    ballast = fill(disk)
    with pytest.raises(StorageError, match="full"):
        read_modify_write(place.backend, KETTLE, add_much)
    with pytest.raises(StorageError, match="full"):
        place.backend.write_bytes(Locator("new.md"), bytes(8192), expect=ABSENT)
    with (
        pytest.raises(StorageError, match="full"),
        begin(place.location, place.backend, pass_name="enrich") as run,
    ):
        run.rewrite(KETTLE, add_much)
    assert place.read(KETTLE.key) == before
    assert not place.backend.exists(Locator("new.md"))
    assert leftovers(disk) == []
    ballast.unlink()
    with begin(place.location, place.backend, pass_name="enrich") as run:
        run.rewrite(KETTLE, add_much)
    assert isinstance(run.outcome, Committed)


def test_a_disk_that_fills_before_the_commit_leaves_the_write_to_the_next_pass(
    small_disk: Callable[[Path], Path], make_place: Callable[..., Place], tmp_path: Path
) -> None:
    disk = small_disk(tmp_path / "vault")
    place = make_place("notes")
    ballast = disk / "ballast"
    try:
        with begin(place.location, place.backend, pass_name="enrich") as run:
            run.rewrite(KETTLE, add_much)
            ballast = fill(disk)
        assert isinstance(run.outcome, GitTrouble)
    except StorageError as error:
        assert "full" in str(error)
    written = place.read(KETTLE.key)
    assert written.endswith(b"More.\n")
    ballast.unlink()
    done = settle(place.location, place.backend, now=datetime.now(UTC), run_id="r")
    assert done.recovered == 1
    assert place.status() == []
    assert place.read(KETTLE.key) == written


@pytest.mark.parametrize(
    ("which", "cure"), [("state", "XDG_STATE_HOME"), ("cache", "XDG_CACHE_HOME")]
)
def test_full_folders_of_this_machine_are_named_and_the_vault_stays(
    small_disk: Callable[[Path], Path],
    make_place: Callable[..., Place],
    tmp_path: Path,
    which: str,
    cure: str,
) -> None:
    disk = small_disk(tmp_path / which)
    place = make_place()
    before = place.read(KETTLE.key)
    fill(disk)
    with (
        pytest.raises(StorageError, match=cure),
        begin(place.location, place.backend, pass_name="enrich") as run,
    ):
        run.rewrite(KETTLE, add_much)
    assert place.read(KETTLE.key) == before
    assert place.subjects() == ["Start"]
