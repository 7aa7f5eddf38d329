"""What a run costs: how long its recalls took, and how much memory the process used."""

import math
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

_STATUS = Path("/proc/self/status")


class Stopwatch:
    """Times calls, one after the other."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def timed(self, call: Callable[[], Result]) -> Result:
        began = time.perf_counter()
        result = call()
        self.seconds.append(time.perf_counter() - began)
        return result


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of the recalls, those of the control included, and megabytes (2^20 bytes).

    `first_ms` is the first recall of the process, which loads what the others find loaded; it is
    left out of the percentiles. `peak_mb` is the most that the process ever had resident, with
    whatever else it did (building an index, the BM25 floor); `own_mb` and `mapped_mb` are its own
    pages and the mapped files at the end, None where the system does not tell.
    """

    calls: int
    seconds: float  # of all calls
    first_ms: float | None
    p50_ms: float | None
    p95_ms: float | None
    peak_mb: float
    own_mb: float | None
    mapped_mb: float | None

    @classmethod
    def of(cls, watch: Stopwatch) -> "Cost":
        first, later = watch.seconds[:1], watch.seconds[1:]
        own, mapped = _resident("RssAnon"), _resident("RssFile")
        return cls(
            calls=len(watch.seconds),
            seconds=sum(watch.seconds),
            first_ms=_ms(first[0]) if first else None,
            p50_ms=_ms(percentile(later, 50)) if later else None,
            p95_ms=_ms(percentile(later, 95)) if later else None,
            peak_mb=_peak(),
            own_mb=own,
            mapped_mb=mapped,
        )

    def json(self) -> dict[str, object]:
        return {
            "latency": {
                "calls": self.calls,
                "first_ms": self.first_ms,
                "p50_ms": self.p50_ms,
                "p95_ms": self.p95_ms,
            },
            "memory": {
                "peak_mb": self.peak_mb,
                "own_mb": self.own_mb,
                "mapped_mb": self.mapped_mb,
            },
        }


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that so many percent do not exceed (nearest rank). `values` not empty."""
    return sorted(values)[max(1, math.ceil(len(values) * percent / 100)) - 1]


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def _peak() -> float:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def _resident(field: str) -> float | None:
    try:
        lines = _STATUS.read_text("ascii", "replace").split("\n")
    except OSError:
        return None  # only Linux tells
    found = next((line.split() for line in lines if line.startswith(f"{field}:")), None)
    return round(int(found[1]) / 1024, 1) if found else None
