"""The files of the vector serving folder: segments, and the manifest that names them.

A segment is three arrays: `NAME.ids.npy` (int64, ascending), `NAME.vectors.npy` (float32, one unit
vector an id) and `NAME.dead.npy` (int64: ids that are gone from all earlier segments). No file is
ever changed: new ones are written and synced under new names, then `manifest.json` is replaced by
rename.
"""

import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentm_assets.index.serving import ServingUnreadable

FORMAT = 2
MANIFEST = "manifest.json"

Vectors = NDArray[np.float32]
Ids = NDArray[np.int64]
Rows = NDArray[np.intp]  # positions in a segment


@dataclass(frozen=True, slots=True)
class Segment:
    """Name of a segment's files, its number of rows and of ids that it buries. `graph`: it has a
    graph file as well."""

    name: str
    rows: int
    dead: int
    graph: bool = False


@dataclass(frozen=True, slots=True)
class VectorState:
    """What the folder holds, as its manifest says. `segments[0]` is the base.

    `dim` is 0 as long as there has never been a vector.
    """

    format: int
    index_id: str
    model_id: str
    dim: int
    rev: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Rows to be written, without all of them in memory: 500,000 take 768 MB.

    `ids` are ascending. `pieces` give each row once, in any order: positions in `ids`, and their
    vectors, shape `(positions, dim)`.
    """

    ids: Ids
    dim: int
    pieces: Iterable[tuple[Rows, Vectors]]


@dataclass(frozen=True, slots=True)
class SegmentArrays:
    """The arrays of one segment; `vectors` is mapped from its file, shape `(rows, dim)`."""

    ids: Ids
    vectors: Vectors
    dead: Ids


def read_manifest(folder: Path) -> VectorState:
    """Raises ServingUnreadable when it is missing, damaged or of another format."""
    path = folder / MANIFEST
    try:
        content: Any = json.loads(path.read_bytes())
        if content["format"] != FORMAT:
            raise ServingUnreadable(
                f"the vectors in {folder} have format {content['format']}, this agentm reads "
                f"{FORMAT}"
            )
        segments = tuple(Segment(**segment) for segment in content["segments"])
        state = VectorState(**{**content, "segments": segments})
    except FileNotFoundError as error:
        raise ServingUnreadable(f"there are no vectors at {folder}") from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ServingUnreadable(f"{path} can't be read: {type(error).__name__}") from error
    numbers = [state.dim, state.rev, *(n for s in segments for n in (s.rows, s.dead))]
    if not segments or not all(isinstance(number, int) and number >= 0 for number in numbers):
        raise ServingUnreadable(f"{path} does not say what it should")
    return state


def write_manifest(folder: Path, state: VectorState) -> int:
    """Replace the manifest, so that a reader sees either the old or the new one. Returns bytes."""
    temporary = folder / f"{MANIFEST}.{os.getpid()}.tmp"
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(asdict(state), file)
        file.flush()
        os.fsync(file.fileno())
    size = temporary.stat().st_size
    # The segments' names must be on disk before the manifest that names them, and it after them.
    _sync_folder(folder)
    temporary.replace(folder / MANIFEST)
    _sync_folder(folder)
    return size


def write_segment(folder: Path, kind: str, rows: VectorRows, dead: Ids) -> tuple[Segment, int]:
    """Write a segment under a new name. Returns the segment and the bytes written. Raises
    ValueError when the pieces are not as many rows as there are ids."""
    name = f"{kind}-{secrets.token_hex(8)}"
    ids = rows.ids
    written = _write_array(folder / f"{name}.ids.npy", ids)
    written += _write_matrix(folder / f"{name}.vectors.npy", rows)
    written += _write_array(folder / f"{name}.dead.npy", dead)
    return Segment(name, len(ids), len(dead)), written


def read_segment(folder: Path, segment: Segment, dim: int) -> SegmentArrays:
    """Map a segment. Raises FileNotFoundError when a file of it is gone, ServingUnreadable when
    one is not what the manifest says."""
    ids = _read_array(folder / f"{segment.name}.ids.npy", (segment.rows,), np.int64)
    dead = _read_array(folder / f"{segment.name}.dead.npy", (segment.dead,), np.int64)
    vectors = _read_array(folder / f"{segment.name}.vectors.npy", (segment.rows, dim), np.float32)
    if not np.all(ids[1:] > ids[:-1]):
        raise ServingUnreadable(f"the ids of {segment.name} in {folder} are out of order")
    return SegmentArrays(ids, vectors, dead)


def remove_unnamed(folder: Path, state: VectorState) -> None:
    """Delete files that the manifest does not name: folded segments and what a kill left."""
    named = {segment.name for segment in state.segments}
    for path in folder.iterdir():
        if path.name != MANIFEST and path.name.split(".")[0] not in named:
            path.unlink(missing_ok=True)


def _write_array(path: Path, array: Ids) -> int:
    with path.open("xb") as file:
        np.save(file, array)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def _write_matrix(path: Path, rows: VectorRows) -> int:
    shape = (len(rows.ids), rows.dim)
    header = {"descr": np.dtype(np.float32).str, "fortran_order": False, "shape": shape}
    stride = 4 * rows.dim
    left = len(rows.ids)
    # Written, not mapped: mapped pages would stay in memory until the kernel takes them.
    with path.open("xb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        start = file.tell()
        for positions, vectors in rows.pieces:
            order = np.argsort(positions)
            sorted_positions, block = positions[order], vectors[order].astype(np.float32)
            cuts = np.flatnonzero(np.diff(sorted_positions) != 1) + 1
            for first, end in pairwise((0, *cuts.tolist(), len(order))):
                file.seek(start + int(sorted_positions[first]) * stride)
                file.write(block[first:end].data)
            left -= len(order)
        if left:
            raise ValueError(f"{len(rows.ids)} ids came with {len(rows.ids) - left} vectors")
        file.flush()
        os.fsync(file.fileno())
        return start + shape[0] * stride


def _read_array(path: Path, shape: tuple[int, ...], dtype: type) -> NDArray[Any]:
    # Only matrices are worth mapping; an empty file can't be mapped.
    mapped = len(shape) == 2 and bool(shape[0]) and bool(shape[1])
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r" if mapped else None)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, EOFError) as error:
        raise ServingUnreadable(f"{path} can't be read: {error}") from error
    if array.dtype != dtype or array.shape != shape:
        raise ServingUnreadable(f"{path} does not hold what the manifest says")
    return array


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
