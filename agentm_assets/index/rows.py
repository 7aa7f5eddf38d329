"""Rows of the index, in the shape in which they pass between extraction, DuckDB and serving."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from agentm_assets.contract.findings import Finding
from agentm_assets.extract.model import EntityMention


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One note. `captured` and `updated` are ISO dates or datetimes as text, None when unknown."""

    path: str  # relative to the vault, POSIX, exactly as on disk
    content_hash: str  # sha256 of the file's bytes, hex
    size: int
    mtime_ns: int
    space: str  # memory, calendar, projects, desk, standards, personal, other
    memory_class: str | None  # semantic, procedural, …: only under Agent/memory
    title: str
    type: str | None
    kind: str | None
    status: str | None
    altitude: str | None
    captured: str | None
    captured_origin: str | None  # "frontmatter" | "file name" | None
    updated: str | None
    slug: str | None
    tags: tuple[str, ...]
    summary: str | None
    lifecycle_tier: str | None
    rules_hash: str | None  # the stamp in the note: rules it was judged under
    fingerprint: str  # sha256 of the body with white space folded: finds exact duplicates
    generated: bool  # a page that a pass writes; left out of the data versions
    enriched_by: str | None = None  # the judge and its version, as the note says
    enriched_at: str | None = None
    confidence: float | None = None  # 0 to 1; None also for what is no such number


@dataclass(frozen=True, slots=True)
class ChunkRow:
    chunk_id: int  # chunk_id(path, ordinal)
    path: str
    ordinal: int
    header_path: str
    level: int
    start: int
    end: int
    overlap_start: int
    text: str
    embed_text: str  # title, aliases, tags, header path, then text: what the embedder reads
    embed_hash: str  # sha256 of embed_text, hex: vectors are looked up by it


@dataclass(frozen=True, slots=True)
class LinkRow:
    path: str
    ordinal: int
    kind: str
    target: str
    anchor: str | None
    label: str | None
    start: int
    line: int
    source: str
    resolved_path: str | None
    how: str | None  # self, path, suffix, name, alias, attachment; None while unresolved
    candidates: tuple[str, ...]  # the other notes it could mean, when ambiguous


@dataclass(frozen=True, slots=True)
class EntityRow:
    path: str
    mention: EntityMention


@dataclass(frozen=True, slots=True)
class AliasRow:
    path: str
    alias: str
    alias_key: str  # NFC, case-folded, white space folded
    origin: str


@dataclass(frozen=True, slots=True)
class IndexedNote:
    """All rows of one note. They are replaced whole, in one transaction."""

    note: NoteRow
    chunks: tuple[ChunkRow, ...]
    links: tuple[LinkRow, ...]
    entities: tuple[EntityRow, ...]
    aliases: tuple[AliasRow, ...]
    finding: Finding | None


def chunk_id(path: str, ordinal: int) -> int:
    """A stable positive 63-bit id, equal in every rebuild (collision odds at 500,000: 1e-8)."""
    digest = hashlib.sha256(f"{path}\0{ordinal}".encode("utf-8", "surrogateescape")).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def values_of(row: "NoteRow | ChunkRow | LinkRow | AliasRow | EntityMention") -> tuple[Any, ...]:
    """A row's fields in their order, as the tables hold them."""
    return _GETTERS[type(row)](row)


_GETTERS: dict[type, Callable[[object], tuple[Any, ...]]] = {
    kind: attrgetter(*(field.name for field in fields(kind)))
    for kind in (NoteRow, ChunkRow, LinkRow, AliasRow, EntityMention)
}
