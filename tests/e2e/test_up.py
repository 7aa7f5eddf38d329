"""The whole of it, with a real webserver and daemon: a file is written, and a fresh process that is
asked in other words gets it back."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import DagsterInstance
from watchfiles import watch

from agentm_assets.config.vault import VaultLocation, locate

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_MS = 90_000
RAW = (
    "The kettle failed with error E42 and did not heat. The cause was a corroded relay. Fixed by "
    "replacing the relay K1; after that it works again."
)


class Up:
    """`agentm up` over a vault of its own."""

    def __init__(self, home: Path, cache: Path) -> None:
        self.vault = home / "vault"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": str(ROOT),
            "XDG_CACHE_HOME": str(cache),
        }
        self.process: subprocess.Popen[str] | None = None

    @property
    def location(self) -> VaultLocation:
        return locate(self.env)

    def agentm(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "agentm_assets.cli.entry", *arguments],
            env=self.env,
            cwd=self.env["HOME"],
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self) -> str:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agentm_assets.cli.entry", "up", "--port", "0"],
            env=self.env,
            cwd=self.env["HOME"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        ready = self.process.stdout.readline()
        assert ready.startswith("agentm is up: http://127.0.0.1:"), ready
        return ready.split()[3]

    def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)
        return self.process.returncode

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.vault), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def recall(self, question: str) -> list[str]:
        done = self.agentm("recall", question, "--json")
        return [hit["path"] for hit in json.loads(done.stdout)["hits"]] if done.stdout else []

    def finished_runs(self) -> int:
        with DagsterInstance.from_config(str(self.location.dagster_home)) as instance:
            runs = instance.get_runs()
            assert all(not run.is_failure for run in runs)
            return sum(run.is_success for run in runs)

    def wait_for_runs(self, count: int) -> None:
        """Wait, woken by what Dagster writes, until that many runs have succeeded."""
        storage = self.location.dagster_home
        for changes in watch(storage, rust_timeout=PATIENCE_MS, yield_on_timeout=True):
            if self.finished_runs() >= count:
                return
            assert changes, f"no {count} runs within {PATIENCE_MS} ms"


@pytest.fixture
def up(tmp_path: Path, minilm_folder: Path) -> Iterator[Up]:
    servers = Up(tmp_path, minilm_folder.parents[2])
    assert servers.agentm("init", str(servers.vault)).returncode == 0
    assert servers.agentm("index").returncode == 0
    yield servers
    if servers.process is not None and servers.process.poll() is None:
        servers.stop()


def test_a_file_written_while_agentm_is_up_is_recalled_sideways_after_one_run(up: Up) -> None:
    address = up.start()
    with urllib.request.urlopen(f"{address}/server_info", timeout=10) as answer:
        assert json.load(answer)["dagster_version"] == "1.13.27"

    second = up.agentm("up", "--port", "0")
    assert second.returncode == 3
    assert "already" in second.stderr

    before = up.finished_runs()
    note = up.vault / "Agent/memory/semantic/gasket.md"
    note.write_text("# Gasket material\n\nThe seal of the lid is made of food-grade silicone.\n")
    up.wait_for_runs(before + 1)
    hits = up.recall("what is the rubber ring on the cover made from?")
    assert "Agent/memory/semantic/gasket.md" in hits[:2]

    note.unlink()
    up.wait_for_runs(before + 2)
    assert "Agent/memory/semantic/gasket.md" not in up.recall("food-grade silicone seal")

    done = up.agentm("capture", RAW, "--status", "unfiled", "--json")
    assert done.returncode == 0, done.stderr
    up.wait_for_runs(before + 3)
    (filed,) = up.vault.glob("Agent/memory/*/*/*/*.md")
    text = filed.read_text()
    assert "type: fix\n" in text and "status: active\n" in text
    assert "enriched_by: extractive-1\n" in text and RAW in text
    assert up.git("log", "-1", "--format=%an").strip() == "agentm-enrich"
    assert up.git("status", "--porcelain", "Agent") == ""
    assert str(filed.relative_to(up.vault)) in up.recall("why did it not heat any more?")
    assert up.stop() == 0
    assert up.finished_runs() == before + 3, "one change, one run"
