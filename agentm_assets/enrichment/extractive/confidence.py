"""How sure a judgment is: a careful figure, for a note that is set active is looked at no more."""

from itertools import pairwise
from typing import Final

BOUND: Final[tuple[tuple[float, float], ...]] = (
    (0.0, 0.0),
    (0.3, 0.28),
    (0.5, 0.44),
    (0.6, 0.52),
    (0.7, 0.585),
    (0.8, 0.648),
    (0.9, 0.712),
    (0.95, 0.748),
    (1.0, 0.81),
)
"""Probability that the regression gives its first choice -> confidence; straight lines between.

Cross-validated on the 350 notes that it was fitted to (4 times 10 parts, 300 resamplings of the
notes): the share of right types that notes of this probability have in 95 of 100 resamplings, less
a sixth for notes unlike those. What it comes to on other notes is in docs/enrichment.md."""

READABLE_ENGLISH: Final = 0.15
"""Share of `cue_words.FUNCTION_WORDS` under which a text is not English prose: the lowest of the
100 notes has 0.23."""

UNREADABLE_MOST: Final = 0.4
"""The most for such a text: nothing was measured there, so it is the operator's to look at."""


def confidence_of(probability: float, english: float) -> float:
    """0 to 1, in hundredths, so that machines which add up differently agree."""
    careful = _between(probability)
    if english < READABLE_ENGLISH:
        careful = min(careful, UNREADABLE_MOST)
    return round(careful, 2)


def _between(probability: float) -> float:
    for (low, at_low), (high, at_high) in pairwise(BOUND):
        if probability <= high:
            return at_low + (at_high - at_low) * (probability - low) / (high - low)
    return BOUND[-1][1]
