"""What stands around a chunk: short sections get their meaning from those beside them.

A turn of a conversation, a line of a log or a bullet under a heading often lacks the very words
that it is asked for by; the turn before it has them. On LoCoMo the chunk together with two
neighbours on each side finds more than the chunk alone (docs/performance.md).
"""

import re
from collections.abc import Sequence

REACH = 2
"""Chunks on each side."""

MOST_CHARS = 300
"""Characters taken of one neighbour, from its near end: long sections speak for themselves."""

_BLANK = re.compile(r"\s")


def windows(title: str, texts: Sequence[str]) -> list[tuple[str, ...]]:
    """For each chunk of a note, in order, piece by piece: the note's title, and its text with what
    stands around it. The same pieces come again in the windows beside."""
    ends = [_end(text) for text in texts]
    beginnings = [_beginning(text) for text in texts]
    return [
        (
            title,
            *ends[max(0, at - REACH) : at],
            text,
            *beginnings[at + 1 : at + 1 + REACH],
        )
        for at, text in enumerate(texts)
    ]


def _end(text: str) -> str:
    """The last characters, without a word that the cut would tear."""
    if len(text) <= MOST_CHARS:
        return text
    cut = _BLANK.search(text, len(text) - MOST_CHARS - 1)
    return text[cut.end() :] if cut else text[-MOST_CHARS:]


def _beginning(text: str) -> str:
    if len(text) <= MOST_CHARS:
        return text
    head = text[: MOST_CHARS + 1]
    for at in range(MOST_CHARS, 0, -1):
        if head[at].isspace():
            return head[:at]
    return text[:MOST_CHARS]
