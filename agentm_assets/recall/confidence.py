"""How far an answer can be trusted: from the words it holds and the meaning it is near to.

A logistic curve over one number, the support of the best hit. Weight, slope and middle were fitted
on dialogues and technical notes, each asked their own questions and those of the other, half of the
dialogues held back (docs/performance.md). Between vaults that tells apart well; it does not yet see
that a question asks of one person what the vault says of another.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp

from agentm_assets.index.lexical_terms import STOP_WORDS
from agentm_assets.recall.answer import Verdict
from agentm_assets.recall.snippet import Analyse

ANSWER_FROM = 0.5
WEAK_FROM = 0.29
"""Confidence at which an answer becomes weak, and trusted. Measured with half of the dialogues held
back: WEAK_FROM gives up 2 to 4 of 100 answerable questions, and 96 of 100 that were asked of the
wrong vault."""

_COVERAGE_WEIGHT = 0.4  # the rest goes to the cosine
_SLOPE, _MIDDLE = 7.1, 0.416
_LEXICAL_SLOPE, _LEXICAL_MIDDLE = 3.9, 0.45  # without a cosine, coverage alone says less
_STOP_TEXT = " ".join(sorted(STOP_WORDS))
_UNKNOWN_NAME_FACTOR = 0.3
_NAMED_CONFIDENCE = 0.75  # at least; it mentions the issue that is asked about, and maybe no more
_DATED_CONFIDENCE = 0.6  # "what happened yesterday?" has no words to hold, and notes of that day


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for one hit.

    `coverage`: share (0..1) of the question's weight of words, rare ones weighing more, that title,
    names, heading and section hold; None when the question has no telling word. `cosine`: nearness
    in meaning, 0 where the dense arm did not find it, None when there was no dense arm. `named`:
    it mentions the very thing that the question names. `in_time`: it was captured when the question
    says.
    """

    coverage: float | None
    cosine: float | None
    named: bool
    in_time: bool


def telling(terms: Mapping[str, float], analyse: Analyse) -> dict[str, float]:
    """The terms with their weights, without words that say nothing about which note is meant."""
    stop = set(analyse(_STOP_TEXT))
    return {term: weight for term, weight in terms.items() if term not in stop}


def coverage(terms: Mapping[str, float], present: Iterable[str]) -> float | None:
    """Share of the weight of `terms` (term -> inverse document frequency) that `present` holds."""
    whole = sum(terms.values())
    if whole <= 0:
        return None
    return sum(terms[term] for term in terms.keys() & set(present)) / whole


def judge(evidence: Sequence[Evidence], *, names_unknown: bool) -> tuple[float, Verdict]:
    """Confidence (0..1) and verdict of the whole answer: those of its best hit.

    `names_unknown`: the question names something that no note holds, be it an issue or a word.
    """
    confidence = max((_confidence(each) for each in evidence), default=0.0)
    if names_unknown:
        confidence *= _UNKNOWN_NAME_FACTOR
    if confidence >= ANSWER_FROM:
        return confidence, "answer"
    return confidence, "weak" if confidence >= WEAK_FROM else "none"


def _confidence(evidence: Evidence) -> float:
    if evidence.named:
        return max(_NAMED_CONFIDENCE, _from_content(evidence))
    return _from_content(evidence)


def _from_content(evidence: Evidence) -> float:
    if evidence.coverage is None and evidence.in_time:
        return _DATED_CONFIDENCE
    if evidence.cosine is None:
        return _logistic(_LEXICAL_SLOPE * ((evidence.coverage or 0.0) - _LEXICAL_MIDDLE))
    meaning = max(0.0, evidence.cosine)
    if evidence.coverage is None:
        support = meaning
    else:
        support = _COVERAGE_WEIGHT * evidence.coverage + (1 - _COVERAGE_WEIGHT) * meaning
    return _logistic(_SLOPE * (support - _MIDDLE))


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x))
