"""The vector serving files: an immutable base, small deltas, tombstones, one manifest.

A saved note writes one delta of some kilobytes, never the matrix; readers map what the manifest
names and keep it whatever is published meanwhile. A later segment's row for an id overrides an
earlier one, and an id that a segment buries is gone from all segments before it. Search is exact,
but for a base of more than 200,000 rows over which a graph was built.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agentm_assets.index import vector_graph
from agentm_assets.index.serving import (
    ServingUnreadable,
    is_reported,
    report_damage,
)
from agentm_assets.index.vector_files import (
    FORMAT,
    Ids,
    Rows,
    Segment,
    VectorRows,
    Vectors,
    VectorState,
    read_manifest,
    read_segment,
    remove_unnamed,
    write_manifest,
    write_segment,
)
from agentm_assets.index.vector_graph import Graph

MAX_DELTAS = 16
"""With more deltas than this the newest are folded into one: each costs a reader three files."""

MAX_SPENT_SHARE = 0.2
MIN_SPENT = 1_000
"""Rows that deltas add, override or bury, as a share of the base and at least, before everything
is folded into a new base."""

BLOCK_ROWS = 65_536
"""Rows multiplied or written at once: bounds what is taken beside the mapped files."""

# Far above what float32 loses in a product of unit vectors, far below any difference that matters.
_ROUNDING = 1e-5

_REOPENINGS = 20


@dataclass(frozen=True, slots=True)
class VectorsPublished:
    """What one publishing wrote. `compacted`: everything was folded into a new base."""

    bytes_written: int
    compacted: bool


class VectorPublisher:
    """The one writer of the folder; the caller sees to it that there is only one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def state(self) -> VectorState | None:
        """What is published; None when it is missing, damaged or of another format."""
        if is_reported(self.folder):
            return None
        try:
            return VectorReader.open(self.folder).state
        except ServingUnreadable:
            return None

    def publish(
        self,
        index_id: str,
        model_id: str,
        rev: int,
        upserts: tuple[Ids, Vectors] | VectorRows,
        dead_ids: Ids,
        *,
        full: bool,
    ) -> VectorsPublished:
        """Add or replace rows and bury ids; `full` starts from nothing.

        An id that is both replaced and buried is replaced. Publishing the same again changes
        nothing that a reader finds. Raises ValueError for vectors that are not finite or not of
        unit length, and for rows that do not fit the ids or the published dimension. Raises
        ServingUnreadable when what is published can't be continued: publish in full.
        """
        rows = _checked(upserts if isinstance(upserts, VectorRows) else _ordered(*upserts))
        if full:
            self.folder.mkdir(parents=True, exist_ok=True)
            segment, written = write_segment(self.folder, "base", rows, _NO_IDS)
            state = VectorState(FORMAT, index_id, model_id, rows.dim, rev, (segment,))
            return self._commit(state, written, compacted=False)
        published = self._continued()
        before = published.state
        if (before.index_id, before.model_id) != (index_id, model_id):
            raise ServingUnreadable("the vectors belong to another index or model")
        if not len(rows.ids):
            rows = replace(rows, dim=before.dim)
        if before.dim and rows.dim != before.dim:
            raise ValueError(f"vectors of {rows.dim} numbers do not go beside {before.dim}")
        if not before.dim and len(rows.ids):
            # The empty base is of no dimension yet: this is the first base.
            segment, written = write_segment(self.folder, "base", rows, _NO_IDS)
            state = VectorState(FORMAT, index_id, model_id, rows.dim, rev, (segment,))
            return self._commit(state, written, compacted=False)
        dead = published.known(dead_ids)
        if not len(rows.ids) and not len(dead):
            return self._commit(replace(before, rev=rev), 0, compacted=False)
        segment, written = write_segment(self.folder, "delta", rows, dead)
        state = replace(before, rev=rev, segments=(*before.segments, segment))
        if _spent(state) > max(MAX_SPENT_SHARE * state.segments[0].rows, MIN_SPENT):
            folded, more = self._fold(state, 0)
            return self._commit(folded, written + more, compacted=True)
        if len(state.segments) > MAX_DELTAS + 1:
            state, more = self._fold(state, _first_to_fold(state.segments))
            written += more
        return self._commit(state, written, compacted=False)

    def compact(self) -> bool:
        """Fold all segments into a new base, and build a graph over a large one (minutes: publish
        never does). False when there is nothing to do.

        Raises ServingUnreadable when nothing is published.
        """
        state = self._continued().state
        if len(state.segments) > 1:
            state, _ = self._fold(state, 0)
        elif state.segments[0].graph or not _wants_graph(state.segments[0]):
            return False
        base = state.segments[0]
        if _wants_graph(base):
            (live,) = _load(self.folder, state.segments, state.dim)
            blocks = (live.vectors[at : at + BLOCK_ROWS] for at in range(0, base.rows, BLOCK_ROWS))
            path = vector_graph.graph_file(self.folder, base.name)
            vector_graph.build_graph(path, blocks, state.dim)
            state = replace(state, segments=(replace(base, graph=True),))
        self._commit(state, 0, compacted=True)
        return True

    def _continued(self) -> "VectorReader":
        published = VectorReader.open(self.folder)
        if is_reported(self.folder):
            raise ServingUnreadable(f"a reader found the vectors in {self.folder} damaged")
        return published

    def _fold(self, state: VectorState, first: int) -> tuple[VectorState, int]:
        """Write the segments from `first` on as one. Returns the new state and bytes written."""
        folded = state.segments[first:]
        live = _load(self.folder, folded, state.dim)
        rows = _merged(live)
        if first:
            dead = np.unique(np.concatenate([segment.dead for segment in live]))
            segment, written = write_segment(self.folder, "delta", rows, dead)
        else:
            segment, written = write_segment(self.folder, "base", rows, _NO_IDS)
        return replace(state, segments=(*state.segments[:first], segment)), written

    def _commit(self, state: VectorState, written: int, *, compacted: bool) -> VectorsPublished:
        written += write_manifest(self.folder, state)
        remove_unnamed(self.folder, state)
        return VectorsPublished(written, compacted)


_NO_IDS: Ids = np.empty(0, dtype=np.int64)


def _wants_graph(base: Segment) -> bool:
    return base.rows >= vector_graph.MIN_ROWS and vector_graph.is_available()


def _spent(state: VectorState) -> int:
    return sum(segment.rows + segment.dead for segment in state.segments[1:])


def _first_to_fold(segments: Sequence[Segment]) -> int:
    """Where the newest deltas that should become one begin.

    From the newest back, each delta joins that is at most twice what has joined so far. Deltas
    thus grow like powers of two and a row is written again only log(n) times: 1,000 saved notes of
    five chunks write 40 KB each, where folding all deltas each time would write 500 KB.
    """
    first = len(segments) - 1
    joined = segments[first].rows + segments[first].dead
    while first > 1 and segments[first - 1].rows + segments[first - 1].dead <= 2 * joined:
        first -= 1
        joined += segments[first].rows + segments[first].dead
    return min(first, len(segments) - 2)


@dataclass(frozen=True, slots=True)
class _Live:
    """A segment and which of its rows count: None for all. `graph`: over all its rows."""

    ids: Ids
    vectors: Vectors
    dead: Ids
    alive: NDArray[np.bool_] | None
    graph: Graph | None

    @property
    def count(self) -> int:
        return len(self.ids) if self.alive is None else int(np.count_nonzero(self.alive))

    def live(self) -> Rows:
        """Rows that count."""
        return np.arange(len(self.ids)) if self.alive is None else np.flatnonzero(self.alive)

    def among(self, wanted: Ids) -> Rows:
        """Rows that count and whose id is in `wanted`, which is ascending."""
        at = np.searchsorted(self.ids, wanted)
        inside = at < len(self.ids)
        rows: Rows = at[inside][self.ids[at[inside]] == wanted[inside]]
        return rows if self.alive is None else rows[self.alive[rows]]


@dataclass(frozen=True, slots=True)
class _View:
    state: VectorState
    segments: tuple[_Live, ...]


class VectorReader:
    """A view of the published vectors. Safe to share between threads."""

    def __init__(self, folder: Path, view: _View) -> None:
        self.folder = folder
        self._view = view

    @classmethod
    def open(cls, folder: Path) -> "VectorReader":
        """Raises ServingUnreadable when it is missing, damaged or of another format."""
        return cls(folder, _open_view(folder))

    @property
    def state(self) -> VectorState:
        return self._view.state

    @property
    def model_id(self) -> str:
        return self._view.state.model_id

    @property
    def index_id(self) -> str:
        return self._view.state.index_id

    @property
    def rev(self) -> int:
        return self._view.state.rev

    @property
    def count(self) -> int:
        """Vectors that a search sees."""
        return sum(segment.count for segment in self._view.segments)

    def refresh(self) -> bool:
        """See what was published since; False when nothing was. Raises ServingUnreadable, and
        keeps what it has then."""
        if read_manifest(self.folder) == self._view.state:
            return False
        self._view = _open_view(self.folder)
        return True

    def known(self, ids: Ids) -> Ids:
        """Those of `ids` that a search sees, ascending."""
        wanted = np.unique(ids)
        found = [segment.ids[segment.among(wanted)] for segment in self._view.segments]
        return np.unique(np.concatenate([_NO_IDS, *found]))

    def cosines(self, vector: Vectors, ids: Sequence[int]) -> dict[int, float]:
        """The cosines of these rows, those that a search sees. Raises what `search` raises."""
        return dict(self.search(vector, len(ids), np.array(ids, dtype=np.int64)))

    def search(
        self, vector: Vectors, k: int, allowed: Ids | None = None
    ) -> list[tuple[int, float]]:
        """(id, cosine) of the `k` nearest rows, nearest first, equal ones by id.

        `allowed`: only these ids are looked at. Exact and independent of how the rows are spread
        over segments, unless a graph proposes the rows of a large base: it may miss some. Raises
        ValueError for a vector of another dimension, or one that is zero or not finite, and
        ServingUnreadable when the mapped numbers are damaged.
        """
        view = self._view
        if k < 1 or not view.state.dim:
            return []
        if vector.shape != (view.state.dim,):
            raise ValueError(
                f"the question's vector has shape {vector.shape}, not {(view.state.dim,)}"
            )
        exact = vector.astype(np.float64)
        length = float(np.sqrt((exact * exact).sum()))
        if not np.isfinite(length) or length == 0.0:
            raise ValueError("the question's vector is zero or not finite")
        exact /= length
        wanted = None if allowed is None else np.unique(allowed)
        ids: list[Ids] = []
        scores: list[NDArray[np.float64]] = []
        for segment in view.segments:
            try:
                near = _nearest(segment, exact.astype(np.float32), k, wanted)
            except ServingUnreadable:
                report_damage(self.folder)
                raise
            ids.append(segment.ids[near])
            scores.append(_cosines(segment.vectors, near, exact))
        every_id, every_score = np.concatenate(ids), np.concatenate(scores)
        order = np.lexsort((every_id, -every_score))[:k]
        return [(int(every_id[i]), float(every_score[i])) for i in order]


def _nearest(segment: _Live, vector: Vectors, k: int, wanted: Ids | None) -> Rows:
    """Rows that can be among the `k` nearest: those, and all that float32 can't tell from them."""
    if segment.graph is not None and wanted is None:
        proposed = segment.graph.propose(vector, k)
        if segment.alive is not None:
            proposed = proposed[segment.alive[proposed]]
        if len(proposed) >= min(k, segment.count):
            return proposed
    rows = segment.live() if wanted is None else segment.among(wanted)
    # Many rows: multiply the mapped matrix as it lies and then pick. Few: pick first.
    few = 4 * len(rows) < len(segment.ids)
    scores = np.empty(len(rows) if few else len(segment.ids), np.float32)
    for at in range(0, len(scores), BLOCK_ROWS):
        part = slice(at, at + BLOCK_ROWS)
        block = segment.vectors[rows[part]] if few else segment.vectors[part]
        np.dot(block, vector, out=scores[part])
    if not np.isfinite(scores).all():
        raise ServingUnreadable("the vectors hold numbers that are not finite: they are damaged")
    if not few and len(rows) < len(scores):
        scores = scores[rows]
    if len(scores) <= k:
        return rows
    least = np.partition(scores, -k)[-k] - _ROUNDING
    nearest: Rows = rows[scores >= least]
    return nearest


def _cosines(vectors: Vectors, rows: Rows, exact: NDArray[np.float64]) -> NDArray[np.float64]:
    """In float64, row by row: the same numbers wherever in a matrix the row stands."""
    scores = np.empty(len(rows), np.float64)
    for at in range(0, len(rows), 4_096):
        part = slice(at, at + 4_096)
        scores[part] = (vectors[rows[part]].astype(np.float64) * exact).sum(axis=1)
    return scores


def _open_view(folder: Path) -> _View:
    for _ in range(_REOPENINGS):
        state = read_manifest(folder)
        try:
            return _View(state, tuple(_load(folder, state.segments, state.dim)))
        except FileNotFoundError as error:
            # A publisher that folds has just replaced the manifest, and then removed files.
            if read_manifest(folder) == state:
                raise ServingUnreadable(
                    f"the vectors in {folder} lack a file ({Path(error.filename).name})"
                ) from error
            time.sleep(0.005)
    raise ServingUnreadable(f"the vectors in {folder} are replaced too fast to be read")


def _load(folder: Path, segments: Sequence[Segment], dim: int) -> list[_Live]:
    """Map segments, leaving out in each what later ones override or bury."""
    loaded: list[_Live] = []
    hidden = _NO_IDS
    for segment in reversed(segments):
        arrays = read_segment(folder, segment, dim)
        alive = ~np.isin(arrays.ids, hidden) if len(hidden) and len(arrays.ids) else None
        graph = None
        if segment.graph and vector_graph.is_available():
            path = vector_graph.graph_file(folder, segment.name)
            graph = Graph.open(path, segment.rows, dim)
        loaded.append(_Live(arrays.ids, arrays.vectors, arrays.dead, alive, graph))
        hidden = np.concatenate((hidden, arrays.dead, arrays.ids))
    return loaded[::-1]


def _merged(segments: Sequence[_Live]) -> VectorRows:
    """All rows that count, by id, block by block."""
    rows = [segment.live() for segment in segments]
    ids = np.concatenate([s.ids[r] for s, r in zip(segments, rows, strict=True)])
    source = np.repeat(np.arange(len(segments)), [len(r) for r in rows])
    row = np.concatenate(rows)
    order = np.argsort(ids)

    dim = segments[0].vectors.shape[1]

    def blocks() -> Iterator[tuple[Rows, Vectors]]:
        for at in range(0, len(order), BLOCK_ROWS):
            here = order[at : at + BLOCK_ROWS]
            block = np.empty((len(here), dim), np.float32)
            for i, segment in enumerate(segments):
                mine = source[here] == i
                block[mine] = segment.vectors[row[here][mine]]
            yield np.arange(at, at + len(here)), block

    return VectorRows(ids[order], dim, blocks())


def _ordered(ids: Ids, vectors: Vectors) -> VectorRows:
    """Rows in memory as rows to be written. Raises ValueError."""
    if len(ids) != len(vectors):
        raise ValueError(f"{len(ids)} ids came with {len(vectors)} vectors")
    if not len(ids):
        return VectorRows(_NO_IDS, 0, ())
    if vectors.ndim != 2:
        raise ValueError(f"vectors of shape {vectors.shape} are no matrix")
    order = np.argsort(ids)
    places = np.empty(len(ids), np.intp)
    places[order] = np.arange(len(ids))
    return VectorRows(ids[order].astype(np.int64), vectors.shape[1], [(places, vectors)])


def _checked(rows: VectorRows) -> VectorRows:
    """The rows, each piece of which is looked at when it is written. Raises ValueError."""
    if not np.all(rows.ids[1:] > rows.ids[:-1]):
        raise ValueError("an id came twice")

    def pieces() -> Iterator[tuple[Rows, Vectors]]:
        for places, vectors in rows.pieces:
            lengths = np.linalg.norm(vectors, axis=1)
            # Written so that a length that is not a number is refused as well.
            if not np.all(np.abs(lengths - 1.0) < 1e-3):
                raise ValueError("a vector is not finite or not of unit length")
            yield places, vectors

    return replace(rows, pieces=pieces())
