"""The memories as the meters read them: bodies without properties or footers, and vectors."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import duckdb
import numpy as np
from numpy.typing import NDArray

from agentm_assets.contract.footer import strip_footer
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.dreaming.night import Night
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageError

WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Document:
    """A settled memory. `captured` sorts, "" where nobody knows. `linked`: another note that is no
    map links to it."""

    path: str
    title: str
    captured: str
    enriched_by: str
    fingerprint: str
    linked: bool
    body: str

    @property
    def words(self) -> list[str]:
        return [word.casefold() for word in WORD.findall(self.body)]


def read_corpus(night: Night, *, newest: int | None = None) -> list[Document]:
    """The settled memories by path, or only the newest; none of a space that is closed to models.

    One that can't be read now is left out: the index names it among its findings.
    """
    with night.index() as connection:
        rows = [row for row in connection.execute(_NOTES).fetchall() if night.is_open(row[0])]
    if newest is not None:
        rows = sorted(rows, key=lambda row: (row[2], row[0]))[-newest:]
    found: list[Document] = []
    for path, title, captured, by, fingerprint, linked in sorted(rows):
        try:
            data = night.backend.read_bytes(Locator(path))
        except (FileNotFoundError, StorageError):
            continue
        found.append(Document(path, title, captured, by, fingerprint, bool(linked), body_of(data)))
    return found


def body_of(data: bytes) -> str:
    """The body without its footer; what is no UTF-8 as U+FFFD."""
    body = data[read_frontmatter(data).body_start :]
    return strip_footer(body).decode("utf-8", "replace")


def note_vectors(
    connection: duckdb.DuckDBPyConnection, paths: Iterable[str]
) -> Mapping[str, Vector]:
    """A unit vector a note: the mean of its chunks', of the model that has embedded most. Notes
    without one are left out."""
    model = connection.execute(_MODEL).fetchone()
    if model is None:
        return {}
    sums: dict[str, Vector] = {}
    wanted = sorted(set(paths))
    for path, data in connection.execute(_VECTORS, [model[0], wanted]).fetchall():
        vector = np.frombuffer(data, np.float32)
        sums[path] = sums[path] + vector if path in sums else vector.copy()
    return {path: unit(total) for path, total in sums.items() if float(np.linalg.norm(total)) > 0}


def unit(vector: Vector) -> Vector:
    scaled: Vector = (vector / np.linalg.norm(vector)).astype(np.float32)
    return scaled


def stacked(vectors: Mapping[str, Vector], paths: Sequence[str]) -> Vector:
    """One row a path; all have a vector."""
    rows: Vector = np.stack([vectors[path] for path in paths])
    return rows


_NOTES: Final = """
SELECT path, title, coalesce(captured, ''), coalesce(enriched_by, ''), fingerprint,
  path IN (SELECT l.resolved_path FROM links l JOIN notes s ON s.path = l.path
           WHERE l.resolved_path IS NOT NULL AND l.resolved_path <> l.path
             AND (NOT s.generated OR s.memory_class IN ('entities', 'crystallized')))
FROM notes
WHERE memory_class IN ('semantic', 'procedural', 'episodic') AND NOT generated
  AND status = 'active' AND kind IS NULL
ORDER BY path
"""
_MODEL: Final = """
SELECT model_id FROM embeddings GROUP BY model_id ORDER BY count(*) DESC, model_id LIMIT 1
"""
_VECTORS: Final = """
SELECT c.path, e.vector FROM chunks c
JOIN embeddings e ON e.embed_hash = c.embed_hash AND e.model_id = ?
WHERE c.path IN (SELECT unnest(?::VARCHAR[])) ORDER BY c.path, c.ordinal
"""
