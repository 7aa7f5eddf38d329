"""How much a memory has faded: computed always, applied only when the rules switch it on.

Age is counted from the day of capture or of the last genuine recall, whichever is later. A file's
mtime is never an anchor: a rewrite of the vault would make every note young. A note without an
anchor does not fade.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, tzinfo

from agentm_assets.index.facts_reader import NoteFacts
from agentm_assets.recall.periods import captured_day
from agentm_assets.recall.ranking import RankingRules

HALF, EIGHTH = 0.5, 0.125
"""Weights of the second and third band; the first is 1, the last the rules' floor."""


@dataclass(frozen=True, slots=True)
class Faded:
    """`weight` lies between the floor and 1 and never is 0: a cold memory stays reachable."""

    weight: float
    band: str  # full, half, eighth, floor, cold
    archived: bool  # old enough to leave everyday search


FRESH = Faded(1.0, "full", False)


def last_touch(
    note: NoteFacts, last_recalled: Mapping[str, date], zone: tzinfo | None
) -> date | None:
    """The day from which this note's age counts; None when nothing says."""
    captured = None if note.captured is None else captured_day(note.captured, zone)
    recalled = last_recalled.get(note.path)
    return max((day for day in (captured, recalled) if day is not None), default=None)


def never_fades(note: NoteFacts, rules: RankingRules) -> bool:
    """Durable notes, incidents, crystallized lessons, decisions, spaces outside the contract."""
    return (
        note.lifecycle_tier == "durable"
        or note.kind in ("failure-incident", "crystallized")
        or note.memory_class == "crystallized"
        or note.space.lower() in rules.contract_exempt_spaces
        or any(part.casefold() == "decisions" for part in note.path.split("/")[:-1])
    )


def faded(note: NoteFacts, anchor: date | None, today: date, rules: RankingRules) -> Faded:
    """The band of a note whose age counts from `anchor`. A future anchor is age 0."""
    if anchor is None or never_fades(note, rules):
        return FRESH
    age, bands = (today - anchor).days, rules.decay
    archived = age > bands.archive_after_days
    for weight, band, last_day in (
        (1.0, "full", bands.full_days),
        (HALF, "half", bands.half_days),
        (EIGHTH, "eighth", bands.eighth_days),
        (bands.floor_weight, "floor", bands.floor_days),
    ):
        if age <= last_day:
            return Faded(weight, band, archived)
    return Faded(bands.floor_weight, "cold", archived)
