"""Stretches of whole calendar days, and the day on which a note was captured."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Literal


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `first` to `last`, both included; None leaves that side open."""

    first: date | None
    last: date | None

    def __contains__(self, day: date) -> bool:
        return (self.first is None or day >= self.first) and (self.last is None or day <= self.last)

    def intersect(self, other: "Period") -> "Period":
        """The days of both; may be empty (`first` after `last`)."""
        firsts = [day for day in (self.first, other.first) if day is not None]
        lasts = [day for day in (self.last, other.last) if day is not None]
        return Period(max(firsts, default=None), min(lasts, default=None))

    @property
    def is_empty(self) -> bool:
        return self.first is not None and self.last is not None and self.first > self.last

    def __str__(self) -> str:
        if self.first is None or self.last is None:
            edges = (("since", self.first), ("until", self.last))
            return " ".join(f"{word} {day}" for word, day in edges if day) or "any time"
        return f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"


Part = Literal["first", "middle", "last"]


def part_of(period: Period, part: Part) -> Period:
    """The first, middle or last third of a stretch of days; one that is open or shorter than three
    days is left whole."""
    if period.first is None or period.last is None:
        return period
    third = ((period.last - period.first).days + 1) // 3
    if not third:
        return period
    begin = period.first + timedelta(days=third)
    end = period.last - timedelta(days=third)
    if part == "first":
        return Period(period.first, begin - timedelta(days=1))
    if part == "last":
        return Period(end + timedelta(days=1), period.last)
    return Period(begin, end)


def about(period: Period, days: int) -> Period:
    """The period with some days on either side."""
    try:
        first = None if period.first is None else period.first - timedelta(days=days)
        last = None if period.last is None else period.last + timedelta(days=days)
    except OverflowError:
        return period
    return Period(first, last)


def day_of(year: int, month: int, day: int) -> Period | None:
    """One day; None when the calendar has no such day."""
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return Period(found, found)


def month_of(year: int, month: int) -> Period | None:
    return months_of(year, month, 1)


def months_of(year: int, month: int, count: int) -> Period | None:
    """`count` whole months from the given one; None outside the years 1 to 9999."""
    end_year, end_month = shift_month(year, month, count)
    try:
        if (end_year, end_month) == (date.max.year + 1, 1):
            return Period(date(year, month, 1), date.max)
        return Period(date(year, month, 1), date(end_year, end_month, 1) - timedelta(days=1))
    except ValueError:
        return None


def year_of(year: int) -> Period | None:
    return months_of(year, 1, 12)


def week_of(day: date) -> Period:
    """The week, Monday to Sunday (ISO 8601), that holds `day`."""
    monday = day - timedelta(days=day.weekday())
    return Period(monday, monday + timedelta(days=6))


def shift_month(year: int, month: int, by: int) -> tuple[int, int]:
    """Year and month `by` months later, or earlier when negative."""
    index = year * 12 + month - 1 + by
    return index // 12, index % 12 + 1


def captured_day(captured: str, zone: tzinfo | None) -> date | None:
    """The operator's calendar day of an ISO date or datetime; None when the text is neither.

    A time with an offset is converted to `zone`; one without is the operator's own.
    """
    try:
        if len(captured) == len("2026-08-01"):
            return date.fromisoformat(captured)
        moment = datetime.fromisoformat(captured)
    except ValueError:
        return None
    try:
        return (moment if moment.tzinfo is None else moment.astimezone(zone)).date()
    except OverflowError:  # the first or last day of the calendar, moved over its edge
        return moment.date()
