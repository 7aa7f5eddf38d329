"""How many judgments no longer hold, and what changed since they were made."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.excludes import is_excluded
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.contract.spaces import is_model_exempt
from agentm_assets.enrichment.gates.eligibility import EXTRACTIVE
from agentm_assets.enrichment.rules_seen import what_changed

OPERATOR: Final = "operator"
"""What `enriched_by` holds where the operator has said in a review what the note is. No pass judges
such a note again."""

Cause = Literal["rules", "model", "prompt"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A note that can be judged, by whom it was and under which rules; None where it never was."""

    path: str
    status: str
    enriched_by: str | None
    rules_hash: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """Why some judgments are stale. `was` is the hash of the rules or the stamp of the judge that
    they were made with, `now` the one in force; `what` names what differs in the rules, where this
    machine has seen both."""

    cause: Cause
    was: str
    now: str
    notes: int
    what: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """One line for the operator."""
        named = f" ({', '.join(self.what)})" if self.what else ""
        return f"{self.notes:,} since the {self.cause} changed{named}: {self.was} → {self.now}"


@dataclass(frozen=True, slots=True)
class Staleness:
    """Counts of notes that add up to `population`: never judged, judged and current, stale.
    `awaiting_model`: those of the stale that wait for a model which can't be asked now.
    `changes`: the most notes first."""

    population: int
    unjudged: int
    current: int
    stale: int
    awaiting_model: int
    changes: tuple[Change, ...]

    @property
    def text(self) -> str:
        """How many are stale and what changed, on one line."""
        if not self.stale:
            return "none"
        return f"{self.stale:,} judged notes: {'; '.join(change.text for change in self.changes)}"


def staleness(
    notes: Iterable[Judged],
    rules: LoadedRules,
    stamp: str | None,
    location: VaultLocation,
    *,
    also_current: Collection[str] = (),
) -> Staleness:
    """`stamp`: of the judge that would be asked now; None where none can be: then a judgment is not
    told stale by its judge. `also_current`: stamps whose judgments are as good as its own."""
    population = unjudged = current = awaiting = 0
    stale: Counter[tuple[Cause, str]] = Counter()
    for note in notes:
        if is_model_exempt(note.path, rules.rules) or is_excluded(note.path, rules.rules.excludes):
            continue
        population += 1
        by, hash_ = note.enriched_by, note.rules_hash or "unknown"
        if by is None:
            unjudged += 1
            continue
        waits = stamp is None or (not by.startswith(EXTRACTIVE) and stamp.startswith(EXTRACTIVE))
        if by == OPERATOR:
            current += 1
        elif hash_ != rules.rules_hash:
            stale["rules", hash_] += 1
            awaiting += waits
        elif stamp is None or by == stamp or by in also_current or waits:
            # Of another version alone, a model's judgment is better than none.
            current += 1
        else:
            stale["prompt" if _model(by) == _model(stamp) else "model", by] += 1
    return Staleness(
        population=population,
        unjudged=unjudged,
        current=current,
        stale=stale.total(),
        awaiting_model=awaiting,
        changes=tuple(
            Change(cause, was, rules.rules_hash, notes, what_changed(location, was, rules))
            if cause == "rules"
            else Change(cause, was, stamp or "", notes)
            for (cause, was), notes in sorted(stale.items(), key=lambda item: (-item[1], item[0]))
        ),
    )


def _model(stamp: str) -> str:
    """The judge in a stamp, without the version of prompt, schema and tier."""
    return "extractive" if stamp.startswith(EXTRACTIVE) else stamp.rpartition("+")[0]
