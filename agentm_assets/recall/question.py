"""What a question asks, before anything is searched."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from agentm_assets.contract.block import safe_text
from agentm_assets.index.lexical_terms import STOP_WORDS
from agentm_assets.recall.errors import QuestionRefused
from agentm_assets.recall.penalties import asks_for_artifacts
from agentm_assets.recall.periods import Period
from agentm_assets.recall.timephrases import (
    Order,
    TimePhrase,
    asked_order,
    asks_about_time,
    find_time_phrase,
    parse_when,
)

LONGEST_QUESTION = 10_000
"""Characters that are read; what follows is left out, and the answer says so."""

MOST_HITS = 100

MOST_CAPITALS = 0.6
"""Share of capitalised words from which capitals tell nothing (headlines)."""

_WORD = re.compile(r"\w+")
_ASKS_FOR_ARCHIVE = re.compile(r"\barchiv(?:e|es|ed|al)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """How to answer. `now` is the clock, with a time zone: the operator's calendar days follow it.

    `after` and `before` are what an operator types (an ISO day, month or year, or a phrase):
    captured on its first day or later, and before its first day. They exclude notes without a date
    of capture; phrases inside a question only lower. `per`: what a hit is. A note stands once, with
    its best section; sections are ranked each for itself. `rerank`: False for an asker who has
    no time for a second look. `linked`: also what links to the hits.
    """

    now: datetime
    k: int = 5
    after: str | None = None
    before: str | None = None
    type: str | None = None
    space: str | None = None
    include_archived: bool = False
    per: Literal["note", "section"] = "note"
    rerank: bool = True
    linked: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart. `topic` is the text without phrases that only speak of the clock.
    `order`: it asks for what is newest or oldest; "before May" for what is nearest to May."""

    text: str
    topic: str
    phrase: TimePhrase | None
    bounds: Period | None
    order: Order | None
    about_time: bool
    wants_artifacts: bool
    wants_archive: bool
    shortened: bool
    names: frozenset[str]  # proper names, lower-case


def understand(question: str, options: RecallOptions) -> Asked:
    """Take a question and its options apart. Raises QuestionRefused."""
    if not 1 <= options.k <= MOST_HITS:
        raise QuestionRefused(f"k is {options.k}; give a number from 1 to {MOST_HITS}.")
    text = safe_text(question).strip()
    if not text:
        raise QuestionRefused("the question is empty. Ask something.")
    shortened = len(text) > LONGEST_QUESTION
    text = text[:LONGEST_QUESTION]
    phrase = find_time_phrase(text, options.now)
    return Asked(
        text=text,
        topic=_without(text, phrase) if phrase is not None and phrase.relative else text,
        phrase=phrase,
        bounds=_bounds(options),
        order=_order(text, phrase),
        about_time=asks_about_time(text, phrase),
        wants_artifacts=asks_for_artifacts(text),
        wants_archive=options.include_archived or _ASKS_FOR_ARCHIVE.search(text) is not None,
        shortened=shortened,
        names=_names(text, phrase),
    )


def _order(text: str, phrase: TimePhrase | None) -> Order | None:
    """Days that are named say more of the time than "recently" does."""
    if phrase is None:
        return asked_order(text)
    return "newest" if all(each.first is None for each in phrase.periods) else None


def _names(text: str, phrase: TimePhrase | None) -> frozenset[str]:
    """Words that begin with a capital and are no words of every question, nor of a time."""
    words = list(_WORD.finditer(text))
    capitals = [word for word in words if word[0][0].isupper()]
    if len(capitals) > MOST_CAPITALS * len(words):
        return frozenset()
    spans = phrase.spans if phrase is not None else ()
    return frozenset(
        word[0].casefold()
        for word in capitals
        if len(word[0]) > 1
        and word[0].casefold() not in STOP_WORDS
        and not any(start <= word.start() < end for start, end in spans)
    )


def _bounds(options: RecallOptions) -> Period | None:
    if options.after is None and options.before is None:
        return None
    first = last = None
    if options.after is not None:
        first = _when(options.after, "after", options.now).first
    if options.before is not None:
        start = _when(options.before, "before", options.now).first
        if start == date.min:
            raise QuestionRefused(f"no day is before {options.before!r}. Leave it out.")
        last = None if start is None else start - timedelta(days=1)
    bounds = Period(first, last)
    if bounds.is_empty:
        raise QuestionRefused(
            f"no day is after {options.after!r} and before {options.before!r}. Swap the two."
        )
    return bounds


def _when(text: str, name: str, now: datetime) -> Period:
    period = parse_when(text, now)
    if period is None:
        raise QuestionRefused(
            f"{name} {text[:40]!r} is no time. Give a day (2026-08-01), a month (2026-08), a year, "
            'or a phrase such as "last week".'
        )
    return period


def _without(text: str, phrase: TimePhrase) -> str:
    pieces, at = [], 0
    for start, end in phrase.spans:
        pieces.append(text[at:start])
        at = end
    return " ".join(" ".join((*pieces, text[at:])).split())
