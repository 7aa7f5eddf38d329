"""Time phrases of a question ("yesterday", "in March 2019", "since 2026-08-01") as days.

English phrases and ISO dates. What a phrase means is computed from a clock that is passed in, in
that clock's time zone. Weeks begin on Monday (ISO 8601), seasons are meteorological and northern.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from agentm_assets.recall.periods import (
    Part,
    Period,
    about,
    captured_day,
    month_of,
    part_of,
    year_of,
)
from agentm_assets.recall.timepoints import TimePoint, time_points

_LONGEST = 2_000
"""Characters of a question that are searched for phrases: whatever is longer is pasted text."""

_PART_WORDS: dict[str, Part] = {
    "early": "first",
    "start": "first",
    "beginning": "first",
    "mid": "middle",
    "middle": "middle",
    "late": "last",
    "end": "last",
}
_CUE = re.compile(
    r"\b(?:(?P<open>since|after|before|until|till|up\s+to|prior\s+to|no\s+later\s+than|"
    r"not\s+later\s+than|earlier\s+than|later\s+than|newer\s+than|older\s+than|by|from)"
    r"|(?P<span>between|from)|(?P<at>in|on|during|within|over|around|at|of)"
    r"|(?P<part>early|late|mid|(?:end|start|beginning|middle)\s+of))"
    r"(?P<more>(?:\s+(?:the|early|late|mid|about|around|(?:very\s+)?(?:end|start|beginning|middle)"
    r"\s+of)){0,3})"
    r"[\s-]+\Z",
    re.IGNORECASE,
)
_ABOUT_DAYS = 3
"""What "around" adds on either side."""

_STARTS = frozenset({"since", "newer than"})
_JOIN = re.compile(r"\s*(?:and|to|until|till|through|[-–—])\s*", re.IGNORECASE)
_ONWARD = re.compile(r"\s+(?:onwards?|on\b(?!\s+(?:the|a|an|my|our)\b)|and\s+later)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """What a question says about time. A day counts when any of `periods` holds it.

    `relative`: it is about the clock ("yesterday"), so it can only mean when something was
    captured; an absolute one ("in March 2019") may as well be a word of the note. `spans` are the
    characters of the question that the phrases take up. `assumed` says how dates were read that
    can be read in two ways.
    """

    periods: tuple[Period, ...]
    relative: bool
    spans: tuple[tuple[int, int], ...]
    assumed: tuple[str, ...] = ()

    def holds(self, day: date) -> bool:
        return any(day in period for period in self.periods)


def find_time_phrase(question: str, now: datetime) -> TimePhrase | None:
    """The time phrases of a question taken together; None when it has none.

    Closed phrases are alternatives ("in March or in May"), open ones ("since", "before") bound all
    of them. Contradictory bounds leave no period, which is reported as no phrase.
    """
    text = question[:_LONGEST]
    closed: list[Period] = []
    bounds = Period(None, None)
    spans: list[tuple[int, int]] = []
    assumed: list[str] = []
    relative = False
    found = time_points(text, now.date())
    at = 0
    while at < len(found):
        point = found[at]
        cue = _CUE.search(text, max(0, point.start - 60), point.start)
        if point.needs_cue and cue is None:
            at += 1
            continue
        following = found[at + 1] if at + 1 < len(found) else None
        word = _cue_word(cue)
        start = cue.start() if cue is not None else point.start
        end = point.end
        assumed += [each for each in (point.assumed,) if each]
        if following is not None and _JOIN.fullmatch(text, point.end, following.start):
            joined = _join(point, following, word, text[point.end : following.start])
            if joined is not None:
                closed.append(joined)
                spans.append((start, following.end))
                relative |= following.relative
                at += 2
                continue
        if onward := _ONWARD.match(text, point.end):
            word, end = "since", onward.end()
        opened = _open_bound(word, point.period)
        if opened is None:
            closed.append(_narrowed(point.period, cue))
        else:
            bounds = bounds.intersect(opened)
        spans.append((start, end))
        relative |= point.relative
        at += 1
    if not spans:
        return None
    periods = tuple(
        period
        for period in (p.intersect(bounds) for p in (closed or [Period(None, None)]))
        if not period.is_empty
    )
    if not periods:
        return None
    return TimePhrase(periods, relative, tuple(spans), tuple(dict.fromkeys(assumed)))


def parse_when(text: str, now: datetime) -> Period | None:
    """The days that an operator's `--after` or `--before` names; None when it names none.

    Takes an ISO day, month or year, a datetime, and every phrase that a question may hold.
    """
    stripped = text.strip()
    if re.fullmatch(r"\d{4}", stripped):
        return year_of(int(stripped))
    if re.fullmatch(r"\d{4}-\d\d", stripped):
        return month_of(int(stripped[:4]), int(stripped[5:]))
    if len(stripped) >= len("2026-08-01") and (day := captured_day(stripped, now.tzinfo)):
        return Period(day, day)
    found = time_points(stripped, now.date())
    whole = [p for p in found if (p.start, p.end) == (0, len(stripped))]
    return whole[0].period if whole else None


def _join(first: TimePoint, second: TimePoint, word: str | None, between: str) -> Period | None:
    if between.strip().lower() == "and" and word != "between":
        return None
    period = Period(first.period.first, second.period.last)
    return None if period.is_empty else period


def _cue_word(cue: re.Match[str] | None) -> str | None:
    if cue is None:
        return None
    word = cue["open"] or cue["span"] or cue["at"] or cue["part"]
    return " ".join(word.lower().split())


def _narrowed(period: Period, cue: re.Match[str] | None) -> Period:
    """A third of the period after "early", "mid" or "at the end of", more of it after "around"."""
    said = [] if cue is None else cue[0].lower().replace("-", " ").split()
    for word, part in _PART_WORDS.items():
        if word in said:
            return part_of(period, part)
    return about(period, _ABOUT_DAYS) if {"around", "about"} & set(said) else period


def _open_bound(word: str | None, period: Period) -> Period | None:
    """The open bound that a cue word makes of a period; None for a closed one."""
    if word in _STARTS:
        return Period(period.first, None)
    if word in ("after", "later than"):
        return Period(None if period.last is None else _next(period.last), None)
    if word in ("before", "prior to", "earlier than", "older than"):
        return Period(None, None if period.first is None else _previous(period.first))
    if word in ("until", "till", "up to", "by", "no later than", "not later than"):
        return Period(None, period.last)
    return None


def _next(day: date) -> date:
    return day if day == date.max else day + timedelta(days=1)


def _previous(day: date) -> date:
    return day if day == date.min else day - timedelta(days=1)


_TEMPORAL = re.compile(
    r"\b(?:when|since\s+when|how\s+long\s+ago|what\s+(?:date|day|month|year|time)|which\s+"
    r"(?:date|day|month|year)|first\s+time|last\s+time|originally|history|timeline|"
    r"chronolog\w+|oldest|earliest|used\s+to|back\s+then|at\s+the\s+time)\b",
    re.IGNORECASE,
)

Order = Literal["newest", "oldest"]
_NEWEST = re.compile(
    r"\b(?:latest|newest|(?:most|more)\s+recent(?:ly)?|recent(?:ly)?|lately|last\s+time|these\s+days|"
    r"the\s+last\s+(?:note|entry|memo|time|thing)|so\s+far\s+this)\b",
    re.IGNORECASE,
)
_OLDEST = re.compile(
    r"\b(?:oldest|earliest|first\s+time|very\s+first|the\s+first\s+(?:note|entry|memo|mention|time)|"
    r"(?:I|we|you|he|she|they|did\s+\w+)\s+(?:first|originally)|to\s+begin\s+with)\b",
    re.IGNORECASE,
)


def asked_order(question: str) -> Order | None:
    """Whether a question asks for what is new ("lately", "the latest") or for what came first; None
    when it asks for neither, or for both."""
    text = question[:_LONGEST]
    newest, oldest = _NEWEST.search(text) is not None, _OLDEST.search(text) is not None
    if newest == oldest:
        return None
    return "newest" if newest else "oldest"


def asks_about_time(question: str, phrase: TimePhrase | None) -> bool:
    """Whether age is what the question is about, so that an old note may be the very answer."""
    return phrase is not None or _TEMPORAL.search(question[:_LONGEST]) is not None
