"""The two arms that find candidates: words and meaning. Both search chunks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentm_assets.index.corrections import Correction
from agentm_assets.index.facts_reader import ChunkFacts

OVER_FETCH = 200
"""Chunks an arm hands over, so that penalties can still reorder what a reader will see."""

OVER_FETCH_BOUNDED = 2_000
"""The same for a question that is bounded in time, space or type: most of them fall away."""


class LexicalHit(Protocol):
    @property
    def chunk_id(self) -> int: ...

    @property
    def score(self) -> float: ...


class LexicalArm(Protocol):
    """What recall needs of the lexical index."""

    @property
    def count(self) -> int:
        """Chunks in the index."""

    def search(self, question: str, limit: int) -> Sequence[LexicalHit]:
        """The best chunks by BM25, best first; none for a question without any known word."""

    def question_terms(self, question: str) -> Sequence[tuple[str, float]]:
        """The terms of a question, as indexed, with their inverse document frequency."""

    def corrections(self, question: str) -> Sequence[Correction]:
        """Words that no note has, and the known ones that were probably meant."""

    def analyse(self, text: str) -> Sequence[str]:
        """The terms of any text, as indexed."""


class DenseArm(Protocol):
    """What recall needs of the vectors."""

    @property
    def model_id(self) -> str: ...

    def search(self, vector: Any, k: int) -> Sequence[tuple[int, float]]:
        """(chunk id, cosine) of the nearest chunks, nearest first."""

    def cosines(self, vector: Any, ids: Sequence[int]) -> Mapping[int, float]:
        """chunk id -> cosine of these chunks, of those that have a vector."""


class QuestionEmbedder(Protocol):
    """What recall needs of the embedding model."""

    @property
    def model_id(self) -> str: ...

    def embed_one(self, text: str) -> Any:
        """The unit vector of one text."""

    def knows_word(self, word: str) -> bool:
        """Whether it is a word of the language rather than a typo or a rare name."""


@dataclass(frozen=True, slots=True)
class ArmHit:
    """A note's best chunk in one arm, with that arm's own score."""

    chunk: ChunkFacts
    score: float


Unit = Callable[[ChunkFacts], str]
"""What is ranked against each other: the name of the note a chunk is of, or of the chunk itself."""


def note_of(chunk: ChunkFacts) -> str:
    return chunk.path


def section_of(chunk: ChunkFacts) -> str:
    return f"{chunk.path}\0{chunk.ordinal:06}"


def best_chunks(
    hits: Iterable[tuple[int, float]], chunks: Mapping[int, ChunkFacts], unit: Unit
) -> dict[str, ArmHit]:
    """unit -> its best chunk; `hits` are best first. Chunks that are gone from `chunks` are left
    out."""
    best: dict[str, ArmHit] = {}
    for chunk_id, score in hits:
        chunk = chunks.get(chunk_id)
        if chunk is not None:
            best.setdefault(unit(chunk), ArmHit(chunk, score))
    return best
