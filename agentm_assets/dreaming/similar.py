"""Which notes are near each other: by what they mean, and by the words they use."""

import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from agentm_assets.enrichment.gates.plain_words import NO_NAMES

BLOCK: Final = 1_024
"""Notes compared at once with all: 20 MB at 5,000 notes."""

T = TypeVar("T")
MOST_NEIGHBOURS: Final = 30

_WORD: Final = re.compile(r"[^\W_]+")
_SHINGLE: Final = 3


@dataclass(frozen=True, slots=True)
class Vectors:
    """One unit vector a note: the mean of those of its sections. `paths` sorted."""

    paths: tuple[str, ...]
    matrix: NDArray[np.float32]

    def pairs(self, least: float, most: int = MOST_NEIGHBOURS) -> Iterator[tuple[int, int, float]]:
        """Pairs of notes at least so near, the earlier path first, in order. Of each note only the
        `most` nearest count: where a hundred notes are alike, not every pair of them is needed."""
        found: dict[tuple[int, int], float] = {}
        for first in range(0, len(self.paths), BLOCK):
            near = self.matrix[first : first + BLOCK] @ self.matrix.T
            rows = np.arange(near.shape[0])
            near[rows, first + rows] = -1.0
            kept = min(most, near.shape[1])
            best = np.argsort(-near, axis=1, kind="stable")[:, :kept]
            for row, columns in zip(rows.tolist(), best.tolist(), strict=True):
                for column in columns:
                    score = float(near[row, column])
                    if score < least:
                        break
                    one, other = sorted((first + row, column))
                    found[one, other] = score
        for one, other in sorted(found):
            yield one, other, found[one, other]


def read_vectors(connection: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> Vectors:
    """The vectors of those of the notes that have one, of the model that has embedded most."""
    found = connection.execute(
        "SELECT model_id FROM embeddings GROUP BY model_id ORDER BY count(*) DESC, model_id LIMIT 1"
    ).fetchone()
    if found is None or not paths:
        return Vectors((), np.zeros((0, 1), np.float32))
    rows = connection.execute(
        "SELECT c.path, e.vector FROM chunks c JOIN embeddings e ON e.embed_hash = c.embed_hash "
        "WHERE e.model_id = ? AND c.path IN (SELECT unnest(?::VARCHAR[])) "
        "ORDER BY c.path, c.ordinal",
        [found[0], list(paths)],
    ).fetchall()
    sums: dict[str, NDArray[np.float32]] = {}
    for path, vector in rows:
        held = np.frombuffer(vector, np.float32)
        sums[path] = sums[path] + held if path in sums else held
    kept = tuple(sorted(sums))
    if not kept:
        return Vectors((), np.zeros((0, 1), np.float32))
    matrix = np.stack([sums[path] for path in kept])
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return Vectors(kept, (matrix / np.maximum(lengths, 1e-9)).astype(np.float32))


def read_texts(connection: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> dict[str, str]:
    """The text of each note, its sections one behind the other."""
    rows = connection.execute(
        "SELECT path, string_agg(text, '\n' ORDER BY ordinal) FROM chunks "
        "WHERE path IN (SELECT unnest(?::VARCHAR[])) GROUP BY path",
        [list(paths)],
    ).fetchall()
    return {str(path): str(text) for path, text in rows}


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of three words; the words themselves of a text with fewer."""
    words = [word.casefold() for word in _WORD.findall(text)]
    if len(words) < _SHINGLE:
        return frozenset((word,) for word in words)
    return frozenset(tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1))


def content_words(text: str) -> frozenset[str]:
    """The words that say what a text is about."""
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word for word in words if len(word) > 2 and word not in NO_NAMES)


def overlap(one: frozenset[T], other: frozenset[T]) -> float:
    """The share of all that both have (Jaccard), 0 to 1."""
    joined = len(one | other)
    return len(one & other) / joined if joined else 0.0


def clusters(
    count: int, near: Mapping[int, Mapping[int, float]], least: int
) -> tuple[tuple[int, ...], ...]:
    """Groups of at least `least` of `count` things around one that is near to all others of its
    group; each thing is in one group at most. The fullest groups first; the order of things decides
    between equals, so the same input gives the same groups."""
    free = [True] * count
    open_neighbours = [len(near.get(each, {})) for each in range(count)]
    heap = [(-open_neighbours[each], each) for each in range(count)]
    heapq.heapify(heap)
    found: list[tuple[int, ...]] = []
    while heap:
        size, seed = heapq.heappop(heap)
        if not free[seed] or -size != open_neighbours[seed]:
            continue  # it has been taken, or stands again further down
        if 1 - size < least:
            break
        group = tuple(sorted((seed, *(each for each in near.get(seed, {}) if free[each]))))
        found.append(group)
        for each in group:
            free[each] = False
        for each in group:
            for other in near.get(each, {}):
                if free[other]:
                    open_neighbours[other] -= 1
                    heapq.heappush(heap, (-open_neighbours[other], other))
    return tuple(found)
