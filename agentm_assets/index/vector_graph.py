"""A graph over the base for large vaults: usearch HNSW proposes rows, exact cosines judge them.

Below some 200,000 rows the exact product is quick enough and nothing has to be built. The graph
holds int8 copies of the vectors (a quarter of the matrix), since what it proposes is scored again.
usearch is optional: without it, and for what the graph can't answer, the search is exact.
"""

import importlib
import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.index.vector_files import Rows, Vectors

MIN_ROWS = 200_000
"""From this size on a graph is built: the exact product takes 20 ms there (docs/performance.md)."""

# Measured on 60,000 passages with their int8 copies: of the true 10 nearest .999 are proposed, of
# the true 200 .989, in 0.2 and 0.9 ms.
_CONNECTIVITY = 16
_EXPANSION_ADD = 128
_EXPANSION_SEARCH = 128
_MORE = 64  # rows proposed beyond twice those asked for


def is_available() -> bool:
    """Whether usearch is installed."""
    return importlib.util.find_spec("usearch") is not None


def graph_file(folder: Path, segment: str) -> Path:
    """Where the graph over a segment lies."""
    return folder / f"{segment}.graph"


def build_graph(path: Path, blocks: Iterable[Vectors], dim: int) -> int:
    """Build the graph over the rows of `blocks`, numbered from 0. Minutes for 200,000 rows.

    Returns the bytes written. The file is synced; no manifest names it yet.
    """
    graph = _new(dim)
    first = 0
    for block in blocks:
        graph.add(np.arange(first, first + len(block), dtype=np.uint64), block)
        first += len(block)
    graph.save(str(path))
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return path.stat().st_size


class Graph:
    """A graph, mapped from its file."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    @classmethod
    def open(cls, path: Path, rows: int, dim: int) -> "Graph":
        """Raises FileNotFoundError when it is gone and ServingUnreadable when it is damaged."""
        if not path.exists():
            raise FileNotFoundError(2, "there is no graph", str(path))
        graph = _new(dim)
        try:
            graph.view(str(path))
        except (RuntimeError, ValueError) as error:
            raise ServingUnreadable(f"{path} can't be read: {error}") from error
        if len(graph) != rows or graph.ndim != dim:
            raise ServingUnreadable(f"{path} does not hold what the manifest says")
        return cls(graph)

    def propose(self, vector: Vectors, k: int) -> Rows:
        """Rows that should hold the `k` nearest, and some more, in no order."""
        matches = self._graph.search(vector, min(2 * k + _MORE, len(self._graph)))
        return np.asarray(matches.keys, dtype=np.intp)


def _new(dim: int) -> Any:
    usearch = importlib.import_module("usearch.index")
    return usearch.Index(
        ndim=dim,
        metric="cos",
        dtype="i8",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION_ADD,
        expansion_search=_EXPANSION_SEARCH,
    )
