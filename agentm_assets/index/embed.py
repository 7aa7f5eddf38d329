"""Embedding what has no vector yet: exact by content hash, in committed slices, resumable.

Texts of `personal/` are embedded too: the embedded model runs on this machine alone.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import duckdb
import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from agentm_assets.index.rowio import insert
from agentm_assets.index.store import IndexStore

SLICE = 256
"""Texts embedded between two commits: some 4 s of work on two cores, all that a kill can cost."""

FETCH = 4_096
"""Texts read from the tables at once: finding what lacks a vector costs 0.1 s at 75,000 chunks."""


class TextEmbedder(Protocol):
    """What this stage needs of an embedder."""

    @property
    def model_id(self) -> str:
        """Model, weights and precision: vectors of another id are never compared."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, one row a text."""


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """Counts are of distinct texts. `waiting` is left to another process that embeds right now."""

    model_id: str
    texts: int
    embedded: int
    waiting: int
    seconds: float


def embed_pending(
    store: IndexStore,
    embedder: TextEmbedder,
    *,
    lock_file: Path,
    on_progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> EmbedReport:
    """Give every chunk's text a vector of this model. Two processes never embed the same text."""
    began = time.monotonic()
    model = embedder.model_id
    embedded = 0
    lock_file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock_file, timeout=0):
            while True:
                with store.transaction() as connection:
                    waiting, texts = _count(connection, model)
                    rows = connection.execute(_PENDING, [model, FETCH]).fetchall()
                on_progress("embed", texts - waiting, texts)
                if not rows:
                    if embedded:
                        with store.transaction(last=True):
                            pass
                    return EmbedReport(model, texts, embedded, 0, time.monotonic() - began)
                for start in range(0, len(rows), SLICE):
                    part = rows[start : start + SLICE]
                    _keep(store, model, part, embedder.embed([text for _, text in part]))
                    embedded += len(part)
                    on_progress("embed", texts - waiting + start + len(part), texts)
    except Timeout:
        with store.transaction() as connection:
            waiting, texts = _count(connection, model)
        return EmbedReport(model, texts, 0, waiting, time.monotonic() - began)


def _keep(
    store: IndexStore,
    model: str,
    rows: Sequence[tuple[str, str]],
    vectors: NDArray[np.float32],
) -> None:
    with store.transaction() as connection:
        insert(
            connection,
            "embeddings",
            "VARCHAR VARCHAR BLOB",
            [
                (key, model, vector.astype(np.float32).tobytes())
                for (key, _), vector in zip(rows, vectors, strict=True)
            ],
        )


# Short texts first: equal lengths batch well, and small notes become searchable soonest.
_PENDING = """
SELECT embed_hash, any_value(embed_text) AS embed_text FROM chunks
WHERE embed_hash NOT IN (SELECT embed_hash FROM embeddings WHERE model_id = ?)
GROUP BY embed_hash ORDER BY length(any_value(embed_text)), embed_hash LIMIT ?
"""


def _count(connection: duckdb.DuckDBPyConnection, model: str) -> tuple[int, int]:
    """Distinct texts that have no vector of this model, and all distinct texts."""
    row = connection.execute(
        """
        SELECT count(*) FILTER (WHERE e.embed_hash IS NULL), count(*)
        FROM (SELECT DISTINCT embed_hash FROM chunks) c
        LEFT JOIN (SELECT embed_hash FROM embeddings WHERE model_id = ?) e USING (embed_hash)
        """,
        [model],
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)
