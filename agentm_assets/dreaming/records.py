"""What the stages did, night by night: `log/dreaming.jsonl`, one line a stage that ran.

It lies beside the index, not in it: the breaker's idea of what is normal, and the trends of the
reports, outlive a deleted index. The dated scorecards repeat it for the loss of this machine.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from agentm_assets.config.vault import VaultLocation

FILE_NAME: Final = "dreaming.jsonl"
VERSION: Final = 1

Measured = int | float | str


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One stage of one night.

    `planned` counts the files that it wanted to change, `applied` those it changed, `held` those
    the cap left for the next night; `skipped` counts the others by reason. `anomaly`: the breaker
    tripped, nothing was applied and the count is not learned. `waiting_for_model`: targets that
    need a model which nobody configured, or whose batch is under way. `parked`: dead letters that
    surfaced, "owner: target (error)". `measured`: the numbers of a meter. `error`: why it could
    not be run, "" when it was. `at`: UTC, ISO 8601.
    """

    night: str
    at: str
    stage: str
    version: str
    planned: int
    applied: int
    held: int
    anomaly: bool
    waiting_for_model: int
    seconds: float
    run_id: str | None = None
    limit: float | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    parked: Sequence[str] = ()
    measured: Mapping[str, Measured] = field(default_factory=dict)
    spent: Mapping[str, Measured] = field(default_factory=dict)
    error: str = ""

    def line(self) -> bytes:
        written = json.dumps({"v": VERSION, **asdict(self)}, ensure_ascii=False)
        return written.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class NightRecord:
    """The stages of a night in the order in which they ran. `night`: its id, that of the run."""

    night: str
    stages: tuple[StageRecord, ...]

    @property
    def at(self) -> str:
        return self.stages[0].at

    @property
    def applied(self) -> int:
        return sum(stage.applied for stage in self.stages)

    @property
    def held(self) -> int:
        return sum(stage.held for stage in self.stages)

    @property
    def seconds(self) -> float:
        return sum(stage.seconds for stage in self.stages)


def append(location: VaultLocation, record: StageRecord) -> None:
    """Add a line; on return it is on the disk. Raises OSError."""
    file = _file(location)
    file.parent.mkdir(parents=True, exist_ok=True)
    torn = file.exists() and file.stat().st_size > 0 and _last_byte(file) != b"\n"
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        os.write(handle, (b"\n" if torn else b"") + record.line() + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)


def stage_records(location: VaultLocation, since: datetime | None = None) -> list[StageRecord]:
    """The records, oldest first. Lines that are torn or of a later version are left out."""
    try:
        data = _file(location).read_bytes()
    except FileNotFoundError:
        return []
    found = [record for record in map(parse, data.split(b"\n")) if record is not None]
    if since is None:
        return found
    start = moment(since)
    return [record for record in found if record.at >= start]


def nights(location: VaultLocation, since: datetime | None = None) -> list[NightRecord]:
    """The nights, oldest first."""
    by_night: dict[str, list[StageRecord]] = {}
    for record in stage_records(location, since):
        by_night.setdefault(record.night, []).append(record)
    return [NightRecord(night, tuple(stages)) for night, stages in by_night.items()]


def normal_counts(records: Sequence[StageRecord], stage: str) -> list[int]:
    """How many changes the stage planned in the cycles that were no anomaly, oldest first."""
    return [record.planned for record in records if record.stage == stage and not record.anomaly]


def moment(now: datetime) -> str:
    """UTC, seconds, "Z"."""
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse(line: bytes) -> StageRecord | None:
    """What a line says; None for one that can't be used."""
    try:
        written: Any = json.loads(line)
        if written.pop("v") != VERSION:
            return None
        return StageRecord(**written)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _file(location: VaultLocation) -> Path:
    return location.log_dir / FILE_NAME


def _last_byte(file: Path) -> bytes:
    with file.open("rb") as handle:
        handle.seek(-1, os.SEEK_END)
        return handle.read(1)
