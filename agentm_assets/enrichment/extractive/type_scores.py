"""Which type a note has: a probability for each that the rules name."""

from collections.abc import Collection, Mapping
from math import exp

from agentm_assets.enrichment.extractive.cues import Cues
from agentm_assets.enrichment.extractive.features import (
    CUED_TYPES,
    dot,
    features_of,
    opening,
    rate,
)
from agentm_assets.enrichment.extractive.weights import (
    BIAS,
    LIKENESS,
    NEW_TYPE_BIAS,
    NEW_TYPE_OPENING,
    NEW_TYPE_RATE,
    WEIGHTS,
)


def type_probabilities(
    names: Collection[str], cues: Cues, likeness: Mapping[str, float]
) -> dict[str, float]:
    """Adds up to 1 over `names`, the types that the rules have, in their alphabetic order.

    `likeness`: cosine to the definition of each, empty without an embedder; a type without a
    definition is like nothing.
    A type with a list of cue words is judged by coefficients that were fitted for it; any other by
    the words of its definition (which `cues` counted) and by likeness.
    """
    values = features_of(cues)
    scores: dict[str, float] = {}
    for name in sorted(names):
        if name in CUED_TYPES:
            score = BIAS[name] + dot(WEIGHTS[name], values)
        else:
            score = NEW_TYPE_BIAS if name in likeness else 0.0
            score += NEW_TYPE_RATE * rate(cues.hits, name, cues.words)
            score += NEW_TYPE_OPENING * opening(cues.opening, name)
        scores[name] = score + LIKENESS * likeness.get(name, 0.0)
    highest = max(scores.values())
    shares = {name: exp(score - highest) for name, score in scores.items()}
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}
