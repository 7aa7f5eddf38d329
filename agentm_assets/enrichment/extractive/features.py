"""The numbers that a type is judged by, out of the counts of `cues`."""

from collections.abc import Mapping, Sequence
from math import log1p
from typing import Final

from agentm_assets.enrichment.extractive.cues import LISTS, Cues

_DAMPING = 20
"""Words added to a note's own, so that one cue in three words is no certainty."""

CUED_TYPES: Final[tuple[str, ...]] = tuple(LISTS)
"""The types that there are lists of cue words for, in the order of the coefficients."""

FEATURES: Final[tuple[str, ...]] = (
    *(f"rate:{name}" for name in CUED_TYPES),
    *(f"opening:{name}" for name in CUED_TYPES),
    "title:fix",
    "title:doing",
    "steps",
    "headings",
    "fences",
    "programs",
    "shell",
    "preparing",
    "failures",
    "imperatives",
    "dates",
    "past",
    "moments",
    "first-person",
    "second-person",
    "length",
)
"""In the order of `features_of`."""


def features_of(cues: Cues) -> tuple[float, ...]:
    """Numbers of about the size of one, in the order of FEATURES."""
    return (
        *(rate(cues.hits, name, cues.words) for name in CUED_TYPES),
        *(opening(cues.opening, name) for name in CUED_TYPES),
        float(cues.title["fix"] > 0),
        float(cues.title_begins_doing),
        log1p(cues.steps),
        log1p(cues.headings),
        log1p(cues.fences),
        log1p(cues.programs),
        log1p(cues.shell_lines),
        log1p(cues.preparing),
        log1p(cues.failures),
        log1p(cues.imperatives),
        float(cues.dates > 0),
        _per_hundred(cues.past, cues.words) / 2,
        _per_hundred(cues.moments, cues.words) / 2,
        _per_hundred(cues.first_person, cues.words) / 2,
        _per_hundred(cues.second_person, cues.words) / 2,
        (log1p(cues.words) - 4.5) / 2,
    )


def rate(hits: Mapping[str, int], name: str, words: int) -> float:
    """How thick the cue words of a type stand in a note of so many words, on a log scale."""
    return _per_hundred(hits[name], words)


def opening(hits: Mapping[str, int], name: str) -> float:
    """How many of them stand where the note begins, on a log scale."""
    return log1p(hits[name])


def _per_hundred(count: int, words: int) -> float:
    return log1p(100 * count / (words + _DAMPING))


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """Their product, added up in one order, so that it is the same number on every machine."""
    return sum(a * b for a, b in zip(left, right, strict=True))
