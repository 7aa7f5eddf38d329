"""Where the vault repeats itself: groups of at least three notes that tell of the same."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

import duckdb

from agentm_assets.contract.closed import is_closed
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.dreaming.inputs import Input, inputs_hash, settled_inputs
from agentm_assets.dreaming.similar import (
    clusters,
    content_words,
    overlap,
    read_texts,
    read_vectors,
)
from agentm_assets.dreaming.veil import veil_of

LEAST_REPEATED: Final = 3
"""Times that something is told before it is a lesson (design: crystallisation)."""

LEAST_NEAR: Final = 0.6
"""Cosine for the embedded model: accounts of one kind of event lie above it."""

LEAST_SHARED: Final = 0.15
"""Share of the words, other than function words, that two accounts have in common."""

MOST_TRACES: Final = 12
"""Traces that a question holds, the newest."""

_TRACES: Final = (
    "(space = 'calendar' OR memory_class IN ('episodic', 'procedural')) "
    "AND (kind IS NULL OR kind IN ('conversation', 'failure-incident', 'session-brief'))"
)


@dataclass(frozen=True, slots=True)
class Repetition:
    """Notes of at least two days that tell of the same, by path."""

    traces: tuple[Input, ...]

    @property
    def inputs(self) -> str:
        """The hash by which a card made of them is current."""
        return inputs_hash(self.traces)


def find_repetitions(
    connection: duckdb.DuckDBPyConnection, rules: LoadedRules
) -> tuple[tuple[Repetition, ...], dict[str, str]]:
    """The groups, the fullest first, and the texts of their notes. Notes without a vector are
    compared by their words alone where there is no vector at all."""
    notes = settled_inputs(connection, rules, _TRACES)
    texts = read_texts(connection, list(notes))
    words = {
        path: content_words(f"{note.title} {texts.get(path, '')}") for path, note in notes.items()
    }
    vectors = read_vectors(connection, list(notes))
    near: defaultdict[int, dict[int, float]] = defaultdict(dict)
    for one, other, score in vectors.pairs(LEAST_NEAR):
        first, second = vectors.paths[one], vectors.paths[other]
        if overlap(words[first], words[second]) >= LEAST_SHARED:
            near[one][other] = near[other][one] = score
    found = []
    for group in clusters(len(vectors.paths), near, LEAST_REPEATED):
        traces = tuple(notes[vectors.paths[each]] for each in group)
        if len({trace.day for trace in traces}) > 1:
            found.append(Repetition(traces))
    kept = {trace.path for each in found for trace in each.traces}
    veil = veil_of(connection, lambda path: is_closed(path, rules.rules))
    return tuple(found), {path: veil.over(texts.get(path, "")) for path in kept}
