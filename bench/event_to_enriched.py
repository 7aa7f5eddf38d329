"""From a captured file to its judgment in git: `python bench/event_to_enriched.py [--notes 20]`.

A new vault and `agentm up` on it, all in a folder that is removed at the end. Each round captures a
note, `agentm capture --status unfiled`, and looks at its bytes and at git until both hold the
judgment; then it waits until the run that did it has ended, so that no round meets another's run.

- enriched: from the capture's return to the judgment in the file.
- committed: to the commit by agentm-enrich.
- run: to the end of the run, by what Dagster says of it.
- runs: how many there were; one a note is what is wanted.

The judge is the one that the environment configures: without a model, the extractive one. Its
embedder is exported beforehand.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dagster import DagsterInstance, RunsFilter
from measure import machine, report, spread

from agentm_assets.config.vault import locate

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 120.0
LOOK_SECONDS = 0.02

TEXT = (
    "Kettle {number} failed with error E{number:03} and did not heat. The cause was a corroded "
    "relay on board {number}. Fixed by replacing the relay; after that it works again."
)


class Vault:
    """A vault of the bench's own, its servers, and Dagster's records of them."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.env = {
            **os.environ,
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "AGENTM_VAULT": str(self.root),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
            **{f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "STATE")},
        }

    def agentm(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "agentm_assets.cli.entry", *arguments]
        return subprocess.run(
            command, env=self.env, capture_output=True, text=True, check=True
        ).stdout

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    @contextmanager
    def up(self) -> Iterator[None]:
        servers = subprocess.Popen(
            [sys.executable, "-m", "agentm_assets.cli.entry", "up", "--port", "0"],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert servers.stdout is not None
            servers.stdout.readline()
            yield
        finally:
            servers.send_signal(signal.SIGINT)
            servers.communicate(timeout=60)

    @contextmanager
    def runs(self) -> Iterator[DagsterInstance]:
        home = locate(self.env).dagster_home
        os.environ["DAGSTER_HOME"] = str(home)
        with DagsterInstance.from_config(str(home)) as instance:
            yield instance


def until(done: object, what: str) -> float:
    """Look until `done()`; the moment when it was so."""
    assert callable(done)
    deadline = time.time() + PATIENCE_SECONDS
    while not done():
        if time.time() > deadline:
            raise SystemExit(f"{what}: not within {PATIENCE_SECONDS:.0f} s")
        time.sleep(LOOK_SECONDS)
    return time.time()


def one(vault: Vault, number: int, instance: DagsterInstance) -> tuple[float, float, float]:
    """Seconds from a capture's return to judgment, commit and the end of the run."""
    jobs = RunsFilter(job_name="index_changes")
    before = len(instance.get_runs(jobs))
    saved = json.loads(
        vault.agentm("capture", TEXT.format(number=number), "--status", "unfiled", "--json")
    )
    began = time.time()
    name = Path(saved["path"]).name

    def judged() -> bool:
        places = vault.root.glob(f"Agent/memory/*/*/*/{name}")
        return any("enriched_by:" in place.read_text() for place in places)

    enriched = until(judged, "the judgment in the file")
    committed = until(
        lambda: (
            vault.git("log", "-1", "--format=%an").strip() == "agentm-enrich"
            and not vault.git("status", "--porcelain", "Agent/memory")
        ),
        "the commit",
    )
    until(
        lambda: (
            len(instance.get_runs(jobs)) > before
            and all(run.is_finished for run in instance.get_runs(jobs))
        ),
        "the end of the run",
    )
    (record,) = instance.get_run_records(jobs, limit=1)
    return enriched - began, committed - began, (record.end_time or 0.0) - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--notes", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agentm-bench-") as folder:
        vault = Vault(Path(folder))
        vault.agentm("init", str(vault.root))
        vault.agentm("index")
        with vault.up(), vault.runs() as instance:
            before = len(instance.get_runs())
            times = [one(vault, number, instance) for number in range(options.notes)]
            runs = len(instance.get_runs(RunsFilter(job_name="index_changes"))) - before
    enriched, committed, ended = zip(*times, strict=True)
    report(
        {
            "machine": machine(),
            "notes": options.notes,
            "runs": runs,
            "enriched_seconds": spread(enriched),
            "committed_seconds": spread(committed),
            "run_seconds": spread(ended),
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
