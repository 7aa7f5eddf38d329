"""The vector serving files: an immutable base, small deltas, tombstones, one manifest.

A saved note writes one delta of some kilobytes, never the matrix. Files are written first and then
named by `manifest.json`, which is replaced by rename; readers map what the manifest names. A later
segment's row for an id overrides an earlier one, and an id that a segment buries is gone from all
segments before it.
"""

import json
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentm_assets.index.serving import ServingUnreadable

FORMAT = 1
MAX_DELTAS = 16
"""More deltas than this are folded into the base: each costs a reader one small matrix."""

MAX_DEAD_SHARE = 0.2
"""Rows of the base that are buried or overridden before it is written anew."""

BLOCK_ROWS = 65_536
"""Rows multiplied at once: bounds what a query takes beside the mapped files (some 256 KiB)."""

Vectors = NDArray[np.float32]
Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Segment:
    """One pair of files, `NAME.ids.npy` and `NAME.vectors.npy`, and the dead in `NAME.dead.npy`."""

    name: str
    rows: int
    dead: int


@dataclass(frozen=True, slots=True)
class VectorState:
    """What the folder holds, as its manifest says. `segments[0]` is the base."""

    format: int
    index_id: str
    model_id: str
    dim: int
    rev: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class VectorsPublished:
    bytes_written: int
    compacted: bool


class VectorPublisher:
    """The one writer of the folder; the caller sees to it that there is only one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def state(self) -> VectorState | None:
        """What is published; None when it is missing, damaged or of another format."""
        try:
            return VectorReader.open(self.folder).state
        except ServingUnreadable:
            return None

    def publish(
        self,
        index_id: str,
        model_id: str,
        rev: int,
        upserts: tuple[Ids, Vectors],
        dead_ids: Ids,
        *,
        full: bool,
    ) -> VectorsPublished:
        """Add or replace rows and bury ids; `full` starts from nothing.

        Raises ValueError for vectors that are not finite or not of unit length, and for rows that
        do not fit the ids or the published dimension. Raises ServingUnreadable when what is
        published can't be continued: publish in full.
        """
        ids, vectors = upserts
        _check(ids, vectors)
        self.folder.mkdir(parents=True, exist_ok=True)
        if full:
            segment, written = self._write_segment("base", ids, vectors, dead_ids[:0])
            dim = vectors.shape[1] if len(ids) else 0
            state = VectorState(FORMAT, index_id, model_id, dim, rev, (segment,))
        else:
            before = _read_manifest(self.folder)
            if (before.index_id, before.model_id) != (index_id, model_id):
                raise ServingUnreadable("the vectors belong to another index or model")
            dim = before.dim or (vectors.shape[1] if len(ids) else 0)
            if len(ids) and vectors.shape[1] != dim:
                raise ValueError(f"vectors of {vectors.shape[1]} numbers do not go beside {dim}")
            segment, written = self._write_segment("delta", ids, vectors, dead_ids)
            state = replace(before, rev=rev, dim=dim, segments=(*before.segments, segment))
        written += self._write_manifest(state)
        compacted = self._worn(state) and self.compact()
        if not compacted:
            self._remove_unnamed(state)
        return VectorsPublished(written, compacted)

    def compact(self) -> bool:
        """Fold all segments into a new base. False when there is nothing to fold.

        Raises ServingUnreadable when nothing is published.
        """
        state = _read_manifest(self.folder)
        if len(state.segments) == 1:
            return False
        reader = VectorReader.open(self.folder)
        ids, vectors = reader.rows()
        segment, _ = self._write_segment("base", ids, vectors, ids[:0])
        folded = replace(state, segments=(segment,))
        self._write_manifest(folded)
        self._remove_unnamed(folded)
        return True

    def _worn(self, state: VectorState) -> bool:
        base, deltas = state.segments[0], state.segments[1:]
        spent = sum(segment.rows + segment.dead for segment in deltas)
        return len(deltas) > MAX_DELTAS or spent > max(MAX_DEAD_SHARE * base.rows, 1_000)

    def _write_segment(
        self, kind: str, ids: Ids, vectors: Vectors, dead: Ids
    ) -> tuple[Segment, int]:
        name = f"{kind}-{secrets.token_hex(8)}"
        written = 0
        for part, array in (("ids", ids), ("vectors", vectors), ("dead", dead)):
            path = self.folder / f"{name}.{part}.npy"
            with path.open("xb") as file:
                np.save(file, array)
                file.flush()
                os.fsync(file.fileno())
            written += path.stat().st_size
        return Segment(name, len(ids), len(dead)), written

    def _write_manifest(self, state: VectorState) -> int:
        temporary = self.folder / f"manifest.json.{os.getpid()}.tmp"
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(asdict(state), file)
            file.flush()
            os.fsync(file.fileno())
        size = temporary.stat().st_size
        temporary.replace(self.folder / "manifest.json")
        return size

    def _remove_unnamed(self, state: VectorState) -> None:
        """Files that no manifest names: folded segments, and what a killed publisher left."""
        named = {segment.name for segment in state.segments}
        for path in self.folder.iterdir():
            if path.name != "manifest.json" and path.name.split(".")[0] not in named:
                path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Loaded:
    ids: Ids
    vectors: Vectors
    alive: NDArray[np.bool_] | None  # None: all rows


class VectorReader:
    """A view of the published vectors. It keeps its files however often others are published."""

    def __init__(self, folder: Path, state: VectorState, segments: Sequence[_Loaded]) -> None:
        self.folder = folder
        self.state = state
        self._segments = segments

    @classmethod
    def open(cls, folder: Path) -> "VectorReader":
        """Raises ServingUnreadable when it is missing, damaged or of another format."""
        for _ in range(20):
            state = _read_manifest(folder)
            try:
                return cls(folder, state, _load(folder, state))
            except FileNotFoundError as error:
                # A publisher that compacts has just replaced manifest and files.
                if _read_manifest(folder) == state:
                    raise ServingUnreadable(
                        f"the vectors in {folder} lack a file ({Path(error.filename).name})"
                    ) from error
                time.sleep(0.005)
        raise ServingUnreadable(f"the vectors in {folder} are replaced too fast to be read")

    @property
    def model_id(self) -> str:
        return self.state.model_id

    @property
    def index_id(self) -> str:
        return self.state.index_id

    @property
    def rev(self) -> int:
        return self.state.rev

    @property
    def count(self) -> int:
        """Vectors that a search sees."""
        return sum(
            len(s.ids) if s.alive is None else int(np.count_nonzero(s.alive))
            for s in self._segments
        )

    def refresh(self) -> None:
        """See what was published since. Raises ServingUnreadable."""
        if _read_manifest(self.folder) != self.state:
            fresh = VectorReader.open(self.folder)
            self.state, self._segments = fresh.state, fresh._segments

    def search(self, vector: Vectors, k: int) -> list[tuple[int, float]]:
        """(id, cosine) of the k nearest rows, nearest first, equal ones by id. Exact."""
        if k < 1 or not self.state.dim:
            return []
        if vector.shape != (self.state.dim,):
            raise ValueError(f"the question has {vector.shape} numbers, not {self.state.dim}")
        ids: list[Ids] = []
        scores: list[Vectors] = []
        for segment in self._segments:
            found = np.empty(len(segment.ids), dtype=np.float32)
            for at in range(0, len(found), BLOCK_ROWS):
                np.dot(
                    segment.vectors[at : at + BLOCK_ROWS], vector, out=found[at : at + BLOCK_ROWS]
                )
            if segment.alive is not None:
                found[~segment.alive] = -2.0  # below every cosine
            best = np.argpartition(found, -k)[-k:] if len(found) > k else np.arange(len(found))
            # All rows that tie with the last one count, else the cut would depend on their order.
            if len(found) > k:
                best = np.flatnonzero(found >= found[best].min())
            best = best[found[best] > -1.5]
            ids.append(segment.ids[best])
            scores.append(found[best])
        every_id, every_score = np.concatenate(ids), np.concatenate(scores)
        order = np.lexsort((every_id, -every_score))[:k]
        return [(int(every_id[i]), float(every_score[i])) for i in order]

    def rows(self) -> tuple[Ids, Vectors]:
        """All rows that a search sees, by id."""
        ids = np.concatenate([_alive_ids(s) for s in self._segments])
        parts = [s.vectors if s.alive is None else s.vectors[s.alive] for s in self._segments]
        vectors = np.concatenate([p.reshape(len(p), self.state.dim) for p in parts])
        order = np.argsort(ids)
        return ids[order], vectors[order]


def _alive_ids(segment: _Loaded) -> Ids:
    return segment.ids if segment.alive is None else segment.ids[segment.alive]


def _load(folder: Path, state: VectorState) -> list[_Loaded]:
    """Map the segments, newest first, leaving out in each what later ones override or bury."""
    loaded: list[_Loaded] = []
    hidden = np.empty(0, dtype=np.int64)
    for segment in reversed(state.segments):
        ids = _array(folder, segment, "ids", (segment.rows,), np.int64)
        dead = _array(folder, segment, "dead", (segment.dead,), np.int64)
        width = state.dim if segment.rows else None
        vectors = _array(folder, segment, "vectors", (segment.rows, width), np.float32)
        alive = ~np.isin(ids, hidden) if len(hidden) and len(ids) else None
        loaded.append(_Loaded(ids, vectors, alive))
        hidden = np.concatenate((hidden, dead, ids)) if segment is not state.segments[0] else hidden
    return loaded[::-1]


def _array(
    folder: Path, segment: Segment, part: str, shape: tuple[int | None, ...], dtype: type
) -> NDArray[Any]:
    path = folder / f"{segment.name}.{part}.npy"
    try:
        # Only the matrices are worth mapping; a map of an empty file is refused.
        mapped = part == "vectors" and bool(segment.rows)
        array: NDArray[Any] = np.load(path, mmap_mode="r" if mapped else None)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, EOFError) as error:
        raise ServingUnreadable(f"{path} can't be read: {error}") from error
    fits = len(array.shape) == len(shape) and all(
        want is None or have == want for have, want in zip(array.shape, shape, strict=True)
    )
    if array.dtype != dtype or not fits:
        raise ServingUnreadable(f"{path} does not hold what the manifest says")
    return array


def _check(ids: Ids, vectors: Vectors) -> None:
    if len(ids) != len(vectors):
        raise ValueError(f"{len(ids)} ids came with {len(vectors)} vectors")
    if len(np.unique(ids)) != len(ids):
        raise ValueError("an id came twice")
    if len(ids):
        lengths = np.linalg.norm(vectors, axis=1)
        if not np.all(np.abs(lengths - 1.0) < 1e-3):
            raise ValueError("a vector is not finite or not of unit length")


def _read_manifest(folder: Path) -> VectorState:
    path = folder / "manifest.json"
    try:
        content = json.loads(path.read_bytes())
        if content["format"] != FORMAT:
            raise ServingUnreadable(
                f"the vectors in {folder} have format {content['format']}, this agentm reads "
                f"{FORMAT}"
            )
        content["segments"] = tuple(Segment(**segment) for segment in content["segments"])
        return VectorState(**content)
    except FileNotFoundError as error:
        raise ServingUnreadable(f"there are no vectors at {folder}") from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ServingUnreadable(f"{path} can't be read: {type(error).__name__}") from error
