"""How near a note is in meaning to what the rules say of each type."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

READ_CHARACTERS = 600
"""Of a note's prose, behind its title: more made the judgment no better (300, 600 and 1,200 tried)
and costs time."""

_PIECE = re.compile(r"(?<=[.!?:;])[\"\u201d]?\s+")
_FEWEST_WORDS = 3

Vectors = NDArray[np.float32]


class TextEmbedder(Protocol):
    """What is needed of an embedder."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, one row a text; a text's vector depends on that text alone."""


class Likeness:
    """Compares notes with the definitions. Each type stands for itself as the mean of the pieces of
    its definition (clauses and quoted examples): one vector over the whole says less."""

    def __init__(self, definitions: Mapping[str, str], embedder: TextEmbedder) -> None:
        self._embedder = embedder
        self._types = {
            name: _direction(embedder.embed(pieces_of(text)))
            for name, text in sorted(definitions.items())
        }

    def of(self, title: str, prose: str) -> dict[str, float]:
        """Cosine to each defined type. `prose`: without code and addresses."""
        shown = " ".join(prose[: 8 * READ_CHARACTERS].split())[:READ_CHARACTERS]
        note = self._embedder.embed([f"{title}\n{shown}"])[0]
        return {name: float(direction @ note) for name, direction in self._types.items()}


def pieces_of(definition: str) -> list[str]:
    """The clauses of a definition that say something; the whole of one that is a few words long."""
    pieces = [piece for piece in _PIECE.split(definition) if len(piece.split()) >= _FEWEST_WORDS]
    return pieces or [definition]


def _direction(vectors: Vectors) -> Vectors:
    total: Vectors = vectors.sum(axis=0)
    length = float(np.linalg.norm(total))
    return total / np.float32(length) if length else total
