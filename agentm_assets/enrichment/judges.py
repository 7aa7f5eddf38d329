"""The judges behind one face: a model between its gates, or the one that needs nothing."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import duckdb

from agentm_assets.contract.rules import LoadedRules
from agentm_assets.contract.spaces import is_model_exempt
from agentm_assets.enrichment.extractive.judge import ExtractiveJudge
from agentm_assets.enrichment.extractive.vocabulary import Vocabulary
from agentm_assets.enrichment.gates.budget import Budget
from agentm_assets.enrichment.gates.privacy import ScrubbedSubject
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.models.embedder import EmbeddingFailed
from agentm_assets.models.protocol import Tier
from agentm_assets.privacy.scrub import restore
from agentm_assets.storage.locator import Locator


@dataclass(frozen=True, slots=True)
class TierUsage:
    """What a run used of one tier. `cost` in US dollars, of the calls whose price is known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class HandedOver:
    """How many notes a batch asks about since this run. `failed`: those that could not be handed
    over, `because` says why; they wait."""

    notes: int = 0
    failed: int = 0
    because: str | None = None


@dataclass(frozen=True, slots=True)
class Completeness:
    """Rewrites of which a second model was asked how much of the source they hold. `covered`: on
    average, 0 to 1, of the `scored`; `unable`: those of which it gave no score."""

    scored: int = 0
    covered: float = 0.0
    unable: int = 0

    @property
    def asked(self) -> int:
        return self.scored + self.unable


IN_BATCH: Final = "model-in-batch"
"""The code of a note that a batch asks about: its answer comes later."""


class Judge(Protocol):
    """Who judges notes. `stamp` is what `enriched_by` holds then."""

    @property
    def stamp(self) -> str: ...
    @property
    def is_generative(self) -> bool: ...
    @property
    def also_current(self) -> Collection[str]:
        """Stamps of judgments that this judge has no reason to make anew."""

    def judge(
        self, scrubbed: ScrubbedSubject, rules: LoadedRules, budget: Budget
    ) -> Judgment | Refusal:
        """The judgment, with the originals in the place of placeholders, schema and budget seen
        to; or which gate stayed shut."""

    def ground(
        self, scrubbed: ScrubbedSubject, judgment: Judgment, rules: LoadedRules, budget: Budget
    ) -> Refusal | None:
        """Whether every claim of the judgment is the note's own."""

    def through(self, scrubbed: ScrubbedSubject, rules: LoadedRules) -> None:
        """The judgment is in the vault, or never will be: what was kept for it can go."""

    def finish(self) -> "HandedOver":
        """The run has asked about all it wants to: hand over what goes in a batch."""

    def usage(self) -> Mapping[Tier, TierUsage]: ...

    def completeness(self) -> Completeness | None:
        """The score over the sampled rewrites of this run; None for a judge that rewrites none."""

    def records(self) -> Mapping[Locator, Sequence[bytes]]:
        """Lines for the vault's machine records, since the last time; they go into the commit."""

    def remarks(self) -> tuple[str, ...]:
        """What the operator should hear of this judge's work in this run."""


class LocalJudge:
    """The extractive judge. It calls nobody and spends nothing; its words are the note's own."""

    is_generative: Final = False
    also_current: Final = ()

    def __init__(self, judge: ExtractiveJudge, vocabulary: Vocabulary) -> None:
        self._judge = judge
        self._vocabulary = vocabulary
        self.stamp: str = judge.stamp

    def judge(
        self, scrubbed: ScrubbedSubject, rules: LoadedRules, budget: Budget
    ) -> Judgment | Refusal:
        subject = scrubbed.subject
        shown = replace(subject, source=scrubbed.source.text, title=scrubbed.title.text)
        try:
            judgment = self._judge.judge(shown, self._vocabulary)
        except EmbeddingFailed as error:
            return Refusal("model", "model-embedder", str(error))
        title = restore(judgment.title, scrubbed.source)
        summary = judgment.summary
        return replace(
            judgment,
            title=title,
            slug=judgment.slug if title != subject.title else None,
            summary=None if summary is None else restore(summary, scrubbed.source),
        )

    def ground(
        self, scrubbed: ScrubbedSubject, judgment: Judgment, rules: LoadedRules, budget: Budget
    ) -> Refusal | None:
        return None

    def through(self, scrubbed: ScrubbedSubject, rules: LoadedRules) -> None:
        return None

    def finish(self) -> HandedOver:
        return HandedOver()

    def usage(self) -> Mapping[Tier, TierUsage]:
        return {}

    def completeness(self) -> None:
        return None

    def records(self) -> Mapping[Locator, Sequence[bytes]]:
        return {}

    def remarks(self) -> tuple[str, ...]:
        return ()


def vocabulary_of(connection: duckdb.DuckDBPyConnection, rules: LoadedRules) -> Vocabulary:
    """The words by which the vault sorts its notes. A space that is closed to models lends none:
    what a note is tagged with goes out with it."""
    tags: Counter[str] = Counter()
    for path, listed in connection.execute(
        "SELECT path, tags FROM notes WHERE len(tags) > 0 ORDER BY path"
    ).fetchall():
        if not is_model_exempt(path, rules.rules):
            tags.update(listed)
    names = [
        key.partition(":")[2]
        for path, key in connection.execute(
            "SELECT path, key FROM entities WHERE kind = 'repo' ORDER BY path, key"
        ).fetchall()
        if not is_model_exempt(path, rules.rules)
    ]
    by_use = sorted(tags, key=lambda tag: (-tags[tag], tag))
    return Vocabulary(tuple(by_use), tuple(dict.fromkeys(names)))
