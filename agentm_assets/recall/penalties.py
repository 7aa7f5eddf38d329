"""Multipliers that lower a note inside each arm before the arms are fused. None ever raises one.

Values: design of the ranking (status 0.6; spaces, artifacts and machine pages 0.3). They are part
of the shipped ranker, so they change only with an evaluation on two unlike corpora.

`unfiled` lowers raw notes alone. One that a judge has read and was not sure of is no worse for
that: lowering it as well cost 2 of 27 questions over notes their place among the first five once
the notes were judged (docs/performance.md). Nor does its altitude count: nobody is sure of it.
"""

import re
from dataclasses import dataclass

from agentm_assets.contract.spaces import is_generated, is_rules_file
from agentm_assets.index.facts_reader import NoteFacts
from agentm_assets.recall.decay import Faded
from agentm_assets.recall.ranking import RankingRules

STATUS_FACTOR = 0.6
SPACE_FACTOR = 0.3
ALTITUDE_FACTOR = 0.3
MACHINE_PAGE_FACTOR = 0.3

ALTITUDE_SHARE = 0.9
"""The altitude penalty sleeps until this share of the memory notes carries the field: before, it
would punish exactly the notes that have been enriched."""

ROLLUP_FACTOR = 0.6
"""A page of an entity repeats sentences of its notes: it ranks below its facts (design: derivation
depth)."""

_DISTILLED = frozenset({"entities", "crystallized"})
_LOWERED_STATUS = frozenset({"superseded", "expired"})
_MACHINE_FOLDERS = ("agent/_dream/", "agent/_meta/", "agent/diagnostics/", "agent/desk/proposals/")
_ASKS_FOR_ARTIFACTS = re.compile(
    r"\b(?:meetings?|sessions?|conversations?|transcripts?|traces?|discuss(?:ed|ion|ions)|talked|"
    r"chats?|logs?|journals?|diar(?:y|ies)|minutes\s+of|stand-?ups?|what\s+happened|incidents?|"
    r"observations?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PenaltyContext:
    """What about the question and the vault decides which penalties are awake."""

    rules: RankingRules
    wants_artifacts: bool
    altitude_share: float
    decay_applies: bool


@dataclass(frozen=True, slots=True)
class Penalty:
    """The product of all factors, above 0 and at most 1, and their names ("status:expired")."""

    factor: float
    names: tuple[str, ...]


def asks_for_artifacts(question: str) -> bool:
    """Whether a question is about moments (a meeting, a session) rather than durable statements."""
    return _ASKS_FOR_ARTIFACTS.search(question) is not None


def penalty_of(note: NoteFacts, fading: Faded, context: PenaltyContext) -> Penalty:
    """All penalties of one note."""
    factors: list[tuple[str, float]] = []
    is_unfiled = note.status == "unfiled"
    if note.status in _LOWERED_STATUS or (is_unfiled and note.judged_by is None):
        factors.append((f"status:{note.status}", STATUS_FACTOR))
    if note.space.lower() in context.rules.dampened_spaces:
        factors.append((f"space:{note.space}", SPACE_FACTOR))
    if (
        note.altitude == "artifact"
        and not is_unfiled
        and not context.wants_artifacts
        and context.altitude_share >= ALTITUDE_SHARE
    ):
        factors.append(("altitude:artifact", ALTITUDE_FACTOR))
    if is_machine_page(note):
        factors.append(("machine-page", MACHINE_PAGE_FACTOR))
    elif note.memory_class == "entities":
        factors.append(("rollup", ROLLUP_FACTOR))
    if context.decay_applies and fading.weight < 1.0:
        factors.append((f"decay:{fading.band}", fading.weight))
    product = 1.0
    for _name, factor in factors:
        product *= min(1.0, factor)
    return Penalty(product, tuple(name for name, _factor in factors))


def is_machine_page(note: NoteFacts) -> bool:
    """Reports, staging, proposals and maps of the nightly passes, not what they distil into memory;
    and the rules file, whose prose has a word for everything. A map repeats the titles of all that
    it lists, so it answers any question about one of them nearly as well as the note itself."""
    return (
        note.kind == "proposal"
        or note.path.lower().startswith(_MACHINE_FOLDERS)
        or is_rules_file(note.path)
        or (is_generated(note.path) and note.memory_class not in _DISTILLED)
    )


def lowered(score: float, factor: float) -> float:
    """`score` times `factor`, never above `score`: a negative score times 0.3 would rise."""
    return min(score, score * factor)
