"""A vault of a few files, written straight to the disk."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.storage.vault_backend import VaultBackend

Write = Callable[[str, str], Path]


@pytest.fixture
def write(vault: Path) -> Write:
    def put(path: str, text: str) -> Path:
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    return put


@pytest.fixture
def store(vault: Path, tmp_path: Path) -> VaultBackend:
    return VaultBackend(vault, tmp_path / "locks")


@pytest.fixture
def kettle(write: Write) -> None:
    """One declared project, one folder that is none, one task."""
    write("projects/kettle/project.yaml", "slug: kettle\n")
    write("projects/kettle/charter.md", "---\nkind: project\ntitle: Kettle, charter\n---\n")
    write("projects/kettle/docs/limits.md", "---\ntype: reference\ntitle: Limits\n---\n")
    write("projects/loose/notes.md", "no project\n")
    write("Agent/desk/tasks/descale/progress.md", "---\nstatus: active\n---\n- [ ] buy acid\n")
