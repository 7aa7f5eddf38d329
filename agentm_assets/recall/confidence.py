"""How far an answer can be trusted: from the words it holds and the meaning it is near to.

First version: a logistic curve over two features of the best hits, fitted by hand-kept tuning data
(docs/performance.md), not by the questions it is judged on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

from agentm_assets.recall.answer import Verdict

ANSWER_FROM = 0.5
WEAK_FROM = 0.25


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for one hit.

    `coverage`: share (0..1) of the question's weight of words, rare ones weighing more, that title,
    names, heading and section hold; None when the question has no word that the index weighs.
    `cosine`: nearness in meaning, None without an embedder.
    """

    coverage: float | None
    cosine: float | None
    named: bool


def coverage(terms: Mapping[str, float], present: Sequence[str]) -> float | None:
    """Share of the weight of `terms` (term -> inverse document frequency) that `present` holds."""
    whole = sum(terms.values())
    if whole <= 0:
        return None
    held = sum(terms[term] for term in terms.keys() & set(present))
    return held / whole


def judge(evidence: Sequence[Evidence], *, names_unknown_thing: bool) -> tuple[float, Verdict]:
    """Confidence (0..1) and verdict of the whole answer: those of its best hit."""
    confidence = max((_confidence(each) for each in evidence), default=0.0)
    if names_unknown_thing:
        confidence = min(confidence, WEAK_FROM)
    confidence = min(1.0, max(0.0, confidence))
    if confidence >= ANSWER_FROM:
        return confidence, "answer"
    return confidence, "weak" if confidence >= WEAK_FROM else "none"


def _confidence(evidence: Evidence) -> float:
    if evidence.named:
        return 1.0
    return 1 / (1 + exp(-(8 * ((evidence.coverage or 0.0) - 0.5))))
