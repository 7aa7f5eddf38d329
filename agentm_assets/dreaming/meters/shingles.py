"""Near copies: notes whose runs of words overlap, found by sketches, then looked at by vector.

Overlap comes first and is cheap; the vectors are asked about what it flags alone.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agentm_assets.dreaming.meters.corpus import Document, Vector

LENGTH: Final = 3
"""Words of one shingle. Memories are short: runs of five leave a note of eight words with four."""

SKETCH: Final = 48
"""Smallest hashes kept of a note: overlap is estimated within some 0.07."""

LEAST_OVERLAP: Final = 0.5
LEAST_COSINE: Final = 0.92
"""Over both a note is a near copy."""

_COMPARED: Final = 8
"""Notes that share most shingles with a note; the others can't be nearer."""

_MOST_POSTINGS: Final = 400
"""A shingle that more notes have is template, and would make the comparison quadratic."""


@dataclass(frozen=True, slots=True)
class Copy:
    """`path` says nearly what the older `of` says. `cosine` None: one of the two has no vector."""

    path: str
    of: str
    overlap: float
    cosine: float | None

    @property
    def is_sure(self) -> bool:
        return self.cosine is not None and self.cosine >= LEAST_COSINE


def near_copies(documents: Sequence[Document], vectors: Mapping[str, Vector]) -> dict[str, Copy]:
    """Of each note that nearly repeats an older one, the one that it repeats most. Of two of the
    same age the path decides."""
    ordered = sorted(documents, key=lambda each: (each.captured, each.path))
    sketches = [_sketch(each.words) for each in ordered]
    postings: dict[int, list[int]] = defaultdict(list)
    found: dict[str, Copy] = {}
    for at, document in enumerate(ordered):
        shared: Counter[int] = Counter()
        for value in sketches[at]:
            shared.update(postings[value])
        best = max(
            (
                (_overlap(sketches[at], sketches[other]), -other)
                for other, _ in shared.most_common(_COMPARED)
            ),
            default=None,
        )
        if best is not None and best[0] >= LEAST_OVERLAP:
            other = ordered[-best[1]]
            found[document.path] = Copy(
                document.path, other.path, round(best[0], 3), _cosine(document, other, vectors)
            )
        for value in sketches[at]:
            if len(postings[value]) < _MOST_POSTINGS:
                postings[value].append(at)
    return found


def _sketch(words: Sequence[str]) -> frozenset[int]:
    runs = {
        " ".join(words[at : at + LENGTH]) for at in range(max(1, len(words) - LENGTH + 1)) if words
    }
    hashes = sorted(
        int.from_bytes(hashlib.blake2b(run.encode("utf-8"), digest_size=8).digest(), "big")
        for run in runs
    )
    return frozenset(hashes[:SKETCH])


def _overlap(one: frozenset[int], other: frozenset[int]) -> float:
    """The overlap of two sets of shingles by their smallest hashes (bottom-k sketch)."""
    smallest = sorted(one | other)[:SKETCH]
    both = one & other
    return sum(value in both for value in smallest) / len(smallest) if smallest else 0.0


def _cosine(one: Document, other: Document, vectors: Mapping[str, Vector]) -> float | None:
    if one.path not in vectors or other.path not in vectors:
        return None
    return round(float(vectors[one.path] @ vectors[other.path]), 4)
