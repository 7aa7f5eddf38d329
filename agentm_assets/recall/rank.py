"""From a pool of candidates to one order: penalties inside each arm, then fusion."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentm_assets.index.facts_reader import ChunkFacts
from agentm_assets.recall.answer import ScoreParts
from agentm_assets.recall.arms import ArmHit
from agentm_assets.recall.chronology import in_order
from agentm_assets.recall.fusion import (
    FULL_COSINE,
    UNRELATED_COSINE,
    WEIGHTS,
    combine,
    fuse,
    keep_first_lexical,
    normalise,
)
from agentm_assets.recall.penalties import Penalty, PenaltyContext, lowered, penalty_of
from agentm_assets.recall.pool import Candidate, Pool
from agentm_assets.recall.question import Asked

ABOUT_BONUS = 0.3
"""For a section whose heading holds all the names of the question."""

_WORD = re.compile(r"\w+")

RELATIVE_TIME_FACTOR = 0.3
"""For a note captured outside "yesterday" and the like: such words speak of the capture alone."""

ABSOLUTE_TIME_FACTOR = 0.5
"""For one outside "in March 2019", which a note may also have as its subject."""

UNDATED_FACTOR = 0.8
"""For one without a date then: what was captured in March 2019 goes before what may be."""

DATED_BONUS = 0.05
"""For the newest note of the asked time that no arm found; older ones get less."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate at its place: a note, or a section.

    `note_arms` is the most that both arms make of a section of its note, `bonus` what it gets for
    being named or of the asked time, `about` the share of the question's names in its heading,
    `by_words` the lexical arm's own score, lowered by the penalties. `chunk` is the section to
    show. `cosine`: 0 where the dense arm did not find it, None when there was no dense arm.
    `named`: it mentions the one thing that is asked about. `in_time`: a phrase of the question
    names the day it was captured.
    """

    key: str
    path: str
    score: float
    note_arms: float
    bonus: float
    about: float
    by_words: float
    chunk: ChunkFacts
    cosine: float | None
    named: bool
    in_time: bool
    parts: ScoreParts


def rank(pool: Pool, asked: Asked, context: PenaltyContext, limit: int) -> list[Ranked]:
    """The best `limit` candidates, best first."""
    time_factor = _time_factor(pool, asked)
    penalties = {
        path: _with_time(penalty_of(each.note, each.fading, context), each, asked, time_factor)
        for path, each in pool.candidates.items()
    }
    lexical = _lowered(pool.lexical, penalties, complete=pool.lexical_complete)
    dense = _lowered(
        pool.dense,
        penalties,
        complete=pool.dense_complete,
        zero=UNRELATED_COSINE,
        full=FULL_COSINE,
    )
    arms = combine(lexical, dense)
    about = _about(pool, asked)
    bonus = {path: named.bonus * penalties[path].factor for path, named in pool.named.items()}
    bonus |= _dated_bonus(pool, bonus)
    by_words = {
        path: lowered(hit.score, penalties[path].factor) for path, hit in pool.lexical.items()
    }
    of_note = _best_of_notes(arms, pool)
    fused = fuse(
        arms,
        {
            key: bonus.get(key, 0.0) + ABOUT_BONUS * about.get(key, 0.0) * penalties[key].factor
            for key in bonus.keys() | about.keys()
        },
    )
    order = keep_first_lexical(
        in_asked_order(fused, pool, asked),
        by_words,
    )
    places = (_places(lexical), _places(dense))
    return [
        Ranked(
            key=path,
            path=pool.candidates[path].note.path,
            score=score,
            note_arms=of_note.get(pool.candidates[path].note.path, 0.0),
            bonus=bonus.get(path, 0.0),
            about=about.get(path, 0.0),
            by_words=by_words.get(path, 0.0),
            chunk=_section(path, pool, lexical, dense),
            cosine=_cosine(path, pool),
            named=path in pool.named and pool.named[path].specific,
            in_time=bool(pool.candidates[path].in_time),
            parts=_parts(path, pool, places, penalties[path]),
        )
        for path, score in order[:limit]
    ]


def in_asked_order(
    scored: Sequence[tuple[str, float]], pool: Pool, asked: Asked
) -> Sequence[tuple[str, float]]:
    """`scored` (key, score; best first), with the newest or oldest raised where a question asks for
    those."""
    if asked.order is None:
        return scored
    days = {key: each.day for key, each in pool.candidates.items() if each.day is not None}
    return in_order(scored, days, asked.order)


def _best_of_notes(arms: Mapping[str, float], pool: Pool) -> dict[str, float]:
    best: dict[str, float] = {}
    for key, score in arms.items():
        path = pool.candidates[key].note.path
        best[path] = max(score, best.get(path, 0.0))
    return best


def _about(pool: Pool, asked: Asked) -> dict[str, float]:
    """For what an arm found: the share of the names in the question that stand in its heading. BM25
    hardly weighs the name of one who speaks in half of all sections, and yet a question about her
    asks for what she said. The title says as much of every section."""
    if not asked.names:
        return {}
    found: dict[str, float] = {}
    for key in pool.lexical.keys() | pool.dense.keys():
        hit = pool.lexical.get(key) or pool.dense[key]
        own = asked.names & _words(hit.chunk.header_path.rpartition(" > ")[2])
        if own:
            found[key] = len(own) / len(asked.names)
    return found


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _time_factor(pool: Pool, asked: Asked) -> float:
    """What a note from another time than the asked one is lowered by; 1 when nothing at all was
    captured then, since the phrase must be about something else."""
    if asked.phrase is None or not pool.has_asked_time:
        return 1.0
    return RELATIVE_TIME_FACTOR if asked.phrase.relative else ABSOLUTE_TIME_FACTOR


def _with_time(penalty: Penalty, candidate: Candidate, asked: Asked, factor: float) -> Penalty:
    undated = candidate.in_time is None
    if factor == 1.0 or candidate.in_time:
        return penalty
    if undated and asked.phrase is not None and not asked.phrase.relative:
        # may well be about March 2019, whenever it was captured
        return Penalty(penalty.factor * UNDATED_FACTOR, (*penalty.names, "time:undated"))
    return Penalty(penalty.factor * factor, (*penalty.names, "time:outside"))


def _lowered(
    hits: Mapping[str, ArmHit],
    penalties: Mapping[str, Penalty],
    *,
    complete: bool,
    zero: float = 0.0,
    full: float = 0.0,
) -> dict[str, float]:
    scores = {path: hit.score for path, hit in hits.items()}
    normal = normalise(scores, complete=complete, zero=zero, full=full)
    return {path: lowered(score, penalties[path].factor) for path, score in normal.items()}


def _dated_bonus(pool: Pool, bonus: Mapping[str, float]) -> dict[str, float]:
    found = pool.lexical.keys() | pool.dense.keys() | bonus.keys()
    alone = [path for path in pool.candidates if path not in found]
    alone.sort(key=lambda path: pool.candidates[path].note.captured or "", reverse=True)
    return {path: DATED_BONUS * (1 - at / len(alone)) for at, path in enumerate(alone)}


def _places(scores: Mapping[str, float]) -> dict[str, int]:
    order = sorted(scores, key=lambda path: (-scores[path], path))
    return {path: place for place, path in enumerate(order, start=1)}


def _section(
    path: str, pool: Pool, lexical: Mapping[str, float], dense: Mapping[str, float]
) -> ChunkFacts:
    by_words = WEIGHTS.lexical * lexical.get(path, -1.0)
    by_meaning = WEIGHTS.dense * dense.get(path, -1.0)
    if path in pool.lexical and by_words >= by_meaning:
        return pool.lexical[path].chunk
    if path in pool.dense:
        return pool.dense[path].chunk
    return pool.candidates[path].first_chunk


def _cosine(path: str, pool: Pool) -> float | None:
    if path in pool.dense:
        return pool.dense[path].score
    return 0.0 if pool.hybrid else None


def _parts(
    path: str, pool: Pool, places: tuple[dict[str, int], dict[str, int]], penalty: Penalty
) -> ScoreParts:
    lexical, dense = pool.lexical.get(path), pool.dense.get(path)
    named = pool.named.get(path)
    return ScoreParts(
        lexical_rank=places[0].get(path),
        lexical_score=None if lexical is None else lexical.score,
        dense_rank=places[1].get(path),
        dense_score=None if dense is None else dense.score,
        entity=named is not None and named.start is not None,
        penalty=penalty.factor,
        penalties=penalty.names,
    )
