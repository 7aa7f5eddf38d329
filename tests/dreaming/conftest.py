"""Fixtures of the night: a vault in git, and one with content of every sort."""

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # estate

from estate import Estate

from agentm_assets.config.vault import locate
from agentm_assets.storage.selection import open_backend


@pytest.fixture
def estate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Estate:
    for name in [name for name in os.environ if name.startswith(("GIT_", "AGENTM_"))]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    env = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        **{
            f"XDG_{name}_HOME": str(tmp_path / name.lower())
            for name in ("CONFIG", "STATE", "CACHE", "DATA")
        },
        "AGENTM_VAULT": str(tmp_path / "vault"),
    }
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    (home / ".gitconfig").write_text(
        "[user]\nname = Olga\nemail = olga@example.org\n[init]\ndefaultBranch = main\n"
    )
    (tmp_path / "vault").mkdir()
    location = locate(env)
    made = Estate(location.root, location, open_backend(location))
    made.write("ideas.md", "# Ideas\n")
    made.git("init", "-q")
    made.commit()
    return made
