"""Bars: what a run must reach, written down before its first question.

`paraphrase.hit@5>=.9` names a measure of the run and the figure that it must not fall below
(`>=`) or exceed (`<=`).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

_BAR = re.compile(r"\s*(\S(?:.*\S)?)\s*(>=|<=)\s*([0-9]*\.?[0-9]+)\s*")
_ROUNDING = 1e-9


class BarUnusable(Exception):
    """A bar can't be measured; the text says why."""


@dataclass(frozen=True, slots=True)
class Bar:
    text: str
    measure: str
    at_least: bool
    limit: float

    def met_by(self, value: float | None) -> bool:
        """A figure over no questions meets no bar."""
        if value is None:
            return False
        if self.at_least:
            return value >= self.limit - _ROUNDING
        return value <= self.limit + _ROUNDING


@dataclass(frozen=True, slots=True)
class Judged:
    bar: Bar
    measured: float | None

    @property
    def met(self) -> bool:
        return self.bar.met_by(self.measured)

    def json(self) -> dict[str, object]:
        return {"bar": self.bar.text, "measured": self.measured, "met": self.met}


@dataclass(frozen=True, slots=True)
class BarsJudged:
    """`written`: when the bars were written down, ISO 8601."""

    written: str
    each: tuple[Judged, ...]

    @property
    def met(self) -> bool:
        return all(judged.met for judged in self.each)

    def json(self) -> dict[str, object]:
        return {
            "written": self.written,
            "met": self.met,
            "each": [judged.json() for judged in self.each],
        }


def parse_bar(text: str) -> Bar:
    """Raises BarUnusable."""
    found = _BAR.fullmatch(text)
    if found is None:
        raise BarUnusable(
            f"{text!r} is no bar. Write a measure, >= or <=, and a number, for instance "
            "all.hit@5>=.9 or latency.p95_ms<=60."
        )
    return Bar(text.strip(), found[1], found[2] == ">=", float(found[3]))


def parse_bars(text: str) -> tuple[Bar, ...]:
    """A file of bars, one a line; blank lines and lines that begin with `#` are left out. Raises
    BarUnusable."""
    lines = [line.strip() for line in text.replace("\r", "\n").split("\n")]
    return tuple(parse_bar(line) for line in lines if line and not line.startswith("#"))


def require_measures(bars: Sequence[Bar], names: Collection[str]) -> None:
    """Raises BarUnusable for a measure that the run won't have."""
    for bar in bars:
        if bar.measure not in names:
            near = get_close_matches(bar.measure, names, 3, 0.4) or sorted(names)[:6]
            raise BarUnusable(
                f"the bar {bar.text} names {bar.measure!r}, which this run does not measure. "
                f"Nothing was asked. Near it: {', '.join(near)}."
            )


def judge(bars: Sequence[Bar], measures: Mapping[str, float | None], written: str) -> BarsJudged:
    """A measure that is not there (nothing of its stratum was asked) meets no bar."""
    return BarsJudged(written, tuple(Judged(bar, measures.get(bar.measure)) for bar in bars))
