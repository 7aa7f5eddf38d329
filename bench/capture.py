"""What a capture costs: `python bench/capture.py VAULT [--runs 200] [--json]`.

VAULT is an indexed vault (`bench/scale_vault.py DIR 15000`, then `agentm index`). It is copied
beside itself together with its index first, since captures write: the copy is removed at the end.

- cli: whole processes of `agentm capture`, one after the other.
- in process: `capture()` in this process, as the server calls it.
- the same with the vault's lock held by another process.
- crowd: 16 processes that capture under one title at once, each note's text its own.
- found: a recall from a fresh process that must show the last capture first; it asks sideways,
  which takes an index with vectors.

Byte code is compiled before the first run, as an installation has it.
"""

import argparse
import compileall
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measure import machine, report, spread

from agentm_assets.capture.request import CaptureRequest
from agentm_assets.capture.transaction import capture
from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.storage.selection import open_backend

ROOT = Path(__file__).resolve().parents[1]
HOLD_SECONDS = 5.0

_HOLDER = """
import os, sys
from agentm_assets.config.vault import locate
from agentm_assets.storage.mutex import VaultMutex
from agentm_assets.storage.selection import open_backend
location = locate(os.environ)
with VaultMutex(open_backend(location).identity, location.locks_dir).held():
    print("held", flush=True)
    sys.stdin.read()
"""

_CROWD = """
import json, os, sys, time
from datetime import datetime, timezone
from agentm_assets.capture.request import CaptureRequest
from agentm_assets.capture.transaction import capture
from agentm_assets.config.vault import locate
location = locate(os.environ)
for number in range(int(sys.argv[2])):
    began = time.perf_counter()
    done = capture(
        CaptureRequest(f"{sys.argv[1]} says {number}\\n" + "word " * 80, title="One title for all"),
        location, os.environ, datetime.now(timezone.utc))
    print(json.dumps([time.perf_counter() - began, done.path]), flush=True)
"""


def text(number: int) -> str:
    """Some lines that no other capture holds."""
    return (
        f"Capture {number} of {time.time_ns()}: the kettle on bench {number % 17} boils late. "
        "Marit thinks of the probe, Bram of the lid.\n"
    )


def milliseconds(seconds: list[float]) -> dict[str, float | int]:
    found = {name: 1000 * value for name, value in spread(seconds).items()}
    return {"n": len(seconds), **found, "max": 1000 * max(seconds)}


def timed(work: Callable[[int], object], runs: int) -> list[float]:
    seconds: list[float] = []
    for number in range(runs):
        began = time.perf_counter()
        work(number)
        seconds.append(time.perf_counter() - began)
    return seconds


def whole_process(env: Mapping[str, str]) -> Callable[[int], object]:
    command = [sys.executable, "-m", "agentm_assets.cli.entry", "capture", "--json", "--source"]

    def once(number: int) -> object:
        return subprocess.run(
            [*command, f"bench {number}", text(number)], env=env, check=True, capture_output=True
        )

    return once


def in_process(location: VaultLocation, env: Mapping[str, str]) -> Callable[[int], object]:
    backend = open_backend(location)

    def once(number: int) -> object:
        request = CaptureRequest(text(number), captured_by="agent", source=f"bench {number}")
        return capture(request, location, env, datetime.now(UTC), backend=backend)

    return once


@contextlib.contextmanager
def lock_held(env: Mapping[str, str]) -> Iterator[None]:
    """Another process holds the vault's lock."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.stdin.close()


def under_lock(env: Mapping[str, str], work: Callable[[int], object]) -> list[float]:
    """As many as go into HOLD_SECONDS."""
    seconds: list[float] = []
    with lock_held(env):
        end = time.perf_counter() + HOLD_SECONDS
        while time.perf_counter() < end:
            seconds += timed(work, 1)
    return seconds


def crowd(env: Mapping[str, str], root: Path, processes: int, each: int) -> dict[str, Any]:
    began = time.perf_counter()
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _CROWD, str(number), str(each)], env=env, stdout=subprocess.PIPE
        )
        for number in range(processes)
    ]
    said = [json.loads(line) for each in running for line in each.communicate()[0].splitlines()]
    took = time.perf_counter() - began
    paths = {path for _, path in said}
    whole = sum((root / path).read_bytes().endswith(b"word ") for path in paths)
    return {
        **milliseconds([seconds for seconds, _ in said]),
        "files": len(paths),
        "whole": whole,
        "captures_a_second": len(said) / took,
    }


def found(env: Mapping[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "agentm_assets.cli.entry"]
    fact = "Marta can't eat peanuts: a crumb of them closes her throat."
    made = subprocess.run(
        [*command, "capture", fact, "--json"], env=env, check=True, capture_output=True
    )
    began = time.perf_counter()
    asked = subprocess.run(
        [*command, "recall", "Who has a food allergy?", "--json"],
        env=env,
        check=True,
        capture_output=True,
    )
    took = time.perf_counter() - began
    answer = json.loads(asked.stdout)
    first = [hit["path"] for hit in answer["hits"][:1]] == [json.loads(made.stdout)["path"]]
    return {"first": first, "mode": answer["mode"], "recall_ms": 1000 * took}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--runs", type=int, default=200, help="whole processes")
    parser.add_argument("--calls", type=int, default=1000, help="captures in this process")
    parser.add_argument("--crowd", type=int, default=200, help="captures of each of 16 processes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    compileall.compile_dir(ROOT / "agentm_assets", quiet=2)
    with tempfile.TemporaryDirectory(dir=options.vault.resolve().parent) as folder:
        env, location = copied(options.vault, Path(folder))
        cli, here = whole_process(env), in_process(location, env)
        cli(0)
        here(0)
        results: dict[str, Any] = {
            "machine": machine(),
            "cli": milliseconds(timed(cli, options.runs)),
            "in process": milliseconds(timed(here, options.calls)),
            "cli, lock held": milliseconds(under_lock(env, cli)),
            "in process, lock held": milliseconds(under_lock(env, here)),
            "found": found(env),
            "crowd": crowd(env, location.root, 16, options.crowd),
        }
    report(results, as_json=options.json)


def copied(vault: Path, folder: Path) -> tuple[dict[str, str], VaultLocation]:
    """A copy of the vault with its index, and the environment that leads to it."""
    original = locate({**os.environ, "AGENTM_VAULT": str(vault)})
    root = folder / "vault"
    shutil.copytree(vault, root)
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "AGENTM_VAULT": str(root),
        "XDG_STATE_HOME": str(folder / "state"),
    }
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    location = locate(env)
    shutil.copytree(original.index_dir, location.index_dir)
    return env, location


if __name__ == "__main__":
    main()
