"""A vault in a repository of its own, with the operator's name and without anybody's settings."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.selection import open_backend

MEMORY = b"---\ntype: reference\nstatus: active\n---\nThe kettle boils at 96 degrees.\n"


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 4, 12, 8, 15, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class Place:
    """A vault, its store, and git in it. `top` is the top of the repository."""

    root: Path
    location: VaultLocation
    backend: StorageBackend
    top: Path
    clock: Clock

    def git(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.top), *arguments],
            capture_output=True,
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr
        return os.fsdecode(done.stdout)  # not as text: that would turn CR into LF

    def write(self, path: str, data: bytes) -> None:
        """As an editor would: beside agentm."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def commit_all(self, subject: str = "By hand") -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)

    def status(self) -> list[str]:
        return [
            line for line in self.git("status", "--porcelain", "-uall", "-z").split("\0") if line
        ]

    def subjects(self) -> list[str]:
        """Of the commits, newest first."""
        return self.git("log", "--format=%s").split("\n")[:-1]

    def files_of(self, commit: str = "HEAD") -> set[str]:
        listed = self.git("show", "-z", "--format=", "--name-only", "--no-renames", commit)
        return {name for name in listed.split("\0") if name}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> Callable[..., Place]:
    """`make_place(inside="notes", repository=True, first=True)`."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    (home / ".gitconfig").write_text(
        "[user]\nname = Olga\nemail = olga@example.org\n[init]\ndefaultBranch = main\n"
    )
    env = {
        "HOME": str(home),
        **{f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("STATE", "CACHE", "DATA")},
    }

    def make(inside: str = "", *, repository: bool = True, first: bool = True) -> Place:
        top = tmp_path / "vault"
        root = top / inside
        root.mkdir(parents=True)
        location = locate({**env, "AGENTM_VAULT": str(root)})
        place = Place(root, location, open_backend(location), top, clock)
        if repository:
            place.git("init", "-q")
            if first:
                place.write("Agent/memory/semantic/kettle.md", MEMORY)
                place.commit_all("Start")
        return place

    return make


@pytest.fixture
def place(make_place: Callable[..., Place]) -> Place:
    """A vault that is a repository, with one memory committed."""
    return make_place()
