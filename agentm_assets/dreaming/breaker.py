"""The anomaly breaker: a stage that suddenly wants to change far more than it did applies nothing.

What is normal is read from the records of earlier nights. A count that tripped the breaker is not
learned, so an anomaly can't make the next one look normal; the operator can accept one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CYCLES: Final = 8
FACTOR: Final = 3.0
"""Over 3 times the mean of the last 8 normal cycles is an anomaly (design: breaker)."""

FLOOR: Final = 50
"""A stage that plans no more than this never trips: 3 times a handful is no anomaly."""

LEARNING: Final = 3
"""With fewer normal cycles than this there is nothing to compare with. The mutation cap holds."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`mean`: of the normal cycles that count, None while too few are known. `limit`: what may be
    planned, None while there is none."""

    is_anomaly: bool
    mean: float | None
    limit: float | None


def judge(planned: int, normal: Sequence[int]) -> Verdict:
    """Is it an anomaly that a stage plans so many changes? `normal`: the counts of its earlier
    cycles that were none, oldest first. Cycles in which it had nothing to do tell nothing about how
    much is normal, and are left out."""
    known = [count for count in normal if count > 0][-CYCLES:]
    if len(known) < LEARNING:
        return Verdict(False, None, None)
    mean = sum(known) / len(known)
    limit = max(FACTOR * mean, float(FLOOR))
    return Verdict(planned > limit, mean, limit)
