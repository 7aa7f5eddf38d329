"""The demo vault, indexed once a module with its model, and servers over it as processes."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentm_assets.contract.rules import default_rules_text
from agentm_assets.demo import sample_vault

_HTTP = ("mcp", "--http", "--port", "0")
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Machine:
    """A machine of the test's own: home, XDG folders, a vault, and what runs on it."""

    home: Path
    vault: Path
    env: dict[str, str]
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def agentm(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "agentm_assets.cli.entry", *arguments],
            env=self.env,
            cwd=self.home,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def http(self, *arguments: str) -> tuple[str, int]:
        """Start a server on a free port; its URL and port."""
        server = subprocess.Popen(
            [sys.executable, "-m", "agentm_assets.cli.entry", *_HTTP, *arguments],
            env=self.env,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.running.append(server)
        assert server.stderr is not None
        url = next(line.split()[-1] for line in server.stderr if "mcp: http" in line)
        return url, int(url.split(":")[2].split("/")[0])

    @property
    def state(self) -> Path:
        return next(path for path in (self.home / "state" / "agentm").iterdir() if path.is_dir())

    def stop(self) -> None:
        for server in self.running:
            server.terminate()
            server.wait(20)
            assert server.stderr is not None
            server.stderr.close()
        self.running.clear()


def machine_at(home: Path, *, demo: bool) -> Machine:
    vault = home / "vault"
    if demo:
        shutil.copytree(sample_vault(), vault)
    else:
        vault.mkdir(parents=True)
    (vault / "standards").mkdir(exist_ok=True)
    (vault / "standards" / "storage-rules.md").write_bytes(default_rules_text())
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    env = {
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "AGENTM_VAULT": str(vault),
        "PYTHONPATH": str(ROOT),
    }
    return Machine(home, vault, env)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Iterator[Machine]:
    """The demo vault, indexed with vectors. Its tests add to it and change none of its notes."""
    machine = machine_at(tmp_path_factory.mktemp("demo"), demo=True)
    models = machine.home / "cache" / "agentm" / "models"
    models.mkdir(parents=True)
    (models / minilm_folder.name).symlink_to(minilm_folder)
    done = machine.agentm("index", "--json")
    assert done.returncode == 0, done.stderr
    yield machine
    machine.stop()


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Machine]:
    """An empty vault without an index."""
    machine = machine_at(tmp_path, demo=False)
    yield machine
    machine.stop()
