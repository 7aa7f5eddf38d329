"""Why a note was not enriched: one code for each reason, counted wherever a pass reports."""

from dataclasses import dataclass
from typing import Literal

Gate = Literal[
    "probe",
    "eligibility",
    "privacy",
    "size",
    "current",
    "refused-before",
    "budget",
    "model",
    "schema",
    "tokens",
    "grounding",
    "aliases",
    "class",
    "journal",
]
"""In the order in which they are passed: seven before the model, the rest behind it."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A gate that did not open.

    `code` is stable ("schema-unknown-type"). `detail` says what was wrong, for the operator; it
    never quotes what the privacy gate found. `remembered`: the same note at the same fingerprint
    is not asked about again until it, the prompt or the gates change. That is so for an answer that
    was judged and failed, never for a judge that could not answer.
    """

    gate: Gate
    code: str
    detail: str
    remembered: bool = False
