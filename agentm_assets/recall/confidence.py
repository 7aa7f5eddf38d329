"""How far an answer can be trusted: the chance that the vault holds what is asked for.

A product of small logistic curves over things that a reader can check: whether the vault speaks of
the matter (words that the best hits hold, nearness in meaning, words that no section holds),
whether it says so of the one who is asked about, and whether it knows the names of the question.
`bench/confidence.py` fits the constants, docs/performance.md has what they reach.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, log1p

from agentm_assets.index.lexical_terms import STOP_WORDS
from agentm_assets.recall.answer import Grounds, Verdict
from agentm_assets.recall.snippet import Analyse

ANSWER_FROM = 0.5
"""An answer is trusted when it is rather right than wrong."""

WEAK_FROM = 0.29
LEXICAL_WEAK_FROM = 0.22
"""Below this the vault does not hold the answer; the second is for answers without a cosine. Chosen
on the tuning half so that of 100 questions that a vault answers no more than 5 are lost."""

_SMALL, _LARGE = log(100), log(5_000)  # the sizes of vault that were fitted on
_MIDDLE = log(1_000)


@dataclass(frozen=True, slots=True)
class Curve:
    """Coefficients of one mode, fitted together (`python bench/confidence.py fit`): of the matter,
    of the speaker, and of what an unknown name leaves. The larger a vault, the nearer something in
    it is to any question, and the more a name that it lacks tells."""

    words: float
    meaning: float
    unseen: float
    size: float
    base: float
    speaker: float
    speaker_base: float
    unknown_base: float
    unknown_size: float


HYBRID = Curve(0.27, 7.71, -3.26, -0.34, -2.05, 8.41, 0.46, -0.48, -0.75)
LEXICAL = Curve(2.15, 0.0, -2.35, -0.08, 0.16, 7.40, 0.98, -0.93, -0.71)

_STOP_TEXT = " ".join(sorted(STOP_WORDS))
_NOTHING_ASKED_FACTOR = 0.3  # "what is it?" has no words that a note could hold
_UNKNOWN_THING_FACTOR = 0.3  # an issue or a commit that no note mentions
_NAMED_CONFIDENCE = 0.75  # at least; it mentions the issue that is asked about, and maybe no more
_UNTIMELY_CONFIDENCE = 0.45
"""At most, of what "last week" asks for where nothing was captured then: weak, not an answer."""

_DATED_CONFIDENCE = 0.6  # "what happened yesterday?" has no words to hold, and notes of that day


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for one hit.

    `coverage`: share (0..1) of the question's weight of words, rare ones weighing more, that title,
    names, heading and section hold; None when the question has no telling word. `cosine`: nearness
    in meaning, 0 where the dense arm did not find it, None when there was no dense arm. `named`:
    it mentions the very thing that the question names. `in_time`: it was captured when the question
    says. `spelled_otherwise`: compound terms of the question whose parts all stand in it.
    """

    coverage: float | None
    cosine: float | None
    named: bool
    in_time: bool
    spelled_otherwise: frozenset[str] = frozenset()


def telling(terms: Mapping[str, float], analyse: Analyse) -> dict[str, float]:
    """The terms with their weights, without words that say nothing about which note is meant."""
    stop = set(analyse(_STOP_TEXT))
    return {term: weight for term, weight in terms.items() if term not in stop}


def spelled_otherwise(
    compounds: Mapping[str, frozenset[str]], present: Iterable[str]
) -> frozenset[str]:
    """The compounds (term -> terms of its parts) whose parts are all `present`: `boil_detect` where
    `boilDetect` was asked for."""
    held = set(present)
    return frozenset(term for term, parts in compounds.items() if parts <= held)


def coverage(terms: Mapping[str, float], present: Iterable[str]) -> float | None:
    """Share of the weight of `terms` (term -> inverse document frequency) that `present` holds."""
    whole = sum(terms.values())
    if whole <= 0:
        return None
    return sum(terms[term] for term in terms.keys() & set(present)) / whole


def grounds(
    evidence: Sequence[Evidence],
    *,
    sections: int,
    unseen: float = 0.0,
    unknown_name: bool = False,
    unknown_thing: bool = False,
    speaker: float | None = None,
) -> Grounds:
    """What an answer's confidence rests on: the most that any of its first hits shows.

    `sections`: of the whole vault. The other arguments are the fields of Grounds.
    """
    shares = [each.coverage for each in evidence if each.coverage is not None]
    cosines = [max(0.0, each.cosine) for each in evidence if each.cosine is not None]
    return Grounds(
        words=max(shares, default=None),
        meaning=max(cosines, default=None),
        sections=sections,
        unseen=unseen,
        unknown_name=unknown_name,
        unknown_thing=unknown_thing,
        speaker=speaker,
        named=any(each.named for each in evidence),
        in_time=any(each.in_time for each in evidence),
    )


def judge(found: Grounds | None, *, untimely: bool = False) -> tuple[float, Verdict]:
    """Confidence (0..1) and verdict of an answer; `found` None: it has no hit. `untimely`: asked
    for what was captured at a time at which nothing was."""
    if found is None:
        return 0.0, "none"
    confidence = _confidence(found)
    if untimely:
        confidence = min(_UNTIMELY_CONFIDENCE, confidence)
    if confidence >= ANSWER_FROM:
        return confidence, "answer"
    weak_from = LEXICAL_WEAK_FROM if found.meaning is None else WEAK_FROM
    return confidence, "weak" if confidence >= weak_from else "none"


def size_of(found: Grounds) -> float:
    """The size of the vault on a logarithmic scale, 0 at 1,000 sections; never beyond the sizes
    that the curves were fitted on."""
    return min(max(log1p(found.sections), _SMALL), _LARGE) - _MIDDLE


def _confidence(found: Grounds) -> float:
    curve = LEXICAL if found.meaning is None else HYBRID
    confidence = _of_matter(found, curve)
    if found.named:
        confidence = max(_NAMED_CONFIDENCE, confidence)
    if found.speaker is not None:
        confidence *= _logistic(curve.speaker * found.speaker + curve.speaker_base)
    if found.unknown_name:
        # A vault of some notes lacks many a name that a question about them may hold.
        confidence *= _logistic(curve.unknown_base + curve.unknown_size * size_of(found))
    if found.unknown_thing:
        confidence *= _UNKNOWN_THING_FACTOR
    return confidence


def _of_matter(found: Grounds, curve: Curve) -> float:
    if found.words is None and found.in_time:
        return _DATED_CONFIDENCE
    support = _logistic(
        curve.words * (found.words or 0.0)
        + curve.meaning * (found.meaning or 0.0)
        + curve.unseen * found.unseen
        + curve.size * size_of(found)
        + curve.base
    )
    return support * (_NOTHING_ASKED_FACTOR if found.words is None else 1.0)


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x))
