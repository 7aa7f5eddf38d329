"""Folding a hit under a better one that says the same.

Only what adds nothing is folded: two notes that agree in all but one value ("purple", "cyan") are
close to any measure of similarity and yet answer differently, so a word that the better hit lacks
keeps a hit on its own.
"""

import re
from dataclasses import dataclass

NEARLY_ALL = 0.9
"""Share of a hit's three-word runs that the better hit must hold too."""

_WORD = re.compile(r"[^\W_]+(?:[.,:'-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Wording:
    """What a text says, without case, marks and white space."""

    words: frozenset[str]
    runs: frozenset[tuple[str, ...]]


def wording(text: str) -> Wording:
    """The words and three-word runs of a text. The order in a run counts: "A beats B" is not
    "B beats A"."""
    words = _WORD.findall(text.casefold())
    runs = zip(words, words[1:], words[2:], strict=False) if len(words) > 2 else [tuple(words)]
    return Wording(frozenset(words), frozenset(runs))


def covers(better: Wording, other: Wording) -> bool:
    """Whether `other` adds nothing to `better`: no word of its own and hardly a run of its own."""
    return other.words <= better.words and (
        len(other.runs & better.runs) >= NEARLY_ALL * len(other.runs)
    )
