"""A vault of its own for each test, with every derived file under the test's folder."""

from pathlib import Path

import pytest

from resources.workspace import WorkspaceResource


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CONFIG", "STATE", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    for name in ("AGENTM_CONFIG", "AGENTM_PROFILE", "AGENTM_STORAGE_RULES", "MEMORY_VAULT_PATH"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "vault"
    root.mkdir()
    monkeypatch.setenv("AGENTM_VAULT", str(root))
    return root


@pytest.fixture
def workspace(vault: Path) -> WorkspaceResource:
    return WorkspaceResource(vault=str(vault))
