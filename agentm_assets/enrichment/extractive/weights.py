"""Coefficients of the judgment of types.

Source: softmax regression (L2 0.01, likeness fixed) over 100 hand-labelled notes and, at 0.6 of
their weight, the 72 short notes of tests/enrichment/extractive/short_notes.json. What was
measured on notes that took no part is in docs/enrichment.md. Order: `features.FEATURES`.
"""

from collections.abc import Mapping
from typing import Final

BIAS: Final[Mapping[str, float]] = {
    "preference": 0.03,
    "convention": -0.87,
    "reference": 1.69,
    "workflow": -0.05,
    "fix": -0.46,
    "idea": -0.33,
}

WEIGHTS: Final[Mapping[str, tuple[float, ...]]] = {
    "preference": (
        1.34,  # rate:preference
        -0.02,  # rate:convention
        -0.14,  # rate:reference
        -0.27,  # rate:workflow
        -0.58,  # rate:fix
        -0.53,  # rate:idea
        0.82,  # opening:preference
        -0.04,  # opening:convention
        -0.15,  # opening:reference
        -0.15,  # opening:workflow
        -0.36,  # opening:fix
        -0.31,  # opening:idea
        -0.00,  # title:fix
        -0.19,  # title:doing
        -0.00,  # steps
        -0.07,  # headings
        -0.43,  # fences
        -0.27,  # shell
        -0.02,  # failures
        -0.29,  # imperatives
        -0.21,  # dates
        -0.06,  # past
        0.01,  # moments
        0.45,  # first-person
        -0.05,  # second-person
        -0.21,  # length
    ),
    "convention": (
        0.05,  # rate:preference
        1.37,  # rate:convention
        0.22,  # rate:reference
        -0.16,  # rate:workflow
        0.19,  # rate:fix
        -0.11,  # rate:idea
        -0.15,  # opening:preference
        0.87,  # opening:convention
        0.45,  # opening:reference
        -0.02,  # opening:workflow
        -0.00,  # opening:fix
        0.01,  # opening:idea
        -0.12,  # title:fix
        -0.22,  # title:doing
        -0.00,  # steps
        -0.19,  # headings
        -0.46,  # fences
        -0.34,  # shell
        -0.19,  # failures
        -0.31,  # imperatives
        -0.22,  # dates
        -0.28,  # past
        -0.24,  # moments
        -0.07,  # first-person
        0.03,  # second-person
        -0.26,  # length
    ),
    "reference": (
        -0.57,  # rate:preference
        -1.25,  # rate:convention
        0.33,  # rate:reference
        -0.36,  # rate:workflow
        0.05,  # rate:fix
        -0.68,  # rate:idea
        -0.70,  # opening:preference
        -0.13,  # opening:convention
        0.36,  # opening:reference
        0.43,  # opening:workflow
        -0.42,  # opening:fix
        -0.15,  # opening:idea
        0.29,  # title:fix
        -0.39,  # title:doing
        -0.28,  # steps
        -0.41,  # headings
        0.49,  # fences
        -0.46,  # shell
        0.02,  # failures
        0.29,  # imperatives
        1.08,  # dates
        0.47,  # past
        0.52,  # moments
        0.72,  # first-person
        -0.44,  # second-person
        -0.20,  # length
    ),
    "workflow": (
        -0.66,  # rate:preference
        -0.08,  # rate:convention
        -0.49,  # rate:reference
        1.21,  # rate:workflow
        -0.51,  # rate:fix
        -0.11,  # rate:idea
        -0.10,  # opening:preference
        -0.52,  # opening:convention
        -0.01,  # opening:reference
        0.11,  # opening:workflow
        -0.40,  # opening:fix
        -0.15,  # opening:idea
        -0.06,  # title:fix
        0.42,  # title:doing
        0.43,  # steps
        0.86,  # headings
        0.32,  # fences
        0.28,  # shell
        0.15,  # failures
        0.59,  # imperatives
        -0.10,  # dates
        -0.24,  # past
        -0.15,  # moments
        -0.63,  # first-person
        0.48,  # second-person
        0.69,  # length
    ),
    "fix": (
        0.13,  # rate:preference
        0.09,  # rate:convention
        0.34,  # rate:reference
        -0.21,  # rate:workflow
        0.96,  # rate:fix
        -0.13,  # rate:idea
        0.24,  # opening:preference
        -0.11,  # opening:convention
        -0.38,  # opening:reference
        -0.18,  # opening:workflow
        1.27,  # opening:fix
        -0.48,  # opening:idea
        -0.07,  # title:fix
        0.43,  # title:doing
        -0.14,  # steps
        -0.13,  # headings
        0.28,  # fences
        0.86,  # shell
        0.08,  # failures
        -0.04,  # imperatives
        -0.16,  # dates
        0.68,  # past
        -0.11,  # moments
        -0.51,  # first-person
        0.09,  # second-person
        0.17,  # length
    ),
    "idea": (
        -0.30,  # rate:preference
        -0.12,  # rate:convention
        -0.26,  # rate:reference
        -0.20,  # rate:workflow
        -0.11,  # rate:fix
        1.57,  # rate:idea
        -0.12,  # opening:preference
        -0.07,  # opening:convention
        -0.26,  # opening:reference
        -0.19,  # opening:workflow
        -0.09,  # opening:fix
        1.08,  # opening:idea
        -0.03,  # title:fix
        -0.06,  # title:doing
        -0.00,  # steps
        -0.05,  # headings
        -0.20,  # fences
        -0.06,  # shell
        -0.03,  # failures
        -0.24,  # imperatives
        -0.40,  # dates
        -0.57,  # past
        -0.03,  # moments
        0.05,  # first-person
        -0.10,  # second-person
        -0.20,  # length
    ),
}

LIKENESS: Final = 5.0
"""For each 1.0 of cosine to a definition. Fixed: 0 to 8 made no difference to the six (their cue
words say it all), and this much lets a type that has none win where a note is about it."""

NEW_TYPE_RATE: Final = 1.13
NEW_TYPE_OPENING: Final = 0.75
"""Means of what the six types have for their own cue words."""

NEW_TYPE_BIAS: Final = 0.00
