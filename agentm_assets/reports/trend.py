"""The history of the figures, read back from the dated scorecards, as rows with a line to see."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError

from agentm_assets.reports.day import VERSION, Day
from agentm_assets.reports.pages import blocks
from agentm_assets.storage.seam import StorageBackend

DAYS: Final = 31
"""How far back a row goes: a month."""

_BARS: Final = "▁▂▃▄▅▆▇█"
_GAP: Final = "·"


@dataclass(frozen=True, slots=True)
class Series:
    """A figure that is trended. `digits`: behind the point."""

    name: str
    shown: str
    digits: int = 0


PERFORMANCE: Final = (
    Series("recall_p95_ms", "recall, 95th percentile (ms)", 1),
    Series("recall_hit5", "gold set, right note in the first five", 3),
    Series("recall_mrr", "gold set, mean reciprocal rank", 3),
    Series("capture_ms", "capture (ms)", 1),
    Series("ingest_ms", "ingestion: from capture to served (ms)", 0),
    Series("mcp_ms", "MCP call (ms)", 1),
    Series("probe_seconds", "round trip (s)", 2),
)
CORPUS: Final = (
    Series("memories", "memories"),
    Series("active", "active"),
    Series("unfiled", "unfiled"),
    Series("connected_share", "connected share", 3),
    Series("links", "links"),
    Series("notes", "notes of the whole vault"),
    Series("megabytes", "megabytes", 2),
)
SERIES: Final[Mapping[str, Series]] = MappingProxyType(
    {each.name: each for each in (*PERFORMANCE, *CORPUS)}
)


def read_days(backend: StorageBackend) -> dict[date, Day]:
    """The days that the scorecards tell of, oldest first; what can't be understood is left out.
    Raises StorageError."""
    found: dict[date, Day] = {}
    for written, block in blocks(backend, "health").items():
        day = parse_day(block)
        if day is not None and day.date == written:
            found[date.fromisoformat(written)] = day
    return found


def parse_day(block: Mapping[str, Any]) -> Day | None:
    """The figures of a block; None for one of a later version, or damaged."""
    try:
        day = Day.model_validate(block)
        date.fromisoformat(day.date)
    except (ValidationError, ValueError):
        return None
    return day if day.v == VERSION else None


def rows(
    days: Mapping[date, Day], today: date, series: Sequence[Series]
) -> list[tuple[str, str, str, str, str, str]]:
    """Name, today, yesterday, a week and a month ago, and the line of the month; figures that no
    day has are left out. A day without a scorecard is a gap, not a nought."""
    found = []
    for each in series:
        values = history(days, today, lambda day, each=each: day.figures.get(each.name))  # type: ignore[misc]
        if all(value is None for value in values):
            continue
        shown = [_figure(values[-1 - back], each.digits) for back in (0, 1, 7, 30)]
        found.append((each.shown, *shown, f"`{sparkline(values)}`"))
    return found  # type: ignore[return-value]


def history(
    days: Mapping[date, Day], today: date, value: Callable[[Day], float | None]
) -> list[float | None]:
    """The values of the last DAYS days, today last; None for a day without."""
    found: list[float | None] = []
    for back in range(DAYS - 1, -1, -1):
        day = days.get(today - timedelta(days=back))
        found.append(None if day is None else value(day))
    return found


def sparkline(values: Sequence[float | None]) -> str:
    """A bar a value between the least and the greatest; a dot for a day without one. Days before
    the first value are left out."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    first = next(number for number, value in enumerate(values) if value is not None)
    low, width = min(known), max(known) - min(known)
    return "".join(
        _GAP
        if value is None
        else _BARS[3 if not width else round((value - low) / width * (len(_BARS) - 1))]
        for value in values[first:]
    )


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"
