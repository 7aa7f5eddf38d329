"""Putting the arms together: normalised scores, combined linearly.

Reciprocal rank fusion is not used: with a weak dense arm it ranks below BM25 alone (LoCoMo turn
R@5 .474 against .534), since every arm gets an equal vote however unsure it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each arm counts. Chosen on tuning data only; see docs/performance.md."""

    lexical: float = 0.45
    dense: float = 0.55


WEIGHTS = Weights()

FULL_COSINE = 0.4
"""Cosine from which the dense arm's best counts fully: the nearest of nothing near says little."""

GUARD_MARGIN = 1.15
"""The lexical first hit is strong when its score is this many times that of the next note."""

GUARD_RANK = 3
"""A strong lexical first hit is never placed below this."""


UNRELATED_COSINE = 0.15
"""About what MiniLM gives texts that have nothing to do with each other."""


def normalise(
    scores: Mapping[str, float], *, complete: bool, zero: float = 0.0, full: float = 0.0
) -> dict[str, float]:
    """Scores of one arm mapped to 0..1: the best is 1 if it reaches `full`, equal ones are equal.

    The worst is 0 when the arm was cut off: those behind the cut count 0 as well. A `complete` arm
    holds all there is, so that its worst is not worthless by that alone: it is set against `zero`.
    """
    if not scores:
        return {}
    low = zero if complete else min(scores.values())
    high = max(full, max(scores.values()))
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    return {key: max(0.0, (score - low) / (high - low)) for key, score in scores.items()}


def combine(
    lexical: Mapping[str, float], dense: Mapping[str, float], weights: Weights = WEIGHTS
) -> dict[str, float]:
    """path -> weighted mean of both arms, 0..1. An arm without any hit counts for nothing, a note
    that is absent from an arm counts 0 there.

    Both are normalised and lowered by the penalties.
    """
    shares = (weights.lexical if lexical else 0.0, weights.dense if dense else 0.0)
    whole = sum(shares) or 1.0
    return {
        path: (shares[0] * lexical.get(path, 0.0) + shares[1] * dense.get(path, 0.0)) / whole
        for path in {**lexical, **dense}
    }


def fuse(arms: Mapping[str, float], bonus: Mapping[str, float]) -> list[tuple[str, float]]:
    """(path, score) best first; equal scores in path order. `bonus` is added as it is. A score lies
    between 0 and 1."""
    scored = [(path, arms.get(path, 0.0) + bonus.get(path, 0.0)) for path in {**arms, **bonus}]
    highest = max(1.0, max((score for _path, score in scored), default=1.0))
    return sorted(
        ((path, score / highest) for path, score in scored), key=lambda item: (-item[1], item[0])
    )


def keep_first_lexical(
    ranked: Sequence[tuple[str, float]], lexical: Mapping[str, float]
) -> list[tuple[str, float]]:
    """`ranked` with a strong lexical first hit no lower than GUARD_RANK.

    `lexical` are the arm's own scores, lowered by the penalties. A dense arm that knows little of a
    vault's names would else bury the one note that holds the words asked for. The moved hit takes
    the score of the place it gets.
    """
    result = list(ranked)
    by_score = sorted(lexical.items(), key=lambda item: (-item[1], item[0]))
    if not by_score or by_score[0][1] <= 0:
        return result
    if len(by_score) > 1 and by_score[0][1] < GUARD_MARGIN * by_score[1][1]:
        return result
    first = by_score[0][0]
    at = next(index for index, (path, _score) in enumerate(result) if path == first)
    if at >= GUARD_RANK:
        del result[at]
        result.insert(GUARD_RANK - 1, (first, result[GUARD_RANK - 1][1]))
    return result
