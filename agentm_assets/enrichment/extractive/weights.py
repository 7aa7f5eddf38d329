"""Coefficients of the judgment of types.

Source: softmax regression (L2 0.004, likeness fixed) over notes labelled by hand: 100 of weight 1,
250 more of weight 0.5, and the 72 short ones of tests/enrichment/extractive/short_notes.json of
weight 0.6. What was measured on notes that took no part is in docs/enrichment.md. Order:
`features.FEATURES`.
"""

from collections.abc import Mapping
from typing import Final

BIAS: Final[Mapping[str, float]] = {
    "preference": -0.24,
    "convention": -1.06,
    "reference": 2.77,
    "workflow": -0.12,
    "fix": -0.67,
    "idea": -0.69,
}

WEIGHTS: Final[Mapping[str, tuple[float, ...]]] = {
    "preference": (
        1.66,  # rate:preference
        -0.29,  # rate:convention
        0.01,  # rate:reference
        -0.17,  # rate:workflow
        -0.51,  # rate:fix
        -0.63,  # rate:idea
        0.82,  # opening:preference
        -0.22,  # opening:convention
        -0.11,  # opening:reference
        -0.04,  # opening:workflow
        -0.37,  # opening:fix
        -0.36,  # opening:idea
        -0.11,  # title:fix
        -0.14,  # title:doing
        -0.03,  # steps
        -0.08,  # headings
        -0.47,  # fences
        -0.22,  # programs
        -0.22,  # shell
        -0.08,  # preparing
        -0.03,  # failures
        -0.16,  # imperatives
        -0.19,  # dates
        -0.24,  # past
        -0.11,  # moments
        0.69,  # first-person
        0.22,  # second-person
        -0.48,  # length
    ),
    "convention": (
        -0.54,  # rate:preference
        1.55,  # rate:convention
        0.30,  # rate:reference
        -0.24,  # rate:workflow
        0.25,  # rate:fix
        0.05,  # rate:idea
        -0.30,  # opening:preference
        1.08,  # opening:convention
        0.43,  # opening:reference
        0.07,  # opening:workflow
        -0.05,  # opening:fix
        0.14,  # opening:idea
        -0.20,  # title:fix
        -0.26,  # title:doing
        -0.02,  # steps
        -0.24,  # headings
        -0.82,  # fences
        -0.32,  # programs
        -0.47,  # shell
        -0.30,  # preparing
        -0.18,  # failures
        -0.34,  # imperatives
        -0.31,  # dates
        0.13,  # past
        -0.40,  # moments
        0.35,  # first-person
        -0.21,  # second-person
        -0.66,  # length
    ),
    "reference": (
        -0.57,  # rate:preference
        -0.95,  # rate:convention
        0.08,  # rate:reference
        -0.82,  # rate:workflow
        0.03,  # rate:fix
        -0.76,  # rate:idea
        -0.56,  # opening:preference
        -0.18,  # opening:convention
        0.12,  # opening:reference
        0.46,  # opening:workflow
        -0.23,  # opening:fix
        -0.13,  # opening:idea
        0.78,  # title:fix
        -0.32,  # title:doing
        -0.03,  # steps
        -0.32,  # headings
        0.62,  # fences
        0.97,  # programs
        0.04,  # shell
        -0.37,  # preparing
        -0.09,  # failures
        0.37,  # imperatives
        0.80,  # dates
        0.34,  # past
        0.80,  # moments
        0.37,  # first-person
        0.11,  # second-person
        -0.12,  # length
    ),
    "workflow": (
        -0.68,  # rate:preference
        -0.67,  # rate:convention
        -0.48,  # rate:reference
        1.64,  # rate:workflow
        -0.41,  # rate:fix
        -0.42,  # rate:idea
        -0.07,  # opening:preference
        -0.79,  # opening:convention
        -0.32,  # opening:reference
        -0.18,  # opening:workflow
        -0.55,  # opening:fix
        -0.01,  # opening:idea
        -0.09,  # title:fix
        0.68,  # title:doing
        0.38,  # steps
        0.97,  # headings
        0.71,  # fences
        0.14,  # programs
        -0.03,  # shell
        0.57,  # preparing
        0.20,  # failures
        0.54,  # imperatives
        0.21,  # dates
        -0.23,  # past
        -0.24,  # moments
        -0.51,  # first-person
        0.67,  # second-person
        1.26,  # length
    ),
    "fix": (
        0.22,  # rate:preference
        0.40,  # rate:convention
        0.20,  # rate:reference
        -0.22,  # rate:workflow
        0.98,  # rate:fix
        -0.07,  # rate:idea
        0.08,  # opening:preference
        0.00,  # opening:convention
        -0.14,  # opening:reference
        -0.12,  # opening:workflow
        1.36,  # opening:fix
        -0.96,  # opening:idea
        -0.35,  # title:fix
        0.13,  # title:doing
        -0.29,  # steps
        -0.20,  # headings
        0.39,  # fences
        -0.29,  # programs
        0.76,  # shell
        0.24,  # preparing
        0.13,  # failures
        -0.15,  # imperatives
        -0.10,  # dates
        1.16,  # past
        -0.10,  # moments
        -0.86,  # first-person
        -0.46,  # second-person
        0.31,  # length
    ),
    "idea": (
        -0.10,  # rate:preference
        -0.04,  # rate:convention
        -0.12,  # rate:reference
        -0.18,  # rate:workflow
        -0.34,  # rate:fix
        1.84,  # rate:idea
        0.04,  # opening:preference
        0.10,  # opening:convention
        0.02,  # opening:reference
        -0.17,  # opening:workflow
        -0.17,  # opening:fix
        1.32,  # opening:idea
        -0.02,  # title:fix
        -0.09,  # title:doing
        -0.01,  # steps
        -0.14,  # headings
        -0.44,  # fences
        -0.28,  # programs
        -0.08,  # shell
        -0.06,  # preparing
        -0.03,  # failures
        -0.26,  # imperatives
        -0.41,  # dates
        -1.15,  # past
        0.05,  # moments
        -0.05,  # first-person
        -0.33,  # second-person
        -0.30,  # length
    ),
}

LIKENESS: Final = 5.0
"""For each 1.0 of cosine to a definition. Fixed: from 0 to 8 the six came out the same (their cue
words say it all), and this much lets a type that has none win where a note is about it."""

NEW_TYPE_RATE: Final = 1.29
NEW_TYPE_OPENING: Final = 0.75
"""Means of what the six types have for their own cue words."""

NEW_TYPE_BIAS: Final = 1.0
"""For a type that likeness was measured to: what short notes about its subject need to win. With a
type for recipes added, of 172 notes about other things none was taken for one (at 1.5 one was)."""
