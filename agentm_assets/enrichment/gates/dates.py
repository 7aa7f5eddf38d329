"""Dates in a text, whatever their notation, so that `3 March 2026` may become `2026-03-03`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTH: Final = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
)
_YEAR: Final = r"(?:19|20)\d\d"
_DATE = re.compile(
    rf"(?<![\w.-])(?:(?P<iso>{_YEAR}-\d\d(?:-\d\d)?)(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?"
    rf"|(?P<slashed>{_YEAR}/\d\d/\d\d)"
    rf"|(?P<european>\d{{1,2}}\.[ ]?\d{{1,2}}\.[ ]?{_YEAR})"
    rf"|(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?[ ](?:of[ ])?(?P<month>{_MONTH})\.?,?[ ]"
    rf"(?P<year>{_YEAR})"
    rf"|(?P<month2>{_MONTH})\.?[ ](?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?[ ](?P<year2>{_YEAR})"
    rf"|(?P<month3>{_MONTH})\.?,?[ ](?P<year3>{_YEAR}))(?![\w-])"
)


@dataclass(frozen=True, slots=True)
class DateFound:
    """`iso`: `2026-03-03`, or `2026-03` where the text names no day."""

    start: int
    end: int
    iso: str


def find_dates(text: str) -> Iterator[DateFound]:
    for match in _DATE.finditer(text):
        yield DateFound(match.start(), match.end(), _iso(match))


def _iso(match: re.Match[str]) -> str:
    if match["iso"]:
        return match["iso"]
    if match["slashed"]:
        return match["slashed"].replace("/", "-")
    if match["european"]:
        day, month, year = match["european"].replace(" ", "").split(".")
        return f"{year}-{int(month):02}-{int(day):02}"
    if match["month3"]:
        return f"{match['year3']}-{_month(match['month3']):02}"
    month = _month(match["month"] or match["month2"])
    day = int(match["day"] or match["day2"])
    return f"{match['year'] or match['year2']}-{month:02}-{day:02}"


def month_of(word: str) -> int | None:
    """The number of a month by its English name, None for any other word."""
    folded = word.casefold()
    return _month(folded) if folded in _MONTHS else None


def _month(name: str) -> int:
    short = name.casefold()[:3]
    return next(at for at, month in enumerate(_MONTHS, 1) if month.startswith(short))
