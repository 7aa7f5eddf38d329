"""What all benchmarks share: timing, spread, memory, the machine, and how results are shown."""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Cost:
    """`wall` and `cpu` in seconds; `cpu` counts this process and its ended children. `written`:
    bytes handed to the kernel by this process, 0 where there is no /proc."""

    wall: float
    cpu: float
    written: int


def measured(work: Callable[[], Result]) -> tuple[Result, Cost]:
    """Run it once."""
    written, cpu, wall = _written(), _cpu(), time.perf_counter()
    result = work()
    return result, Cost(time.perf_counter() - wall, _cpu() - cpu, _written() - written)


def summed(costs: Sequence[Cost]) -> Cost:
    """Several steps as one."""
    return Cost(
        sum(c.wall for c in costs), sum(c.cpu for c in costs), sum(c.written for c in costs)
    )


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, and the 95th percentile (the nearest rank)."""
    ordered = sorted(values)
    return {
        "p50": statistics.median(ordered),
        "p95": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
    }


def peak_mb() -> dict[str, float]:
    """The most memory this process has had resident so far, and its largest ended child."""
    return {
        "self": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "largest_child": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }


def resident_mb() -> dict[str, float]:
    """What is resident now: `own` memory, and pages `mapped` from files, which may be dropped."""
    lines = Path("/proc/self/status").read_text("ascii").split("\n")
    found = {line.split(":")[0]: line.split() for line in lines if line.startswith("Rss")}
    return {"own": int(found["RssAnon"][1]) / 1024, "mapped": int(found["RssFile"][1]) / 1024}


TELLING_PEAK = """
import atexit, runpy, sys
from pathlib import Path
def tell():
    print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0], file=sys.stderr)
atexit.register(tell)
"""
"""Begins a script for `python -c` that tells its peak of resident memory (KB) on stderr at its end.
The kernel's own count for an ended child would hold that of the process that started it."""


def cold_process(command: Sequence[str], env: Mapping[str, str]) -> tuple[bytes, Cost, float]:
    """Run a script that begins with TELLING_PEAK: what it prints, its cost, and its peak in MB."""
    done, cost = measured(
        lambda: subprocess.run(
            [sys.executable, "-c", *command], env=env, capture_output=True, check=False
        )
    )
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return done.stdout, cost, int(done.stderr.split()[-1]) / 1024


def machine() -> dict[str, Any]:
    """What ran it, and how busy that is now (load averages of 1, 5 and 15 minutes)."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": [round(value, 2) for value in os.getloadavg()],
    }


def report(results: Mapping[str, Any], *, as_json: bool) -> None:
    """Print results (nested mappings of numbers and texts), as JSON or as a table."""
    if as_json:
        print(json.dumps(results, indent=1, default=asdict))
        return
    rows = [
        (name, cells if isinstance(cells, Mapping) else {"": cells})
        for name, cells in results.items()
    ]
    width = max(len(name) for name, _ in rows)
    for name, cells in rows:
        shown = "  ".join(f"{key} {_shown(value)}".strip() for key, value in cells.items())
        print(f"{name:<{width}}  {shown}")


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _cpu() -> float:
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


def _written() -> int:
    counters = Path("/proc/self/io")
    if not counters.exists():
        return 0
    return int(counters.read_text("ascii").split("wchar:")[1].split()[0])
