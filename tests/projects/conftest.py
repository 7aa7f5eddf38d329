"""A vault of a few files in a git repository, written straight to the disk."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentm_assets.config.vault import VaultLocation
from agentm_assets.storage.vault_backend import VaultBackend

Write = Callable[[str, str], Path]
Git = Callable[..., str]

NOW = datetime(2026, 8, 14, 9, 30, tzinfo=UTC)


@pytest.fixture
def write(vault: Path) -> Write:
    def put(path: str, text: str) -> Path:
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    return put


@pytest.fixture
def store(location: VaultLocation) -> VaultBackend:
    return VaultBackend(location.root, location.locks_dir)


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def kettle(write: Write) -> None:
    """One declared project, one folder that is none, one task."""
    write("projects/kettle/project.yaml", "slug: kettle\n")
    write("projects/kettle/charter.md", "---\nkind: project\ntitle: Kettle, charter\n---\n")
    write("projects/kettle/docs/limits.md", "---\ntype: reference\ntitle: Limits\n---\n")
    write("projects/loose/notes.md", "no project\n")
    write(
        "Agent/desk/tasks/descale/progress.md",
        "---\nkind: brief\nstatus: active\ntitle: Descale, progress\n---\n- [ ] buy acid\n",
    )
