"""What changed between the vault on disk and the tables: set operations, no file is opened."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from agentm_assets.storage.vault import FileEntry

RACY_NS = 2_000_000_000
"""A file stamped this shortly before a pass may change again without a new stamp (FAT keeps two
seconds, the idea is git's "racily clean"): the next pass compares its hash."""

_SCHEMA = {"path": pl.String, "size": pl.Int64, "mtime_ns": pl.Int64}


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as the tables hold it. `built_for` is empty for one that could not be read."""

    path: str
    size: int
    mtime_ns: int
    built_for: str


@dataclass(frozen=True, slots=True)
class Diff:
    """Paths in code point order. `suspects` look unchanged but must be hashed to be sure."""

    changed: tuple[str, ...]
    suspects: tuple[str, ...]
    deleted: tuple[str, ...]
    unchanged: int


def diff(
    on_disk: Iterable[FileEntry],
    known: Sequence[KnownFile],
    *,
    built_for: str | None,
    last_pass_ns: int,
    hash_all: bool = False,
    unknown: Sequence[str] = (),
) -> Diff:
    """Compare a scan with the tables.

    `built_for` None takes every build as current (a broken rules file makes nothing stale).
    `last_pass_ns` is when the previous pass began, nanoseconds since the epoch. Paths at or below
    one in `unknown` are never reported deleted.
    """
    disk = pl.DataFrame([(e.path, e.size, e.mtime_ns) for e in on_disk], _SCHEMA, orient="row")
    table = pl.DataFrame(
        [(k.path, k.size, k.mtime_ns, k.built_for) for k in known],
        _SCHEMA | {"built_for": pl.String},
        orient="row",
    )
    both = disk.join(table, on="path", how="left", suffix="_known")
    differs = (
        pl.col("built_for").is_null()
        | (pl.col("built_for") == "")
        | (pl.col("size") != pl.col("size_known"))
        | (pl.col("mtime_ns") != pl.col("mtime_ns_known"))
    )
    if built_for is not None:
        differs = differs | (pl.col("built_for") != built_for)
    marked = both.with_columns(differs.fill_null(True).alias("differs"))
    changed = marked.filter(pl.col("differs"))
    same = marked.filter(~pl.col("differs"))
    suspects = same if hash_all else same.filter(pl.col("mtime_ns") >= last_pass_ns - RACY_NS)
    gone = table.join(disk, on="path", how="anti")["path"].sort().to_list()
    return Diff(
        changed=tuple(changed["path"].sort().to_list()),
        suspects=tuple(suspects["path"].sort().to_list()),
        deleted=tuple(p for p in gone if not _below_any(p, unknown)),
        unchanged=same.height - suspects.height,
    )


def _below_any(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)
