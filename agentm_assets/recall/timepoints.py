"""Single points and stretches of time that a text names, each as days. English and ISO dates."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from agentm_assets.recall.periods import (
    Period,
    day_of,
    month_of,
    months_of,
    shift_month,
    week_of,
    year_of,
)

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "a couple of": 2,
    "couple of": 2,
    "three": 3,
    "a few": 3,
    "few": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
}

_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>day|week|fortnight|month|year)s?"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"
_SEASON = rf"(?P<season>{'|'.join(_SEASONS)})"
# "in 2048 bits" and "since 2000 rows" name no year
_NOT_AMOUNT = (
    r"(?![\w.,:/-]*\d)(?!\s?%)(?![\s-](?:bits?|bytes?|[kmgt]i?b|lines?|rows?|chars?|characters?|"
    r"tokens?|words?|px|ms|files?|notes?|items?|steps?|records?|requests?|times|users?|people)\b)"
)


@dataclass(frozen=True, slots=True)
class TimePoint:
    """Days that the characters from `start` to `end` name.

    `relative`: they depend on today. `needs_cue`: too common as a plain word or number ("march",
    "2019") to be taken for a time without "in", "since" and the like before it.
    """

    start: int
    end: int
    period: Period
    relative: bool
    needs_cue: bool = False


_Resolve = Callable[[re.Match[str], date], Period | None]
_Kind = Literal["absolute", "relative", "bare"]


def time_points(text: str, today: date) -> list[TimePoint]:
    """All points and stretches of time that the text names, in order; the longest at each place."""
    found: list[TimePoint] = []
    for pattern, kind, resolve in _PATTERNS:
        for match in pattern.finditer(text):
            try:
                period = resolve(match, today)
            except (OverflowError, ValueError):
                continue  # outside the calendar: "999 years ago"
            if period is not None:
                found.append(
                    TimePoint(
                        match.start(), match.end(), period, kind == "relative", kind == "bare"
                    )
                )
    found.sort(key=lambda point: (point.start, -point.end))
    kept: list[TimePoint] = []
    for point in found:
        if not kept or point.start >= kept[-1].end:
            kept.append(point)
    return kept


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[" ".join(text.lower().split())]


def _month(match: re.Match[str]) -> int:
    return _MONTHS[match["month"].lower()]


def _day_month(match: re.Match[str], today: date) -> Period | None:
    return day_of(int(match["year"]), _month(match), int(match["day"]))


def _day_month_without_year(match: re.Match[str], today: date) -> Period | None:
    """The latest such day that is not in the future."""
    for year in (today.year, today.year - 1):
        period = day_of(year, _month(match), int(match["day"]))
        if period is not None and period.first is not None and period.first <= today:
            return period
    return None


def _month_without_year(match: re.Match[str], today: date) -> Period | None:
    month = _month(match)
    return month_of(today.year if month <= today.month else today.year - 1, month)


def _season_of(match: re.Match[str], today: date) -> Period | None:
    return months_of(int(match["year"]), _SEASONS[match["season"].lower()], 3)


def _last_season(match: re.Match[str], today: date) -> Period | None:
    month = _SEASONS[match["season"].lower()]
    for year in (today.year, today.year - 1, today.year - 2):
        period = months_of(year, month, 3)
        if period is not None and period.last is not None and period.last < today:
            return period
    return None


def _iso_week(match: re.Match[str], today: date) -> Period | None:
    return week_of(date.fromisocalendar(int(match["year"]), int(match["week"]), 1))


def _quarter(match: re.Match[str], today: date) -> Period | None:
    return months_of(int(match["year"]), int(match["quarter"]) * 3 - 2, 3)


def _ago(match: re.Match[str], today: date) -> Period | None:
    count, unit = _number(match["count"]), match["unit"].lower()
    if unit == "day":
        day = today - timedelta(days=count)
        return Period(day, day)
    if unit in ("week", "fortnight"):
        return week_of(today - timedelta(weeks=count * (2 if unit == "fortnight" else 1)))
    if unit == "month":
        return month_of(*shift_month(today.year, today.month, -count))
    return year_of(today.year - count)


def _last_few(match: re.Match[str], today: date) -> Period | None:
    """ "The last 3 weeks": from as long ago until today."""
    count, unit = _number(match.groupdict().get("count", "one")), match["unit"].lower()
    if unit in ("day", "week", "fortnight"):
        days = count * {"day": 1, "week": 7, "fortnight": 14}[unit]
        return Period(today - timedelta(days=days), today)
    months = count if unit == "month" else count * 12
    year, month = shift_month(today.year, today.month, -months)
    begin = month_of(year, month)
    if begin is None or begin.first is None or begin.last is None:
        return None
    return Period(begin.first.replace(day=min(today.day, begin.last.day)), today)


def _calendar_unit(match: re.Match[str], today: date) -> Period | None:
    """ "Last week", "this month", "last quarter": whole calendar units."""
    back = 0 if match["which"].lower() in ("this", "current") else 1
    unit = match["unit"].lower()
    if unit == "week":
        return week_of(today - timedelta(weeks=back))
    if unit == "weekend":
        return _weekend(match, today)
    if unit == "month":
        return month_of(*shift_month(today.year, today.month, -back))
    if unit == "quarter":
        first = (today.month - 1) // 3 * 3 + 1
        return months_of(*shift_month(today.year, first, -3 * back), 3)
    return year_of(today.year - back)


def _up_to_now(match: re.Match[str], today: date) -> Period | None:
    """ "In the last week": a whole calendar unit back for some, seven days for others; both."""
    unit = _calendar_unit(match, today)
    return None if unit is None else Period(unit.first, today)


def _weekend(match: re.Match[str], today: date) -> Period | None:
    saturday = today - timedelta(days=(today.weekday() - 5) % 7)
    return Period(saturday, saturday + timedelta(days=1))


def _last_weekday(match: re.Match[str], today: date) -> Period | None:
    """The latest such day before today."""
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"].lower()) - 1) % 7 + 1
    day = today - timedelta(days=back)
    return Period(day, day)


def _last_month_named(match: re.Match[str], today: date) -> Period | None:
    month = _month(match)
    return month_of(today.year if month < today.month else today.year - 1, month)


def _days_back(days: int) -> _Resolve:
    def resolve(match: re.Match[str], today: date) -> Period | None:
        day = today - timedelta(days=days)
        return Period(day, day)

    return resolve


def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w./#@-]){source}(?![\w@]|[-/]\w)", re.IGNORECASE)


_PATTERNS: tuple[tuple[re.Pattern[str], _Kind, _Resolve], ...] = (
    (
        _pattern(r"(?P<year>(?:19|20)\d\d)[-/](?P<month_no>\d\d)[-/](?P<day>\d\d)"),
        "absolute",
        lambda m, _: day_of(int(m["year"]), int(m["month_no"]), int(m["day"])),
    ),
    (
        _pattern(r"(?P<year>(?:19|20)\d\d)-(?P<month_no>0[1-9]|1[0-2])"),
        "absolute",
        lambda m, _: month_of(int(m["year"]), int(m["month_no"])),
    ),
    (_pattern(r"(?P<year>(?:19|20)\d\d)-?W(?P<week>\d\d)"), "absolute", _iso_week),
    (_pattern(rf"Q(?P<quarter>[1-4])(?:\s+of)?,?\s+{_YEAR}"), "absolute", _quarter),
    (_pattern(rf"{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}"), "absolute", _day_month),
    (_pattern(rf"{_MONTH}\s+(?:the\s+)?{_DAY},?\s+{_YEAR}"), "absolute", _day_month),
    (
        _pattern(rf"{_MONTH}(?:\s+of)?,?\s+{_YEAR}"),
        "absolute",
        lambda m, _: month_of(int(m["year"]), _month(m)),
    ),
    (_pattern(rf"{_SEASON}(?:\s+of)?\s+{_YEAR}"), "absolute", _season_of),
    (_pattern(rf"{_DAY}\s+(?:of\s+)?{_MONTH}"), "bare", _day_month_without_year),
    (_pattern(rf"{_MONTH}\s+(?:the\s+)?{_DAY}"), "bare", _day_month_without_year),
    (_pattern(_MONTH), "bare", _month_without_year),
    (_pattern(rf"{_YEAR}{_NOT_AMOUNT}"), "bare", lambda m, _: year_of(int(m["year"]))),
    (_pattern(r"today|this\s+(?:morning|afternoon|evening)|tonight"), "relative", _days_back(0)),
    (
        _pattern(r"yesterday(?:\s+(?:morning|afternoon|evening))?|last\s+night"),
        "relative",
        _days_back(1),
    ),
    (_pattern(r"(?:the\s+)?day\s+before\s+yesterday"), "relative", _days_back(2)),
    (_pattern(rf"{_COUNT}\s+{_UNIT}\s+ago"), "relative", _ago),
    (
        _pattern(rf"(?:the\s+)?(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}"),
        "relative",
        _last_few,
    ),
    (
        _pattern(r"(?:the\s+)?past\s+(?P<unit>day|week|fortnight|month|year)"),
        "relative",
        _last_few,
    ),
    (
        _pattern(r"the\s+(?P<which>last)\s+(?P<unit>week|month|quarter|year)"),
        "relative",
        _up_to_now,
    ),
    (_pattern(r"(?:over|at|on|during)\s+the\s+weekend"), "relative", _weekend),
    (
        _pattern(
            r"(?:the\s+)?(?P<which>last|previous|this|current)\s+"
            r"(?P<unit>weekend|week|month|quarter|year)"
        ),
        "relative",
        _calendar_unit,
    ),
    (_pattern(rf"(?:last|this\s+past|on)\s+{_WEEKDAY}"), "relative", _last_weekday),
    (_pattern(rf"last\s+{_SEASON}"), "relative", _last_season),
    (_pattern(rf"last\s+{_MONTH}"), "relative", _last_month_named),
)
