"""The history of scores: `log/evaluations.jsonl` beside the index, appended to and never rewritten.

A run enters what it is held to before its first question, and what it found after its last: one
that was ended in between leaves its bars behind. Deleting the index does not touch this file.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from agentm_assets.capture.files import append_line
from agentm_assets.config.vault import VaultLocation
from agentm_assets.evaluation.saved import Kind

LOG = "evaluations.jsonl"
_VERSION = 1
_READ = 16 * 1024 * 1024  # bytes, the newest: some 10,000 runs


@dataclass(frozen=True, slots=True)
class Begun:
    """A run as it stood before its first question. `at` is that moment, `trigger` "cli" or
    "dagster"."""

    run: str
    at: str
    trigger: str
    kind: Kind
    name: str
    corpus_sha256: str
    seed: int
    bars: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A run of the history. `measures` is empty and `why` says what happened for a run without a
    result: it was void, or it was ended."""

    begun: Begun
    ended: str | None
    mode: str | None
    measures: Mapping[str, float | None] = field(default_factory=dict)
    met: bool | None = None
    lost: int | None = None
    gained: int | None = None
    why: str | None = None

    def json(self) -> dict[str, object]:
        return {
            "run": self.begun.run,
            "at": self.begun.at,
            "ended": self.ended,
            "trigger": self.begun.trigger,
            "kind": self.begun.kind,
            "set": self.begun.name,
            "corpus_sha256": self.begun.corpus_sha256,
            "seed": self.begun.seed,
            "bars": list(self.begun.bars),
            "met": self.met,
            "mode": self.mode,
            "measures": dict(self.measures),
            "gained": self.gained,
            "lost": self.lost,
            "why": self.why,
        }


def new_run(kind: Kind, now: datetime) -> str:
    """Such as gold-20260412T081500Z-3f9a2c."""
    return f"{kind}-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{os.urandom(3).hex()}"


class ScoreLog:
    """The history of one vault."""

    def __init__(self, location: VaultLocation) -> None:
        self.file: Path = location.log_dir / LOG

    def enter(self, entry: Entry) -> None:
        """Append an entry; one without `ended` says what a run is held to. Raises OSError."""
        line = {"v": _VERSION, **entry.json()}
        append_line(self.file, json.dumps(line, ensure_ascii=True))

    def read(self, limit: int) -> list[Entry]:
        """The latest runs, oldest first. Lines that something tore are left out. Raises OSError,
        but for a log that is not there yet."""
        try:
            with self.file.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - _READ))
                data = file.read(_READ)
        except FileNotFoundError:
            return []
        found: dict[str, Entry] = {}
        for line in data.split(b"\n"):
            entry = _entry(line)
            if entry is not None:
                found[entry.begun.run] = entry
        return sorted(found.values(), key=lambda entry: entry.begun.at)[-limit:]


def _entry(line: bytes) -> Entry | None:
    """What a line says; None for a blank or torn one and for one of a later version."""
    try:
        written = json.loads(line)
        if written["v"] != _VERSION:
            return None
        kind: Kind = written["kind"]
        if kind not in _FIGURES:
            return None
        begun = Begun(
            run=str(written["run"]),
            at=str(written["at"]),
            trigger=str(written["trigger"]),
            kind=kind,
            name=str(written["set"]),
            corpus_sha256=str(written["corpus_sha256"]),
            seed=int(written["seed"]),
            bars=tuple(str(bar) for bar in written["bars"]),
        )
        return Entry(
            begun=begun,
            ended=written["ended"],
            mode=written["mode"],
            measures=dict(written["measures"]),
            met=written["met"],
            lost=written["lost"],
            gained=written["gained"],
            why=written["why"] if written["ended"] else "it was ended before its last question",
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


_SHOWN = 80  # characters of a reason in a table; the history has all of it
TREND = ("at", "set", "n", "@5", "MRR", "p95 ms", "bars", "gained", "lost", "corpus", "mode", "why")
_FIGURES: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {
        "gold": ("all.n", "all.hit@5", "all.mrr", "latency.p95_ms"),
        "known": ("all.n", "all.hit@5", "all.mrr", "latency.p95_ms"),
        "locomo": ("turn.n", "turn.r@5", "turn.mrr", "latency.p95_ms"),
    }
)


def trend(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """Rows for a table under TREND. @5 is hit@5, for LoCoMo the share of evidence (r@5)."""
    return [
        (
            entry.begun.at[:16].replace("T", " "),
            entry.begun.name,
            *(_figure(entry.measures.get(name)) for name in _FIGURES[entry.begun.kind]),
            "-" if entry.met is None else "met" if entry.met else "missed",
            _figure(entry.gained),
            _figure(entry.lost),
            entry.begun.corpus_sha256[:8],
            entry.mode or "-",
            (entry.why or "")[:_SHOWN],
        )
        for entry in entries
    ]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
