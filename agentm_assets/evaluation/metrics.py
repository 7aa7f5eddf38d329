"""Measures of a ranking against the items that are right, and the interval of a share."""

import math
from collections.abc import Iterable, Sequence, Set
from typing import TypeVar

Item = TypeVar("Item")

Z_95 = 1.959963984540054
"""Of the normal distribution, for intervals that hold 95 times in 100."""


def recall_at(ranked: Sequence[Item], right: Set[Item], k: int) -> float:
    """The share of the right items that stand among the first k. `right` must not be empty."""
    return len(set(ranked[:k]) & right) / len(right)


def place_of(ranked: Iterable[Item], right: Set[Item]) -> int | None:
    """Where the first right item stands, from 1; None when there is none."""
    return next((place for place, item in enumerate(ranked, start=1) if item in right), None)


def reciprocal(place: int | None) -> float:
    """One over the place, 0 for none: its mean over questions is the MRR."""
    return 0.0 if place is None else 1 / place


def mean(values: Sequence[float]) -> float | None:
    """None of nothing."""
    return math.fsum(values) / len(values) if values else None


def wilson(successes: int, n: int) -> tuple[float, float] | None:
    """The 95% interval of a share, after Wilson (1927): it holds for small n and shares near 0 and
    1. None of nothing."""
    if n == 0:
        return None
    share, z2 = successes / n, Z_95 * Z_95
    centre = share + z2 / (2 * n)
    half = Z_95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    scale = 1 + z2 / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
