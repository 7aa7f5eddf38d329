"""What one run of the pass did. Everything it looked at is in one of the counts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentm_assets.enrichment.judges import Completeness, TierUsage
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.history.outcome import Outcome, is_worth_a_remark
from agentm_assets.models.protocol import Tier


@dataclass(frozen=True, slots=True)
class Answerability:
    """Of the notes that were asked for by a sentence of their own: how many came in the first five.
    `missed` are paths."""

    asked: int
    found: int
    missed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassReport:
    """`population` = `enriched` + `refused` + `split` + `in_batch` + `deferred`, each counted once.

    `enriched`: notes that carry the judgment now, of which `activated` became active and
    `kept_unfiled` stay in the review queue. `refused`: by code; `remembered` of them are not asked
    about again. `split`: notes that became several, `fragments` those several; they are among the
    population, too. `in_batch`: handed over to a model that answers later. `deferred`: they wait
    for the next run, which goes on behind the cursor. `moved`: old path -> new. `written`: paths
    that the run changed, those it made included, for whoever indexes them; `judged` those of them
    that carry the judgment. `answerability` and `completeness` are the verdicts over them, None
    where nobody asked.
    """

    stamp: str
    rules_hash: str
    population: int
    enriched: int
    activated: int
    kept_unfiled: int
    split: int
    fragments: int
    refused: Mapping[str, int]
    gates: Mapping[str, int]
    remembered: int
    in_batch: int
    deferred: int
    deferred_because: str | None
    awaiting_model: int
    moved: Mapping[str, str]
    written: tuple[str, ...]
    judged: tuple[str, ...]
    removed: tuple[str, ...]
    usage: Mapping[Tier, TierUsage]
    seconds: float
    outcomes: tuple[Outcome, ...]
    remarks: tuple[str, ...]
    completeness: Completeness | None = None
    answerability: Answerability | None = None

    @property
    def did_nothing(self) -> bool:
        return not self.written

    @property
    def text(self) -> str:
        """One line for the operator."""
        counts = (
            (self.enriched, "judged"),
            (self.activated, "set active"),
            (self.kept_unfiled, "kept for review"),
            (self.split, "split"),
            (len(self.moved), "renamed"),
            (self.in_batch, "asked about in a batch, to be written by a run after it ended"),
            (sum(self.refused.values()), f"not judged ({_most_frequent(self.refused)})"),
            (self.deferred, f"deferred ({self.deferred_because or 'for the next run'})"),
            (self.awaiting_model, "stale until a model is there"),
        )
        said = [f"{count:,} {what}" for count, what in counts if count]
        verdict = self.answerability
        if verdict is not None and verdict.asked:
            said.append(f"{verdict.found:,} of {verdict.asked:,} found by a sentence of theirs")
        return ", ".join(said) or "nothing waits"


def _most_frequent(codes: Mapping[str, int]) -> str:
    most = Counter(codes).most_common(3)
    more = len(codes) - len(most)
    said = [f"{code} {count:,}" for code, count in most]
    return ", ".join([*said, f"{more:,} other codes"] if more else said)


@dataclass(slots=True)
class Tally:
    """A report while it is being made."""

    population: int = 0
    judged: dict[str, None] = field(default_factory=dict)
    enriched: int = 0
    activated: int = 0
    kept_unfiled: int = 0
    split: int = 0
    fragments: int = 0
    remembered: int = 0
    in_batch: int = 0
    deferred: int = 0
    deferred_because: str | None = None
    codes: Counter[str] = field(default_factory=Counter)
    gates: Counter[str] = field(default_factory=Counter)
    moved: dict[str, str] = field(default_factory=dict)
    written: dict[str, None] = field(default_factory=dict)
    removed: dict[str, None] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def refuse(self, refusal: Refusal) -> None:
        self.codes[refusal.code] += 1
        self.gates[refusal.gate] += 1
        self.remembered += refusal.remembered

    def add_outcome(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        if is_worth_a_remark(outcome) and outcome.text not in self.remarks:
            self.remarks.append(outcome.text)

    def report(
        self,
        *,
        stamp: str,
        rules_hash: str,
        awaiting_model: int,
        usage: Mapping[Tier, TierUsage],
        seconds: float,
        completeness: Completeness | None,
    ) -> PassReport:
        return PassReport(
            stamp=stamp,
            rules_hash=rules_hash,
            population=self.population,
            enriched=self.enriched,
            activated=self.activated,
            kept_unfiled=self.kept_unfiled,
            split=self.split,
            fragments=self.fragments,
            refused=dict(sorted(self.codes.items())),
            gates=dict(sorted(self.gates.items())),
            remembered=self.remembered,
            in_batch=self.in_batch,
            deferred=self.deferred,
            deferred_because=self.deferred_because,
            awaiting_model=awaiting_model,
            moved=dict(self.moved),
            written=tuple(self.written),
            judged=tuple(self.judged),
            removed=tuple(self.removed),
            usage=dict(usage),
            seconds=seconds,
            outcomes=tuple(self.outcomes),
            remarks=tuple(self.remarks),
            completeness=completeness,
        )
