"""A machine of the test's own: its directories, a vault, a checkout."""

from pathlib import Path

import pytest

from agentm_assets.storage.vault_backend import VaultBackend


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    names = ("CONFIG", "STATE", "CACHE", "DATA")
    return {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in names}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / "projects/kettle").mkdir(parents=True)
    return root


@pytest.fixture
def store(vault: Path, tmp_path: Path) -> VaultBackend:
    return VaultBackend(vault, tmp_path / "locks")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "code/kettle"
    (folder / ".git").mkdir(parents=True)
    return folder
