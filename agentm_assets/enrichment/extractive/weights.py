"""Coefficients of the judgment of types.

Source: softmax regression (L2 0.008, likeness fixed) over notes labelled by hand: 100 of weight 1,
250 more of weight 0.4 (their types weighted to the shares that the 100 have, at most fourfold), and
the 72 short ones of tests/enrichment/extractive/short_notes.json of weight 0.6. What was measured
on notes that took no part is in docs/enrichment.md. Order: `features.FEATURES`.
"""

from collections.abc import Mapping
from typing import Final

BIAS: Final[Mapping[str, float]] = {
    "preference": -0.17,
    "convention": -0.86,
    "reference": 2.45,
    "workflow": -0.13,
    "fix": -0.69,
    "idea": -0.59,
}

WEIGHTS: Final[Mapping[str, tuple[float, ...]]] = {
    "preference": (
        1.49,  # rate:preference
        -0.24,  # rate:convention
        -0.02,  # rate:reference
        -0.18,  # rate:workflow
        -0.42,  # rate:fix
        -0.55,  # rate:idea
        0.81,  # opening:preference
        -0.16,  # opening:convention
        -0.09,  # opening:reference
        -0.06,  # opening:workflow
        -0.30,  # opening:fix
        -0.32,  # opening:idea
        -0.06,  # title:fix
        -0.10,  # title:doing
        -0.02,  # steps
        -0.06,  # headings
        -0.38,  # fences
        -0.19,  # programs
        -0.17,  # shell
        -0.09,  # preparing
        -0.03,  # failures
        -0.17,  # imperatives
        -0.15,  # dates
        -0.21,  # past
        -0.07,  # moments
        0.46,  # first-person
        0.06,  # second-person
        -0.37,  # length
    ),
    "convention": (
        -0.40,  # rate:preference
        1.37,  # rate:convention
        0.23,  # rate:reference
        -0.13,  # rate:workflow
        0.15,  # rate:fix
        0.00,  # rate:idea
        -0.25,  # opening:preference
        0.93,  # opening:convention
        0.33,  # opening:reference
        0.04,  # opening:workflow
        -0.04,  # opening:fix
        0.09,  # opening:idea
        -0.11,  # title:fix
        -0.20,  # title:doing
        -0.02,  # steps
        -0.18,  # headings
        -0.64,  # fences
        -0.26,  # programs
        -0.41,  # shell
        -0.26,  # preparing
        -0.13,  # failures
        -0.27,  # imperatives
        -0.22,  # dates
        0.06,  # past
        -0.27,  # moments
        0.20,  # first-person
        -0.12,  # second-person
        -0.49,  # length
    ),
    "reference": (
        -0.56,  # rate:preference
        -0.89,  # rate:convention
        0.07,  # rate:reference
        -0.76,  # rate:workflow
        -0.01,  # rate:fix
        -0.77,  # rate:idea
        -0.52,  # opening:preference
        -0.17,  # opening:convention
        0.24,  # opening:reference
        0.46,  # opening:workflow
        -0.25,  # opening:fix
        -0.23,  # opening:idea
        0.50,  # title:fix
        -0.18,  # title:doing
        -0.10,  # steps
        -0.24,  # headings
        0.43,  # fences
        0.66,  # programs
        -0.06,  # shell
        -0.34,  # preparing
        0.02,  # failures
        0.30,  # imperatives
        0.73,  # dates
        0.26,  # past
        0.59,  # moments
        0.38,  # first-person
        -0.02,  # second-person
        -0.14,  # length
    ),
    "workflow": (
        -0.52,  # rate:preference
        -0.50,  # rate:convention
        -0.32,  # rate:reference
        1.27,  # rate:workflow
        -0.33,  # rate:fix
        -0.26,  # rate:idea
        -0.08,  # opening:preference
        -0.59,  # opening:convention
        -0.26,  # opening:reference
        -0.05,  # opening:workflow
        -0.46,  # opening:fix
        -0.08,  # opening:idea
        -0.06,  # title:fix
        0.55,  # title:doing
        0.34,  # steps
        0.91,  # headings
        0.50,  # fences
        0.02,  # programs
        0.07,  # shell
        0.53,  # preparing
        0.19,  # failures
        0.54,  # imperatives
        0.04,  # dates
        -0.24,  # past
        -0.15,  # moments
        -0.50,  # first-person
        0.55,  # second-person
        0.95,  # length
    ),
    "fix": (
        0.05,  # rate:preference
        0.31,  # rate:convention
        0.16,  # rate:reference
        -0.05,  # rate:workflow
        0.89,  # rate:fix
        0.03,  # rate:idea
        0.03,  # opening:preference
        -0.05,  # opening:convention
        -0.17,  # opening:reference
        -0.24,  # opening:workflow
        1.22,  # opening:fix
        -0.55,  # opening:idea
        -0.25,  # title:fix
        0.00,  # title:doing
        -0.19,  # steps
        -0.34,  # headings
        0.41,  # fences
        -0.02,  # programs
        0.66,  # shell
        0.21,  # preparing
        -0.03,  # failures
        -0.19,  # imperatives
        -0.11,  # dates
        0.92,  # past
        -0.13,  # moments
        -0.49,  # first-person
        -0.28,  # second-person
        0.30,  # length
    ),
    "idea": (
        -0.07,  # rate:preference
        -0.05,  # rate:convention
        -0.12,  # rate:reference
        -0.15,  # rate:workflow
        -0.28,  # rate:fix
        1.55,  # rate:idea
        0.01,  # opening:preference
        0.04,  # opening:convention
        -0.04,  # opening:reference
        -0.15,  # opening:workflow
        -0.16,  # opening:fix
        1.09,  # opening:idea
        -0.02,  # title:fix
        -0.06,  # title:doing
        -0.01,  # steps
        -0.08,  # headings
        -0.32,  # fences
        -0.21,  # programs
        -0.10,  # shell
        -0.06,  # preparing
        -0.02,  # failures
        -0.21,  # imperatives
        -0.29,  # dates
        -0.79,  # past
        0.03,  # moments
        -0.05,  # first-person
        -0.19,  # second-person
        -0.25,  # length
    ),
}

LIKENESS: Final = 5.0
"""For each 1.0 of cosine to a definition. Fixed: from 0 to 8 the six came out the same (their cue
words say it all), and this much lets a type that has none win where a note is about it."""

NEW_TYPE_RATE: Final = 1.11
NEW_TYPE_OPENING: Final = 0.71
"""Means of what the six types have for their own cue words."""

NEW_TYPE_BIAS: Final = 1.0
"""For a type that likeness was measured to: what short notes about its subject need to win. With a
type for recipes added, of 172 notes about other things none was taken for one (at 1.5 one was)."""
