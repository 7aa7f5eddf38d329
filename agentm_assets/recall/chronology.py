"""Placing by time what is equally near: for questions about what is new, or what came first."""

from collections.abc import Mapping, Sequence
from datetime import date

from agentm_assets.recall.timephrases import Order

NEAR = 0.8
"""Share of the best score from which a hit is on the subject, so that time may decide."""

TIME_SHARE = 0.2
"""How much of a score time decides then: of hits that are just near, the newest comes before the
oldest (NEAR * (1 - TIME_SHARE) + TIME_SHARE > 1 - TIME_SHARE). Not more, since dialogues pay for it
(LoCoMo 1 to 5, 18 questions for what is new: one is lost from the first five, none from ten)."""


def in_order(
    ranked: Sequence[tuple[str, float]], days: Mapping[str, date], order: Order
) -> list[tuple[str, float]]:
    """`ranked` (key, score; best first) with the newest or oldest of the near ones raised. Those
    without a day count as of the last of these days."""
    if not ranked:
        return []
    best = ranked[0][1]
    near = {key for key, score in ranked if key in days and score >= NEAR * best}
    calendar = sorted({days[key] for key in near}, reverse=order == "newest")
    place = {day: 1 - at / max(1, len(calendar) - 1) for at, day in enumerate(calendar)}
    moved = [
        (
            key,
            score * (1 - TIME_SHARE) + (best * TIME_SHARE * place[days[key]] if key in near else 0),
        )
        for key, score in ranked
    ]
    return sorted(moved, key=lambda pair: (-pair[1], pair[0]))
