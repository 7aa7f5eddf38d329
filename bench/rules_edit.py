"""An edit of the rules and the backfill after it: `python bench/rules_edit.py [--notes 1000]`.

A new vault under git in a folder that is removed at the end, with notes captured over twelve
months and judged. Then one number of the rules is edited, the stale notes are counted, a backfill
is killed once it has come half-way, and a second one does the rest.

- stale: what `agentm status` says after the edit.
- backfill: whole commands, the killed one until its end. `judged twice`: notes that both wrote.

The judge is the one that the environment configures: without a model, the extractive one.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from measure import machine, report

ROOT = Path(__file__).resolve().parents[1]
MONTHS = 12
LIMITS = "[profiles.default.enrichment.after_capture]\nnotes = 1000000\n"

NOTE = """---
type: reference
status: unfiled
captured: 2025-{month:02}-{day:02}T09:00:00Z
---
Kettle {number} failed with error E{number:04} and did not heat. The cause was a corroded relay on
board {number}. Fixed by replacing the relay; after that it works again.
"""


class Vault:
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

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "agentm_assets.cli.entry", *arguments]
        return subprocess.Popen(
            command,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def agentm(self, *arguments: str) -> Any:
        done = self.start(*arguments, "--json")
        printed = done.communicate()[0]
        if done.returncode:
            raise SystemExit(f"agentm {' '.join(arguments)}: exit {done.returncode}")
        return json.loads(printed)

    def judged_since(self, lines: int) -> Counter[str]:
        """How often each note was written by the pass, by the revert log after its first lines."""
        log = (self.root / "Agent/_meta/revert-log.jsonl").read_text().split("\n")[lines:]
        changes = [json.loads(line) for line in log if line]
        return Counter(each["path"] for each in changes if each["pass"] == "enrich")

    @property
    def log_lines(self) -> int:
        return (self.root / "Agent/_meta/revert-log.jsonl").read_bytes().count(b"\n")


def fill(vault: Vault, notes: int) -> None:
    for number in range(notes):
        month = number % MONTHS + 1
        place = vault.root / f"Agent/memory/procedural/2025/{month:02}/kettle-{number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        day = number // MONTHS % 28 + 1
        place.write_text(NOTE.format(month=month, day=day, number=number))


def killed(vault: Vault, lines: int, notes: int) -> float:
    """A backfill that is ended by SIGKILL once half of the notes are written."""
    began = time.perf_counter()
    process = vault.start("backfill")
    while process.poll() is None and vault.judged_since(lines).total() < notes // 2:
        time.sleep(0.05)
    if process.poll() is not None:
        raise SystemExit("the backfill ended before it could be killed: take more notes")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--notes", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agentm-bench-") as folder:
        vault = Vault(Path(folder))
        vault.agentm("init", str(vault.root))
        config = Path(folder) / "config/agentm/agentm.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        with config.open("a") as file:
            file.write(f"\n{LIMITS}")
        fill(vault, options.notes)
        began = time.perf_counter()
        first = vault.agentm("index")
        indexed = time.perf_counter() - began
        rules = vault.root / "standards/storage-rules.md"
        rules.write_text(rules.read_text().replace("confidence: 0.65", "confidence: 0.64"))
        before = vault.agentm("status")
        lines = vault.log_lines
        half = killed(vault, lines, options.notes)
        first_half = vault.judged_since(lines)
        left = vault.agentm("backfill", "--dry-run")
        began = time.perf_counter()
        done = vault.agentm("backfill")
        rest = time.perf_counter() - began
        after = vault.agentm("status")
        written = vault.judged_since(lines)
    report(
        {
            "machine": machine(),
            "first index, judging all": {"seconds": indexed, "judged": first["judged"]},
            "stale": {
                "notes": before["stale_notes"],
                "because": ", ".join(what for b in before["stale_because"] for what in b["what"]),
            },
            "killed backfill": {"seconds": half, "written": len(first_half)},
            "left by a dry run": sum(left["stale"].values()),
            "second backfill": {
                "seconds": rest,
                "runs": len(done["runs"]),
                "judged": sum(run["enriched"] for run in done["runs"]),
            },
            "judged twice": sum(times > 1 for times in written.values()),
            "stale in the end": after["stale_notes"],
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
