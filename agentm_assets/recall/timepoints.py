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
    "couple": 2,
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
_DAY_NTH = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>day|week|fortnight|month|quarter|year)s?"
_HALVES = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "last": 2}
_QUARTERS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4}
_QUARTERS |= {"4th": 4, "last": 4}
_FEASTS = (
    r"(?P<feast>christmas(?:\s+eve)?|boxing\s+day|new\s+year'?s?(?:\s+(?:eve|day))?|halloween|easter|"
    r"thanksgiving|valentine'?s(?:\s+day)?)"
)
# "a list of Christmas presents"
_NO_FEAST = (
    r"(?!\s+(?:presents?|gifts?|cards?|trees?|cookies|cakes?|part(?:y|ies)|dinners?|lunch|songs?|"
    r"carols?|eggs?|bunn(?:y|ies)|decorations?|markets?|costumes?|lights?|recipes?|resolutions?)\b)"
)
_AND = r"\s*(?:and|to|until|till|through|[-–—])\s*"
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
    "2019") to be taken for a time without "in", "since" and the like before it. `assumed`: what was
    taken for granted where a date can be read in two ways.
    """

    start: int
    end: int
    period: Period
    relative: bool
    needs_cue: bool = False
    assumed: str | None = None


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
                        match.start(),
                        match.end(),
                        period,
                        kind == "relative",
                        kind == "bare",
                        _assumed(match, period),
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


def _assumed(match: re.Match[str], period: Period) -> str | None:
    """What a date such as 5/7/2023 was taken for; None where there is but one way to read it."""
    parts = match.groupdict()
    if "slash_month" not in parts or period.first is None:
        return None
    first, second = int(parts["slash_month"]), int(parts["slash_day"])
    if first > 12 or second > 12 or first == second:
        return None
    return f"{match[0]} was read as {period.first.isoformat()}, the month first"


def _slashed_day(match: re.Match[str], today: date) -> Period | None:
    """Month first, as in the United States, unless only the other order is a date."""
    first, second = int(match["slash_month"]), int(match["slash_day"])
    year = int(match["year"])
    return day_of(year, first, second) or day_of(year, second, first)


def _days_of_month(match: re.Match[str], today: date) -> Period | None:
    """ "3 to 7 May 2024"."""
    last = (_day_month if match["year"] else _day_month_without_year)(match, today)
    if last is None or last.first is None:
        return None
    first = day_of(last.first.year, last.first.month, int(match["from_day"]))
    return _span(first, last)


def _months_of_year(match: re.Match[str], today: date) -> Period | None:
    """ "May to July 2024", "between November and February 2024"."""
    year, first, last = int(match["year"]), _MONTHS[match["from_month"].lower()], _month(match)
    return _span(month_of(year if first <= last else year - 1, first), month_of(year, last))


def _span(first: Period | None, last: Period | None) -> Period | None:
    if first is None or last is None:
        return None
    period = Period(first.first, last.last)
    return None if period.is_empty else period


def _day_without_month(match: re.Match[str], today: date) -> Period | None:
    """ "On the 7th": the latest one that is not in the future."""
    for back in range(3):
        period = day_of(*shift_month(today.year, today.month, -back), int(match["day"]))
        if period is not None and period.first is not None and period.first <= today:
            return period
    return None


def _feast_of_year(match: re.Match[str], today: date) -> Period | None:
    return _feast(match, int(match["year"]))


def _latest_feast(match: re.Match[str], today: date) -> Period | None:
    """The latest that has begun; an "last" before it asks for one that is over."""
    for year in (today.year, today.year - 1):
        period = _feast(match, year)
        if period is not None and period.first is not None and period.first <= today:
            return period
    return None


def _feast(match: re.Match[str], year: int) -> Period | None:
    name = " ".join(match["feast"].lower().replace("'", "").split())
    if name.startswith("new year"):
        return day_of(year, 12, 31) if name.endswith("eve") else day_of(year, 1, 1)
    if name == "easter":
        sunday = _easter(year)
        return Period(sunday - timedelta(days=2), sunday + timedelta(days=1))
    if name == "thanksgiving":
        first = date(year, 11, 1)
        thursday = first + timedelta(days=(3 - first.weekday()) % 7 + 21)
        return Period(thursday, thursday)
    if name == "christmas":
        return Period(date(year, 12, 24), date(year, 12, 26))
    days = {
        "christmas eve": (12, 24),
        "boxing day": (12, 26),
        "halloween": (10, 31),
        "valentines": (2, 14),
        "valentines day": (2, 14),
    }
    return day_of(year, *days[name])


def _easter(year: int) -> date:
    """Sunday of the Gregorian Easter (the anonymous algorithm, Meeus)."""
    century, rest = divmod(year, 100)
    moon = (
        19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15
    ) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (year % 19 + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)


def _season_of(match: re.Match[str], today: date) -> Period | None:
    return months_of(int(match["year"]), _SEASONS[match["season"].lower()], 3)


def _last_season(match: re.Match[str], today: date) -> Period | None:
    month = _SEASONS[match["season"].lower()]
    for year in (today.year, today.year - 1, today.year - 2):
        period = months_of(year, month, 3)
        if period is not None and period.last is not None and period.last < today:
            return period
    return None


def _latest_season(match: re.Match[str], today: date) -> Period | None:
    """ "In the summer", "this summer": the latest that has begun."""
    month = _SEASONS[match["season"].lower()]
    for year in (today.year, today.year - 1):
        period = months_of(year, month, 3)
        if period is not None and period.first is not None and period.first <= today:
            return period
    return None


def _decade(match: re.Match[str], today: date) -> Period | None:
    year = int(match["decade"]) * 10
    return months_of(year, 1, 120)


def _iso_week(match: re.Match[str], today: date) -> Period | None:
    return week_of(date.fromisocalendar(int(match["year"]), int(match["week"]), 1))


def _latest_iso_week(match: re.Match[str], today: date) -> Period | None:
    for year in (today.year, today.year - 1):
        try:
            monday = date.fromisocalendar(year, int(match["week"]), 1)
        except ValueError:
            continue  # not every year has a week 53
        if monday <= today:
            return week_of(monday)
    return None


def _quarter(match: re.Match[str], today: date) -> Period | None:
    return months_of(int(match["year"]), _quarter_number(match) * 3 - 2, 3)


def _latest_quarter(match: re.Match[str], today: date) -> Period | None:
    month = _quarter_number(match) * 3 - 2
    return months_of(today.year if month <= today.month else today.year - 1, month, 3)


def _quarter_number(match: re.Match[str]) -> int:
    text = match["quarter"].lower()
    return int(text) if text.isdigit() else _QUARTERS[text]


def _half(match: re.Match[str], today: date) -> Period | None:
    half = int(match["half"]) if match["half"] else _HALVES[match["named"].lower()]
    return months_of(int(match["year"]), half * 6 - 5, 6)


def _ago(match: re.Match[str], today: date) -> Period | None:
    count, unit = _number(match["count"]), match["unit"].lower()
    if unit == "day":
        day = today - timedelta(days=count)
        return Period(day, day)
    if unit in ("week", "fortnight"):
        return week_of(today - timedelta(weeks=count * (2 if unit == "fortnight" else 1)))
    if unit == "month":
        return month_of(*shift_month(today.year, today.month, -count))
    if unit == "quarter":
        first = (today.month - 1) // 3 * 3 + 1
        return months_of(*shift_month(today.year, first, -3 * count), 3)
    return year_of(today.year - count)


def _last_few(match: re.Match[str], today: date) -> Period | None:
    """ "The last 3 weeks": from as long ago until today."""
    count, unit = _number(match.groupdict().get("count", "one")), match["unit"].lower()
    if unit in ("day", "week", "fortnight"):
        days = count * {"day": 1, "week": 7, "fortnight": 14}[unit]
        return Period(today - timedelta(days=days), today)
    months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
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


def _before_last(match: re.Match[str], today: date) -> Period | None:
    """ "The week before last"."""
    unit = match["unit"].lower()
    if unit == "week":
        return week_of(today - timedelta(weeks=2))
    if unit == "month":
        return month_of(*shift_month(today.year, today.month, -2))
    return year_of(today.year - 2)


def _earlier(match: re.Match[str], today: date) -> Period | None:
    """ "Earlier this year": from its beginning until today."""
    unit = _calendar_unit(match, today)
    return None if unit is None else Period(unit.first, today)


def _other_day(match: re.Match[str], today: date) -> Period | None:
    """ "The other day", "the other week": a matter of days or of weeks, and not today."""
    days = 35 if match["unit"].lower() == "week" else 14
    return Period(today - timedelta(days=days), today - timedelta(days=1))


def _weekday_of_week(match: re.Match[str], today: date) -> Period | None:
    which, weekday = (match["which"] or match["which2"]), (match["weekday"] or match["weekday2"])
    monday = today - timedelta(days=today.weekday(), weeks=0 if which.lower() == "this" else 1)
    day = monday + timedelta(days=_WEEKDAYS.index(weekday.lower()))
    return Period(day, day)


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
    # "mid-May" is a word with a joint that holds one
    start = r"(?:(?<![\w./#@-])|(?<=\bmid-)|(?<=\blate-)|(?<=\bearly-))"
    return re.compile(rf"{start}{source}(?![\w@]|[-/]\w)", re.IGNORECASE)


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
    (
        _pattern(rf"(?:calendar\s+)?week\s+(?P<week>\d\d?)(?:\s+of|,)?\s+{_YEAR}"),
        "absolute",
        _iso_week,
    ),
    (_pattern(r"(?:calendar\s+week|cw)\s*(?P<week>\d\d?)"), "relative", _latest_iso_week),
    (_pattern(r"week\s+(?P<week>\d\d?)"), "bare", _latest_iso_week),
    (
        _pattern(rf"(?P<day>\d\d?)([.-])(?P<month_no>\d\d?)\2{_YEAR}(?!\.\d)"),
        "absolute",
        lambda m, _: day_of(int(m["year"]), int(m["month_no"]), int(m["day"])),
    ),
    (
        _pattern(rf"(?P<slash_month>\d\d?)/(?P<slash_day>\d\d?)/{_YEAR}"),
        "absolute",
        _slashed_day,
    ),
    (
        _pattern(rf"(?P<month_no>0?[1-9]|1[0-2])/{_YEAR}"),
        "absolute",
        lambda m, _: month_of(int(m["year"]), int(m["month_no"])),
    ),
    (
        _pattern(rf"Q(?P<quarter>[1-4])(?:\s+of|/|,)?\s*{_YEAR}"),
        "absolute",
        _quarter,
    ),
    (_pattern(rf"{_YEAR}[\s/-]?Q(?P<quarter>[1-4])"), "absolute", _quarter),
    (_pattern(r"Q(?P<quarter>[1-4])"), "bare", _latest_quarter),
    (
        _pattern(rf"(?P<quarter>{'|'.join(_QUARTERS)})\s+quarter(?:\s+of|,)?\s+{_YEAR}"),
        "absolute",
        _quarter,
    ),
    (
        _pattern(
            rf"(?:H(?P<half>[12])|(?P<named>{'|'.join(_HALVES)})\s+half)(?:\s+of|,)?\s+{_YEAR}"
        ),
        "absolute",
        _half,
    ),
    (
        _pattern(
            rf"(?P<from_day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?{_AND}{_DAY}\s+(?:of\s+)?{_MONTH}"
            rf"(?:,?\s+{_YEAR})?"
        ),
        "absolute",
        _days_of_month,
    ),
    (
        _pattern(
            rf"(?P<from_month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?{_AND}{_MONTH}"
            rf"(?:\s+of)?,?\s+{_YEAR}"
        ),
        "absolute",
        _months_of_year,
    ),
    (_pattern(rf"{_FEASTS}(?:\s+(?:of|in))?,?\s+{_YEAR}"), "absolute", _feast_of_year),
    (_pattern(rf"(?:last\s+)?{_FEASTS}{_NO_FEAST}"), "bare", _latest_feast),
    (_pattern(r"(?:the\s+)?(?P<decade>(?:19|20)\d)0'?s"), "bare", _decade),
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
    (
        _pattern(
            r"today|this\s+(?:morning|afternoon|evening)|tonight|just\s+now|"
            r"(?:\d{1,3}|an?|a\s+few|few|two|three|four|five|six|ten)\s+(?:minutes?|hours?|moments?)\s+ago"
        ),
        "relative",
        _days_back(0),
    ),
    (
        _pattern(r"earlier\s+(?P<which>this)\s+(?P<unit>week|month|quarter|year)"),
        "relative",
        _earlier,
    ),
    (_pattern(r"the\s+other\s+(?P<unit>day|night|evening|week)"), "relative", _other_day),
    (_pattern(r"(?:the\s+)?(?P<unit>week|month|year)\s+before\s+last"), "relative", _before_last),
    (
        _pattern(
            rf"{_WEEKDAY}(?:\s+(?:of|in))?\s+(?P<which>last|previous|this)\s+week"
            rf"|(?P<which2>last|this)\s+week(?:'s)?(?:\s+on)?\s+(?P<weekday2>{'|'.join(_WEEKDAYS)})"
        ),
        "relative",
        _weekday_of_week,
    ),
    (
        # not "on the 2nd try"
        _pattern(rf"on\s+the\s+{_DAY_NTH}(?=\s*(?:\Z|[?.,;!)]|(?:did|do|was|were|I|we|about)\b))"),
        "relative",
        _day_without_month,
    ),
    (
        _pattern(r"yesterday(?:\s+(?:morning|afternoon|evening))?|last\s+night"),
        "relative",
        _days_back(1),
    ),
    (_pattern(r"(?:the\s+)?day\s+before\s+yesterday"), "relative", _days_back(2)),
    (_pattern(rf"{_COUNT}\s+{_UNIT}\s+(?:ago|back)"), "relative", _ago),
    (
        _pattern(rf"(?:the\s+)?(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}"),
        "relative",
        _last_few,
    ),
    (
        _pattern(r"(?:the\s+|this\s+)?past\s+(?P<unit>day|week|fortnight|month|quarter|year)"),
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
    (_pattern(rf"{_WEEKDAY}['’]s"), "relative", _last_weekday),
    (_pattern(_WEEKDAY), "bare", _last_weekday),
    (_pattern(rf"last\s+{_SEASON}"), "relative", _last_season),
    (
        _pattern(
            r"(?:in|over|during|since)\s+the\s+(?P<season>spring|summer|autumn|winter)"
            r"(?!(?:\s+of)?,?\s+(?:19|20)\d\d)"
        ),
        "relative",
        _latest_season,
    ),
    (_pattern(r"this\s+(?P<season>spring|summer|autumn|winter)"), "relative", _latest_season),
    (_pattern(rf"last\s+{_MONTH}"), "relative", _last_month_named),
)
