"""A second look at the best sections, by a model that reads question and section together.

Optional: without a model that the operator names, nothing of this runs. It measures itself and
scores as many sections as the budget allows, best first; those behind keep their places.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Protocol

from agentm_assets.index.rows import NoteRow
from agentm_assets.models.reranker_folder import RerankFailed
from agentm_assets.recall.answer import RerankTrace
from agentm_assets.recall.fusion import normalise
from agentm_assets.recall.penalties import lowered
from agentm_assets.recall.rank import Ranked
from agentm_assets.recall.sections import read_section
from agentm_assets.recall.sources import Sources
from agentm_assets.storage.vault import NoteUnreadable

MOST_PAIRS = 20
"""Sections that are looked at again. On the tuning dialogues 85 of 100 answers stand among the best
20 and 71 among the best 5: that is all that a perfect judge could win."""

FEWEST_PAIRS = 2
"""With fewer there is nothing to put in order."""

RERANK_WEIGHT = 0.5
"""The model's share of a score, the rest is the fused one. Not tuned, since no cross-encoder can be
had offline. Half, because neither knows all: the one ranker of this kind that could be measured was
best with .3 to .5 and worst alone (docs/performance.md)."""

_NEW_SHARE = 0.3  # of the last question in the moving estimate
_FORGIVEN = 0.8  # what the estimate shrinks by when it forbade a run: a busy hour passes


class PairScorer(Protocol):
    """What reranking needs of a model."""

    @property
    def model_id(self) -> str: ...

    @property
    def threads(self) -> int:
        """Pairs that are scored at once."""

    def pairs(self, question: str, texts: Sequence[str]) -> Sequence[Any]:
        """Tokenised pairs, each with its `tokens`."""

    def scores(self, pairs: Sequence[Any]) -> Sequence[float]:
        """A score each, the higher the better. Raises RerankFailed."""


class Reranking:
    """A model with its budget (milliseconds a question) and what it has learnt of its own pace.

    Keep it as long as the model is open. Use it from one thread at a time.
    """

    looks_at = MOST_PAIRS

    def __init__(
        self, model: PairScorer, budget_ms: float, clock: Callable[[], float] = perf_counter
    ) -> None:
        self.model = model
        self.budget_ms = budget_ms
        self._clock = clock
        self._ms_per_token: float | None = None

    def order(
        self,
        question: str,
        ranked: Sequence[Ranked],
        terms: Mapping[str, float],
        sources: Sources,
        in_time: bool = True,
    ) -> tuple[list[Ranked], RerankTrace]:
        """`ranked` in its new order, and what that cost: as it was when the time is too short or
        the model gives no usable score. `in_time`: False for an asker who cannot wait. Call it
        inside a snapshot of the facts."""
        began = self._clock()
        if not in_time:
            return list(ranked), self._trace(0, began, "left out: the asker has no time for it")
        looked_at = ranked[:MOST_PAIRS]
        if len(looked_at) < FEWEST_PAIRS:
            return list(ranked), self._trace(0, began, None)
        pairs = self.model.pairs(question, _texts(looked_at, terms, sources))
        try:
            scores = self._scored(pairs[: self._fitting(pairs, began)], began)
        except RerankFailed as error:
            return list(ranked), self._trace(0, began, f"not reranked: {error}", trouble=True)
        done = len(scores)
        if done < FEWEST_PAIRS:
            return list(ranked), self._trace(
                0,
                began,
                f"not reranked: the model is too slow just now for {self.budget_ms:g} ms; raise "
                "reranker.budget_ms, or name a smaller model",
                trouble=True,
            )
        return [*_blended(looked_at[:done], scores), *ranked[done:]], self._trace(
            done,
            began,
            f"{done} of {len(pairs)} sections fit {self.budget_ms:g} ms"
            if done < len(pairs)
            else None,
        )

    def _trace(
        self, pairs: int, began: float, why: str | None, *, trouble: bool = False
    ) -> RerankTrace:
        ms = round(self._since(began), 1)
        return RerankTrace(self.model.model_id, pairs, ms, why, trouble)

    def _since(self, began: float) -> float:
        return (self._clock() - began) * 1000

    def _fitting(self, pairs: Sequence[Any], began: float) -> int:
        """How many of the pairs the budget holds, by what is known of the pace: all, at first;
        none when they would be too few."""
        if self._ms_per_token is None:
            return len(pairs)
        needed = self._since(began)
        fitting = 0
        for pair in pairs:
            needed += pair.tokens * self._ms_per_token
            if needed > self.budget_ms:
                break
            fitting += 1
        if fitting < FEWEST_PAIRS:
            self._ms_per_token *= _FORGIVEN
            return 0
        return fitting

    def _scored(self, pairs: Sequence[Any], began: float) -> list[float]:
        """The scores of the first pairs: a group at a time, until the time is up."""
        scores: list[float] = []
        ms = tokens = 0.0
        for start in range(0, len(pairs), self.model.threads):
            group = pairs[start : start + self.model.threads]
            size = sum(pair.tokens for pair in group)
            pace = ms / tokens if tokens else 0.0
            if self._since(began) + pace * size > self.budget_ms:
                break
            at = self._clock()
            scores += self.model.scores(group)
            ms, tokens = ms + self._since(at), tokens + size
        if tokens:
            known = self._ms_per_token
            now = ms / tokens
            self._ms_per_token = now if known is None else known + _NEW_SHARE * (now - known)
        return scores


def _texts(ranked: Sequence[Ranked], terms: Mapping[str, float], sources: Sources) -> list[str]:
    notes = sources.facts.notes_by_path([each.path for each in ranked])
    return [_text(each, notes.get(each.path), terms, sources) for each in ranked]


def _text(
    ranked: Ranked, note: NoteRow | None, terms: Mapping[str, float], sources: Sources
) -> str:
    """Title, headings and section. What is gone from the vault counts for its headings."""
    heading = ranked.chunk.header_path
    if note is None:
        return heading
    if not heading.startswith(note.title):
        heading = f"{note.title}\n{heading}"
    try:
        section = read_section(
            ranked.chunk, note, sources.read_note, terms, sources.lexical.analyse
        )
    except (FileNotFoundError, NoteUnreadable):
        return heading
    return f"{heading}\n{section.text}"


def _blended(ranked: Sequence[Ranked], scores: Sequence[float]) -> list[Ranked]:
    """The sections among themselves, in the range of scores that they had: those behind stay
    behind. Penalties lower the model's part as they lower an arm's, and what the question names by
    its own name needs no judge."""
    names = [str(place) for place in range(len(ranked))]
    fused = normalise(
        {name: each.score for name, each in zip(names, ranked, strict=True)}, complete=False
    )
    judged = normalise(dict(zip(names, scores, strict=True)), complete=False)
    lowest, highest = ranked[-1].score, ranked[0].score
    found: list[tuple[float, Ranked]] = []
    for name, each, score in zip(names, ranked, scores, strict=True):
        part = lowered(1.0 if each.named else judged[name], each.parts.penalty)
        blend = RERANK_WEIGHT * part + (1 - RERANK_WEIGHT) * fused[name]
        judged_so = replace(
            each,
            score=lowest + blend * (highest - lowest),
            parts=replace(each.parts, rerank=score),
        )
        found.append((blend, judged_so))
    found.sort(key=lambda item: -item[0])  # equal ones keep their order
    return [each for _blend, each in found]
