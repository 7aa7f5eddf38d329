"""Fixtures of the pass: a vault in git with an index."""

import os
import sys
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
sys.path += [str(_HERE.parent), str(_HERE)]  # model_servers, and house

from house import Clock, House  # noqa: E402

from agentm_assets.config.vault import locate  # noqa: E402
from agentm_assets.index.store import IndexStore  # noqa: E402
from agentm_assets.storage.selection import open_backend  # noqa: E402


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
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
    made = House(
        location.root,
        location,
        open_backend(location),
        IndexStore(location.duckdb_file),
        Clock(),
        env,
    )
    made.write("index.md", "# A vault\n")
    made.git("init", "-q")
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "Start")
    return made
