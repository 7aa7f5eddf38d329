"""Which notes are near each other, and how they are put into groups."""

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.dreaming.similar import Vectors, clusters, content_words, overlap, shingles

Near = dict[int, dict[int, float]]


def plain_clusters(count: int, near: Near, least: int) -> tuple[tuple[int, ...], ...]:
    """The same, looked for anew each time."""
    free = set(range(count))
    found: list[tuple[int, ...]] = []
    while True:
        best: tuple[int, ...] = ()
        for seed in sorted(free):
            group = tuple(sorted({seed, *(each for each in near.get(seed, {}) if each in free)}))
            if len(group) > len(best):
                best = group
        if len(best) < least:
            return tuple(found)
        found.append(best)
        free -= set(best)


def near_of(edges: set[tuple[int, int]]) -> Near:
    near: Near = {}
    for one, other in edges:
        if one != other:
            near.setdefault(one, {})[other] = near.setdefault(other, {})[one] = 1.0
    return near


@given(st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40), st.integers(1, 4))
def test_groups_are_those_that_a_plain_search_gives(
    edges: set[tuple[int, int]], least: int
) -> None:
    near = near_of(edges)
    assert clusters(12, near, least) == plain_clusters(12, near, least)


def test_groups_of_many_notes_take_no_quadratic_time(
    growth: Callable[[Callable[[], object], Callable[[], object], float], float],
) -> None:
    def work(count: int) -> Callable[[], object]:
        near = near_of({(at, at - at % 4) for at in range(count)})
        return lambda: clusters(count, near, 3)

    assert growth(work(4_000), work(16_000), 0.02) < 8


def test_pairs_are_the_nearest_of_each_note() -> None:
    matrix = np.eye(4, dtype=np.float32)
    matrix[1] = matrix[0]
    matrix[3] = (matrix[2] * 0.8 + matrix[0] * 0.6).astype(np.float32)
    found = list(Vectors(("a", "b", "c", "d"), matrix).pairs(0.7))
    assert [(one, other) for one, other, _ in found] == [(0, 1), (2, 3)]
    alike = Vectors(tuple("abcdefgh"), np.ones((8, 1), np.float32))
    assert len(list(alike.pairs(0.9))) == 28
    assert len(list(alike.pairs(0.9, most=2))) <= 16


def test_words_and_their_runs() -> None:
    assert overlap(shingles("a b c d"), shingles("a b c x")) == 1 / 3
    assert overlap(shingles("a"), shingles("a")) == 1 and overlap(frozenset(), frozenset()) == 0
    assert content_words("The lid of the pot is on it") == {"lid", "pot"}
