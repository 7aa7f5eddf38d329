import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))  # model_servers, beside the rooms' folders
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def env(tmp_path: Path, vault: Path) -> dict[str, str]:
    """A machine of the test's own: its home, its XDG folders, its vault."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "AGENTM_VAULT": str(vault),
        "PYTHONPATH": str(ROOT),
    }


@pytest.fixture
def agentm(env: dict[str, str], tmp_path: Path) -> Run:
    """Run the console command in a process of its own; nothing is checked."""

    def run(
        *arguments: str, unprivileged: bool = False, **more: str
    ) -> subprocess.CompletedProcess[str]:
        powers = [str(ROOT / "tests" / "without_powers.py")] if unprivileged else []
        return subprocess.run(
            [sys.executable, *powers, "-m", "agentm_assets.cli.entry", *arguments],
            env={**env, **more},
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    return run
