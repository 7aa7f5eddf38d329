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


def write_segment(
    folder: Path, kind: str, ids: Ids, blocks: Iterable[Vectors], dim: int, dead: Ids
) -> tuple[Segment, int]:
    """Write a segment under a new name. `blocks` are its vectors in the order of the ascending
    ids, in pieces. Returns the segment and the bytes written."""
    name = f"{kind}-{secrets.token_hex(8)}"
    written = _write_array(folder / f"{name}.ids.npy", ids.dtype, ids.shape, [ids])
    written += _write_array(
        folder / f"{name}.vectors.npy", np.dtype(np.float32), (len(ids), dim), blocks
    )
    written += _write_array(folder / f"{name}.dead.npy", dead.dtype, dead.shape, [dead])
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


def _write_array(
    path: Path, dtype: np.dtype[Any], shape: tuple[int, ...], blocks: Iterable[NDArray[Any]]
) -> int:
    # In blocks, so that folding 100 MB does not take 100 MB.
    header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    with path.open("xb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(np.ascontiguousarray(block).data)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


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
