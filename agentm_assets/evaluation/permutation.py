"""The paired permutation test: could the signs of the differences have fallen so by chance?

Under the hypothesis that two runs are alike, each question's difference is as likely to have the
other sign. The two-sided p is the share of all 2^n choices of signs whose sum is at least as far
from 0 as the one that was seen. For differences of 0 and 1 this is McNemar's exact test.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

DRAWS = 100_000
"""Choices of signs that are drawn where counting all would take too long."""

_MOST_STEPS = 1_000_000_000
"""Additions that counting may take: some two seconds."""


@dataclass(frozen=True, slots=True)
class Permutation:
    """`differing`: questions whose difference is not 0; the others say nothing. `draws` is None
    where all choices of signs were counted."""

    p: float
    method: Literal["exact", "monte-carlo"]
    differing: int
    draws: int | None


def paired_permutation(
    differences: Sequence[Fraction], seed: int, *, most_steps: int = _MOST_STEPS
) -> Permutation:
    """Test differences of pairs, after minus before. Exact to the rounding of a double, except
    where over `most_steps` additions were needed: then DRAWS choices are drawn by the seed."""
    differing = [difference for difference in differences if difference]
    if not differing:
        return Permutation(1.0, "exact", 0, None)
    scale = math.lcm(*(difference.denominator for difference in differing))
    signed = [int(difference * scale) for difference in differing]
    common = math.gcd(*signed)
    sizes = [abs(size) // common for size in signed]
    seen = abs(sum(signed)) // common
    if len(sizes) * sum(sizes) <= most_steps:
        return Permutation(_counted(sizes, seen), "exact", len(sizes), None)
    return Permutation(_drawn(sizes, seen, seed), "monte-carlo", len(sizes), DRAWS)


def _counted(sizes: Sequence[int], seen: int) -> float:
    """By the distribution of what the positive differences sum to, one difference at a time."""
    total = sum(sizes)
    shares = np.zeros(total + 1)
    shares[0] = 1.0
    reached = 0
    for size in sizes:
        earlier = shares[: reached + 1] / 2
        reached += size
        shares[: reached + 1] = 0.0
        shares[: len(earlier)] += earlier
        shares[size : size + len(earlier)] += earlier
    # A positive part of s makes a sum of 2s - total.
    low = (total - seen) // 2
    return min(1.0, 2 * math.fsum(shares[: low + 1])) if seen else 1.0


def _drawn(sizes: Sequence[int], seen: int, seed: int) -> float:
    """What was seen counts as one of the draws, so that no p is 0 (Phipson and Smyth 2010)."""
    generator = np.random.default_rng(seed)
    largest = max(sizes)
    weights = np.array([size / largest for size in sizes])
    bound = seen / largest - 1e-9
    rows = max(1, 4_000_000 // len(sizes))
    beyond = done = 0
    while done < DRAWS:
        now = min(rows, DRAWS - done)
        signs = generator.integers(0, 2, size=(now, len(sizes)), dtype=np.int8) * 2 - 1
        beyond += int(np.count_nonzero(np.abs(signs @ weights) >= bound))
        done += now
    return (beyond + 1) / (DRAWS + 1)
