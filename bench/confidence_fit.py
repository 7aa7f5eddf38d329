"""Fitting the curves of the confidence to judged questions, and what they then reach."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from agentm_assets.recall import confidence
from agentm_assets.recall.answer import Grounds
from agentm_assets.recall.confidence import Curve, judge, size_of

WEIGHTS = {
    "dialogue, answerable": 1.0,
    "notes, answerable": 0.7,
    "small vaults, answerable": 0.7,
    "dialogue, of the other speaker": 0.8,
    "notes, near topic": 0.4,
    "dialogue asked of notes": 0.25,
    "notes asked of dialogue": 0.25,
    "small vaults, of other notes": 0.5,
    "junk": 0.3,
}
"""What a whole group of questions counts, whatever their number: about as much for those that the
vault answers as for those that it does not. The confidence is a chance under this mixture."""

_STEPS, _RATE, _DECAY = 6_000, 0.02, 1e-4
_Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question that was asked. `tuning`: of the half that constants are chosen on. `grounds`:
    None when recall found nothing at all."""

    id: str
    group: str
    tuning: bool
    answerable: bool
    mode: str
    grounds: Grounds | None


def fit(questions: Sequence[Judged], start: Curve) -> Curve:
    """The coefficients with the highest likelihood on the tuning half, by gradient descent (Adam).

    Questions that a rule decides (what is named, or only dated) tell nothing of the curves.
    """
    used = [each for each in questions if each.tuning and _by_curves(each.grounds)]
    counts = Counter(each.group for each in used)
    weights = np.array([WEIGHTS[each.group] / counts[each.group] for each in used])
    weights /= weights.sum()
    answerable = np.array([each.answerable for each in used])
    matter, speaker, unknown, asks, lacks = _inputs([g for each in used if (g := each.grounds)])
    if start.meaning == 0:
        matter[:, 1] = 0.0
    point = np.array([getattr(start, field.name) for field in fields(start)])
    mean, spread = np.zeros_like(point), np.zeros_like(point)
    for step in range(1, _STEPS + 1):
        of_matter, of_speaker, of_unknown = (
            _logistic(inputs @ part)
            for inputs, part in (
                (matter, point[:5]),
                (speaker, point[5:7]),
                (unknown, point[7:]),
            )
        )
        chance = of_matter * np.where(asks, of_speaker, 1.0) * np.where(lacks, of_unknown, 1.0)
        chance = np.clip(chance, 1e-6, 1 - 1e-6)
        # The loss by the log of the chance; each factor then adds (1 - itself) times its inputs.
        pull = weights * np.where(answerable, -1.0, chance / (1 - chance))
        slope = np.concatenate(
            (
                (pull * (1 - of_matter)) @ matter,
                (pull * (1 - of_speaker) * asks) @ speaker,
                (pull * (1 - of_unknown) * lacks) @ unknown,
            )
        )
        slope += 2 * _DECAY * point
        mean = 0.9 * mean + 0.1 * slope
        spread = 0.999 * spread + 0.001 * slope**2
        moved = (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
        point = point - _RATE * moved
    return Curve(*(round(float(value), 2) for value in point))


def threshold(questions: Sequence[Judged], loss: float) -> float:
    """The confidence below which the share `loss` of the answerable tuning questions lies: of the
    dialogues, and of all, whichever is lower."""
    own = [each for each in questions if each.tuning and each.answerable]
    dialogue = [each for each in own if each.group.startswith("dialogue")]
    return min(float(np.quantile(_confidences(each), loss)) for each in (own, dialogue))


def curve_table(questions: Sequence[Judged]) -> dict[str, dict[str, float]]:
    """Loss → threshold, and the share of each group below it, both halves apart."""
    table: dict[str, dict[str, float]] = {}
    for loss in (0.02, 0.05, 0.10):
        least = threshold(questions, loss)
        for tuning, half in ((True, "tuning"), (False, "held back")):
            row = {"below": least}
            for group, members in _groups(questions, tuning).items():
                row[group] = float(np.mean(_confidences(members) < least))
            table[f"loss {loss:.0%}, {half}"] = row
    return table


def verdict_table(questions: Sequence[Judged], *, tuning: bool) -> dict[str, str]:
    """Group → how many are judged `none`, with the 95% interval of the share after Wilson."""
    found: dict[str, str] = {}
    for group, members in _groups(questions, tuning).items():
        verdicts = Counter(judge(each.grounds)[1] for each in members)
        low, high = wilson(verdicts["none"], len(members))
        found[group] = (
            f"none {verdicts['none']} of {len(members)} ({verdicts['none'] / len(members):.3f}, "
            f"{low:.3f} to {high:.3f}), weak {verdicts['weak']}, answer {verdicts['answer']}"
        )
    return found


def reliability(questions: Sequence[Judged], *, tuning: bool) -> dict[str, str]:
    """Tenths of the confidence → its mean, the weighed share that is answerable, the number; and
    the expected calibration error."""
    members = [each for each in questions if each.tuning == tuning and each.group in WEIGHTS]
    counts = Counter(each.group for each in members)
    weights = np.array([WEIGHTS[each.group] / counts[each.group] for each in members])
    answerable = np.array([each.answerable for each in members], float)
    said = _confidences(members)
    tenth = np.minimum((said * 10).astype(int), 9)
    found, error = {}, 0.0
    for at in range(10):
        inside = tenth == at
        if not inside.any():
            continue
        mass = weights[inside].sum()
        mean = float((weights * said)[inside].sum() / mass)
        share = float((weights * answerable)[inside].sum() / mass)
        error += abs(mean - share) * mass / weights.sum()
        found[f"{at / 10:.1f}"] = f"said {mean:.2f}, true {share:.2f} (n = {int(inside.sum())})"
    return {**found, "expected calibration error": f"{error:.3f}"}


def wilson(successes: int, n: int, z: float = 1.96) -> tuple[float, float]:
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half


def using(curve: Curve, mode: str) -> Callable[[], None]:
    """Put a fitted curve in the place of the shipped one; the result undoes it."""
    name = "HYBRID" if mode == "hybrid" else "LEXICAL"
    shipped = getattr(confidence, name)
    setattr(confidence, name, curve)
    return lambda: setattr(confidence, name, shipped)


def _by_curves(found: Grounds | None) -> bool:
    return found is not None and not found.named and found.words is not None


def _inputs(found: Sequence[Grounds]) -> tuple[_Values, _Values, _Values, _Values, _Values]:
    matter = np.array(
        [(g.words or 0.0, g.meaning or 0.0, g.unseen, size_of(g), 1.0) for g in found]
    )
    speaker = np.array([(g.speaker or 0.0, 1.0) for g in found])
    unknown = np.array([(1.0, size_of(g)) for g in found])
    asks = np.array([g.speaker is not None for g in found])
    return matter, speaker, unknown, asks, np.array([g.unknown_name for g in found])


def _confidences(questions: Sequence[Judged]) -> _Values:
    return np.array([judge(each.grounds)[0] for each in questions])


def _groups(questions: Sequence[Judged], tuning: bool) -> dict[str, list[Judged]]:
    found: defaultdict[str, list[Judged]] = defaultdict(list)
    for each in questions:
        if each.tuning == tuning:
            found[each.group].append(each)
    return dict(sorted(found.items()))


def _logistic(values: _Values) -> _Values:
    result: _Values = 1 / (1 + np.exp(-values))
    return result


def without_speaker(question: Judged) -> Judged:
    """As if the question asked of nobody: what that part of the confidence is worth."""
    grounds = question.grounds
    return (
        question if grounds is None else replace(question, grounds=replace(grounds, speaker=None))
    )
