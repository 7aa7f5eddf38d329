"""A vault in git, its store, and a fixed time."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentm_assets.config.vault import VaultLocation
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.selection import open_backend

NOW = datetime(2026, 8, 14, 5, 40, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def backend(location: VaultLocation, git: Callable[..., str]) -> StorageBackend:
    """The store of a vault that is a repository."""
    return open_backend(location)


@pytest.fixture
def notes(put: Callable[[str, bytes], Path]) -> None:
    """A few memories, linked with each other."""
    put(
        "Agent/memory/semantic/2026/03/kettle.md",
        b"---\ntype: reference\nstatus: active\naltitude: canonical\ncaptured: 2026-03-02\n---\n"
        b"# Kettle\nIt boils at 96 degrees. See [[descale]] and [[boil-cutoff]].\n",
    )
    put(
        "Agent/memory/procedural/2026/04/descale.md",
        b"---\ntype: workflow\nstatus: active\ncaptured: 2026-04-11\n---\n# Descale\nAcid.\n",
    )
    put(
        "Agent/memory/semantic/2026/04/boil-cutoff.md",
        b"---\ntype: convention\nstatus: superseded\ncaptured: 2026-04-12\n---\nCut off at 97.\n",
    )
    put(
        "Agent/memory/semantic/2026/05/lid.md",
        b"---\nstatus: unfiled\ncaptured: 2026-05-01\n---\nThe lid sensor is magnetic.\n",
    )
    put("personal/diary.md", b"# Diary\nSee [[kettle]].\n")
