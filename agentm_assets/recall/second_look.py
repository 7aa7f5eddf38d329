"""A second look at the first candidates, with their text at hand.

The arms rank thousands of sections by a number each. What stands in a section and around it tells
more: whether it holds the words of the question, what its note and the section before it are about,
whether it asks itself or answers what was asked just before, and has a time when one is asked for.
Reading it is cheap for the few that can still come first.

All of it is about any text: nothing here knows the words of a corpus. Weights were fitted on five
dialogues and half of a set of questions about technical notes (docs/performance.md).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agentm_assets.index.facts_reader import ChunkFacts
from agentm_assets.index.rows import chunk_id
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.recall.fusion import FULL_COSINE, UNRELATED_COSINE, keep_first_lexical
from agentm_assets.recall.holding import Holding
from agentm_assets.recall.pool import Pool
from agentm_assets.recall.question import Asked
from agentm_assets.recall.rank import Ranked, in_asked_order
from agentm_assets.recall.sections import ReadNote
from agentm_assets.recall.sources import Sources
from agentm_assets.storage.vault import NoteUnreadable

LOOKED_AT = 24
"""Candidates looked at, for 3 ms or so: with more hardly anything was gained."""

MOST_BYTES = 4_000
"""Bytes read of a section, and 600 on either side: bounds a question's cost."""

AROUND_BYTES = 600

LONG = 120
"""Words from which it is no sign that a section has a time or a name somewhere."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What is seen of a candidate; each lies between 0 and 1."""

    note: float
    """Words and meaning as the arms have them of the best section of its note: with the section's
    own beside it less was found."""
    held: float
    """Share of the question's weight of words that the section holds, in any form."""
    around: float
    """That the section and what stands around it hold."""
    cosine: float
    before: float
    """Nearness in meaning: its own, also when only words found it, and that of the section before
    it: what is talked of there goes on here."""
    about: float
    """Share of the question's names that its heading bears."""
    answers: float
    """`held` of the section before it, when that one asks."""
    time: float
    place: float
    """The question asks when, or who or where, and the section has a time, or a name inside a
    sentence: 1 for the shortest, 0 from `LONG` on, where nearly all have one."""
    asks: float
    """1 when it ends with a question."""


WEIGHTS = Signs(
    note=1.0,
    held=0.45,
    around=0.75,
    cosine=0.6,
    before=0.25,
    about=0.55,
    answers=0.5,
    time=0.6,
    place=0.45,
    asks=-0.2,
)

_FIELDS = tuple(Signs.__slots__)
_OF_ALL = ("note", "held", "around", "cosine", "before")
"""What every right answer has: by these it scores about 1, as in the arms, so that a bonus counts
the same. The others come on top."""

_OF_MEANING = ("cosine", "before")

_ASKS_WHEN = re.compile(
    r"\A\W*(?:when\b|how\s+long\b|since\s+when\b|(?:on|in|at|for)?\s*(?:what|which)\s+"
    r"(?:day|date|month|year|time|week|hour)s?\b)",
    re.IGNORECASE,
)
_ASKS_WHO = re.compile(r"\A\W*(?:who|whose|whom|where|which|from\s+where)\b", re.IGNORECASE)
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|weeks?|weekend|months?|years?|days?|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|"
    r"august|september|october|november|december|since|recently|\d{4})\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_HEADING = re.compile(r"\A#{1,6}[ \t][^\n]*\n*")
_HEADINGS = re.compile(r"^#{1,6}[ \t]", re.MULTILINE)


def look_again(
    ranked: Sequence[Ranked],
    pool: Pool,
    asked: Asked,
    terms: Mapping[str, float],
    sources: Sources,
) -> list[Ranked]:
    """`ranked` with its first `LOOKED_AT` in a new order; scores stay between 0 and 1.

    `terms`: those of the question with their weights.
    """
    first = ranked[:LOOKED_AT]
    holding = Holding(terms)
    nearness = _nearness(first, pool, sources)
    weights = {
        name: getattr(WEIGHTS, name) for name in _FIELDS if pool.hybrid or name not in _OF_MEANING
    }
    whole = sum(weight for name, weight in weights.items() if name in _OF_ALL) or 1.0
    scores: dict[str, float] = {}
    for each in first:
        text, before, after = _texts(each.chunk, sources.read_note)
        signs = _signs(each, text, before, after, nearness, holding, asked)
        seen = sum(
            weight * getattr(signs, name) * _share(name, weight, each.parts.penalty)
            for name, weight in weights.items()
        )
        scores[each.key] = max(0.0, seen / whole) + each.bonus
    highest = max(1.0, max(scores.values(), default=1.0))
    order = sorted(
        ((key, score / highest) for key, score in scores.items()),
        key=lambda item: (-item[1], item[0]),
    )
    by_words = {each.key: each.by_words for each in first if each.by_words > 0}
    by_key = {each.key: each for each in first}
    found = [
        replace(by_key[key], score=score)
        for key, score in keep_first_lexical(in_asked_order(order, pool, asked), by_words)
    ]
    return found + _behind(found, ranked[LOOKED_AT:])


def _share(name: str, weight: float, penalty: float) -> float:
    """What is left of a sign of a note that is lowered: the arms lowered theirs already, and what
    speaks against it is not to be lessened."""
    return 1.0 if name == "note" or weight < 0 else penalty


def _behind(found: Sequence[Ranked], rest: Sequence[Ranked]) -> list[Ranked]:
    """Those that were not looked at, none above those that were."""
    if not rest or not rest[0].score:
        return list(rest)
    scale = min(1.0, found[-1].score / rest[0].score)
    return [replace(each, score=each.score * scale) for each in rest]


def _signs(
    each: Ranked,
    text: str,
    before: str,
    after: str,
    nearness: Callable[[ChunkFacts, int], float],
    holding: Holding,
    asked: Asked,
) -> Signs:
    body = _HEADING.sub("", text)
    held = holding.held(text)
    short = max(0.0, 1 - len(text.split()) / LONG)
    return Signs(
        note=each.note_arms,
        held=holding.share(held),
        around=holding.share(held | holding.held(before) | holding.held(after)),
        cosine=nearness(each.chunk, 0),
        before=nearness(each.chunk, -1),
        about=each.about,
        answers=holding.share(holding.held(_last_section(before))) if _asks(before) else 0.0,
        time=short if _ASKS_WHEN.search(asked.text) and _TIME.search(body) else 0.0,
        place=short if _ASKS_WHO.search(asked.text) and _NAME.search(body) else 0.0,
        asks=1.0 if _asks(body) else 0.0,
    )


def _last_section(text: str) -> str:
    headings = [found.start() for found in _HEADINGS.finditer(text)]
    return text[headings[-1] :] if headings else text


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "\uff1f"))


def _nearness(
    first: Sequence[Ranked], pool: Pool, sources: Sources
) -> Callable[[ChunkFacts, int], float]:
    """How near a section, or the one so many places behind it, is to the question, as the dense
    arm counts it; 0 where there is none."""
    near: dict[int, float] = {}
    if pool.vector is not None and sources.vectors is not None and first:
        ids = [chunk_id(each.path, each.chunk.ordinal + step) for each in first for step in (-1, 0)]
        try:
            near = dict(sources.vectors.cosines(pool.vector, ids))
        except ServingUnreadable:
            near = {}  # the dense arm said so already, if it could not be read either
    best = max([FULL_COSINE, *near.values(), *(hit.score for hit in pool.dense.values())])

    def nearness(chunk: ChunkFacts, step: int) -> float:
        cosine = near.get(chunk_id(chunk.path, chunk.ordinal + step), UNRELATED_COSINE)
        return max(0.0, cosine - UNRELATED_COSINE) / (best - UNRELATED_COSINE)

    return nearness


def _texts(chunk: ChunkFacts, read: ReadNote) -> tuple[str, str, str]:
    """A section, and what stands before and after it; empty when the note can't be read, and maybe
    another place of it when it changed since: it only decides an order here."""
    try:
        data = read(chunk.path)
    except (FileNotFoundError, NoteUnreadable):
        return "", "", ""
    start, end = chunk.overlap_start, min(chunk.end, chunk.overlap_start + MOST_BYTES)
    return (
        _text(data[start:end]),
        _text(data[max(0, start - AROUND_BYTES) : start]),
        _text(data[chunk.end : chunk.end + AROUND_BYTES]),
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
