"""Folding a hit under a better one that says the same.

Only what adds nothing is folded: two notes that agree in all but one value ("purple", "cyan") are
close to any measure of similarity and yet answer differently, so a word that the better hit lacks
keeps a hit on its own.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

NEARLY_ALL = 0.9
"""Share of a hit's three-word runs that the better hit must hold too."""

_WORD = re.compile(r"[^\W_]+(?:[.,:'-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Wording:
    """What a section says, without case, marks and white space."""

    fingerprint: str  # of the whole note
    words: frozenset[str]
    runs: frozenset[tuple[str, ...]]


def wording(fingerprint: str, text: str) -> Wording:
    """The words and three-word runs of a section. Order within runs counts: A beats B is not B
    beats A."""
    words = _WORD.findall(text.casefold())
    runs = zip(words, words[1:], words[2:], strict=False) if len(words) > 2 else [tuple(words)]
    return Wording(fingerprint, frozenset(words), frozenset(runs))


def first_that_covers(better: Iterable[Wording], hit: Wording) -> int | None:
    """The index of the first better hit that `hit` adds nothing to; None when it adds something."""
    for index, other in enumerate(better):
        if other.fingerprint == hit.fingerprint:
            return index
        if hit.words <= other.words and len(hit.runs & other.runs) >= NEARLY_ALL * len(hit.runs):
            return index
    return None
