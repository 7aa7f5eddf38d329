"""A vault in a git repository."""

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.storage.vault_backend import VaultBackend


@pytest.fixture
def put(vault: Path) -> Callable[[str, bytes], Path]:
    def write(path: str, data: bytes) -> Path:
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    return write


@pytest.fixture
def location(vault: Path) -> VaultLocation:
    return locate(os.environ)


@pytest.fixture
def store(location: VaultLocation) -> VaultBackend:
    return VaultBackend(location.root, location.locks_dir)


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 8, 14, 9, 30, tzinfo=UTC)


@pytest.fixture
def git(vault: Path) -> Callable[..., str]:
    """Run git in the vault, which becomes a repository with what is there committed."""

    def run(*arguments: str) -> str:
        identity = ["-c", "user.name=op", "-c", "user.email=op@localhost"]
        command = ["git", "-C", str(vault), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    run("init", "-q", "-b", "main")
    run("add", "-A")
    run("commit", "-q", "--allow-empty", "-m", "start")
    return run
