"""Drift and diversity: does the memory begin to sound alike?

Four meters over the newest notes, against a baseline that is frozen when there first is enough to
measure. It stands in the vault, so that a new machine measures against the same one.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from agentm_assets.contract.rules_model import Thresholds
from agentm_assets.dreaming.meters.corpus import (
    Document,
    Vector,
    note_vectors,
    read_corpus,
    stacked,
)
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.records import moment
from agentm_assets.dreaming.stage import Change, Leave, Plan
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend

WINDOW: Final = 500
"""The newest notes that are measured: a trailing window, so that a change shows within weeks."""

LEAST: Final = 50
"""Notes under which nothing is measured: of a handful every meter is chance."""

ALIKE: Final = 0.95
"""Cosine from which on two notes count as alike, whatever they are about."""

MOST_LISTED: Final = 10

BASELINE: Final = Locator("Agent/_meta/meters-baseline.json")
TOP_TRIGRAMS: Final = 20
_RUN: Final = 50
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Meters:
    """`similarity`: mean cosine of a note to its nearest neighbour; None without vectors.
    `dispersion`: 1 minus the length of the mean vector, 0 when all point one way.
    `trigram_share`: the share that the twenty most common runs of three words have of all, each
    counted once a note. `lexical_diversity`: mean share of different words in runs of 50."""

    notes: int
    similarity: float | None
    similarity_p90: float | None
    dispersion: float | None
    trigram_share: float
    lexical_diversity: float


def measure(documents: Sequence[Document], vectors: Mapping[str, Vector]) -> Meters:
    """The meters over these notes."""
    words = [each.words for each in documents]
    placed = [each.path for each in documents if each.path in vectors]
    similarity = p90 = dispersion = None
    if len(placed) > 1:
        rows = stacked(vectors, placed)
        cosines = rows @ rows.T
        np.fill_diagonal(cosines, -1.0)
        nearest = cosines.max(axis=1)
        similarity = round(float(nearest.mean()), 4)
        p90 = round(float(np.quantile(nearest, 0.9)), 4)
        dispersion = round(1.0 - float(np.linalg.norm(rows.mean(axis=0))), 4)
    return Meters(
        len(documents), similarity, p90, dispersion, _trigram_share(words), _diversity(words)
    )


def alike(documents: Sequence[Document], vectors: Mapping[str, Vector]) -> list[str]:
    """Pairs of notes nearer than ALIKE, a line each, the nearest first. Exact doubles and near ones
    are for the merges; of the others a judge may have made one prose out of two sources."""
    placed = sorted(each.path for each in documents if each.path in vectors)
    if len(placed) < 2:
        return []
    rows = stacked(vectors, placed)
    cosines = np.triu(rows @ rows.T, k=1)
    ones, others = np.nonzero(cosines >= ALIKE)
    pairs = sorted(
        (-round(float(cosines[one, other]), 3), placed[one], placed[other])
        for one, other in zip(ones.tolist(), others.tolist(), strict=True)
    )
    return [f"{-near:.3f} alike: {one} and {other}" for near, one, other in pairs]


def tripped(now: Meters, base: Meters, lines: Thresholds) -> list[str]:
    """Which meters have left their baseline by more than their line, in a sentence each."""
    found: list[str] = []
    for name, was, is_, line, rises in (
        ("similarity", base.similarity, now.similarity, lines.trip_similarity_rise, True),
        ("trigram_share", base.trigram_share, now.trigram_share, lines.trip_trigram_rise, True),
        (
            "lexical_diversity",
            base.lexical_diversity,
            now.lexical_diversity,
            lines.trip_diversity_fall,
            False,
        ),
        ("dispersion", base.dispersion, now.dispersion, lines.trip_dispersion_fall, False),
    ):
        if was is None or is_ is None:
            continue
        limit = was * (1 + line) if rises else was * (1 - line)
        if (is_ > limit) if rises else (is_ < limit):
            moved = "risen" if rises else "fallen"
            found.append(f"{name} has {moved} from {was:.3f} to {is_:.3f}, line {limit:.3f}")
    return found


class DriftMeters:
    name: Final = "drift-meters"
    version: Final = "1"
    needs_model: Final = False
    description: Final = (
        "Whether the newest memories sound more alike than those of the frozen baseline."
    )

    def plan(self, night: Night) -> Plan:
        documents = read_corpus(night, newest=WINDOW)
        if len(documents) < LEAST:
            note = f"{len(documents)} notes are too few to measure; from {LEAST} on"
            return Plan(notes=(note,), measured={"notes": len(documents)})
        with night.index() as connection:
            vectors = note_vectors(connection, [each.path for each in documents])
        now = measure(documents, vectors)
        base = read_baseline(night.backend)
        measured = {name: value for name, value in asdict(now).items() if value is not None}
        if base is None:
            record = _frozen(now, moment(night.now))
            note = "the baseline is frozen as the memory is now"
            return Plan((record,), notes=(note,), measured=measured | {"tripped": 0})
        trips = tripped(now, base, night.rules.rules.thresholds)
        measured |= {
            f"{name}_baseline": value for name, value in asdict(base).items() if value is not None
        }
        pairs = alike(documents, vectors)
        shown = pairs[:MOST_LISTED] if trips else []
        return Plan(
            notes=(*trips, *shown),
            measured=measured | {"tripped": len(trips), "alike_pairs": len(pairs)},
        )


def read_baseline(backend: StorageBackend) -> Meters | None:
    """The frozen baseline; None while there is none, or none that can be used."""
    try:
        written = json.loads(backend.read_bytes(BASELINE))
        return Meters(**written["meters"]) if written["v"] == _VERSION else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _frozen(meters: Meters, at: str) -> Change:
    written = json.dumps({"v": _VERSION, "at": at, "meters": asdict(meters)}, indent=1) + "\n"

    def build(held: bytes | None) -> bytes:
        if held is not None:  # frozen by another machine meanwhile, or of a later version
            raise Leave("baseline-is-there")
        return written.encode()

    return Change(BASELINE, "rewrite", build, is_record=True)


def _trigram_share(texts: Sequence[Sequence[str]]) -> float:
    counts: Counter[tuple[str, ...]] = Counter()
    for words in texts:
        counts.update({tuple(words[at : at + 3]) for at in range(len(words) - 2)})
    total = sum(counts.values())
    most = sum(count for _, count in counts.most_common(TOP_TRIGRAMS))
    return round(most / total, 5) if total else 0.0


def _diversity(texts: Sequence[Sequence[str]]) -> float:
    shares: list[float] = []
    for words in texts:
        runs = [words[at : at + _RUN] for at in range(0, len(words), _RUN)]
        shares += [len(set(run)) / len(run) for run in runs if len(run) >= _RUN // 2]
    return round(sum(shares) / len(shares), 4) if shares else 0.0
