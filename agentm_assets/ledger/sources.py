"""The source registry: which piece of the outside world was read, at which state, by which pass.

Its tables are a cache in `index.duckdb`. `bring_up_to_date` builds them from the notes' `source`
and from `Agent/_meta/sources.jsonl`; a note whose size and stamp are as known costs no reading.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import duckdb

from agentm_assets.capture.live import body_fingerprint, is_live
from agentm_assets.contract import properties
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.index.rowio import insert
from agentm_assets.index.store import IndexStore
from agentm_assets.ledger.source_ids import NoSource, namespace_of, source_id
from agentm_assets.ledger.source_records import Cursor, SourceRecords, read_records
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.personal import is_personal
from agentm_assets.storage.seam import StorageBackend, StorageError

_NOTE_TYPES: Final = "VARCHAR BIGINT BIGINT VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR BOOLEAN"
_SOURCE_TYPES: Final = (
    "VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR INTEGER INTEGER BIGINT BIGINT VARCHAR"
)

SOURCE_PART: Final = "source_part"
"""The property that says which part of its source a note is of."""


@dataclass(frozen=True, slots=True)
class SourceNote:
    """A note that an importer made of a source. `part`: which of several things it is of the
    source, "" when that does not matter. `fingerprint`: of its body as it is now. `live`: neither
    superseded nor expired."""

    path: str
    source: str
    hash: str
    version: str
    part: str
    fingerprint: str
    live: bool


@dataclass(frozen=True, slots=True)
class Source:
    """A row of the registry. `shape`: "unit" for what never changes under its identity, "growing"
    for a log with a cursor. `notes`: made of it, `live` of them still in force; 0 notes: it gave
    nothing. `position`: see Cursor; 0 for a unit."""

    source: str
    shape: str
    hash: str
    version: str
    notes: int
    live: int
    position: int
    lines: int
    at: str

    @property
    def namespace(self) -> str:
        return namespace_of(self.source)


class Registry:
    """What is known of sources, as one sweep sees it."""

    def __init__(
        self, sources: Mapping[str, Source], notes: Sequence[SourceNote], records: SourceRecords
    ) -> None:
        self.sources = sources
        self.records = records
        self._notes: dict[str, list[SourceNote]] = {}
        for note in notes:
            self._notes.setdefault(note.source, []).append(note)

    def notes_of(self, source: str) -> tuple[SourceNote, ...]:
        """The live notes of exactly this source, by path."""
        return tuple(note for note in self._notes.get(source, ()) if note.live)

    def is_done(self, source: str, digest: str) -> str | None:
        """The version of the pass that read the source at this content hash, None when none did,
        or when it has had another content since, which is in force."""
        nothing = self.records.nothing.get(source)
        if nothing is not None and nothing.hash == digest:
            return nothing.version
        made = self._notes.get(source, ())
        live = [note for note in made if note.live]
        known = [note.version for note in live or made if note.hash == digest]
        return max(known, key=_age, default=None)

    def has_made(self, source: str, digest: str, version: str, *, live: bool = False) -> bool:
        """Did a pass of this version make a note of this content, be it in force or not? `live`:
        one that is in force."""
        made = self._notes.get(source, ())
        return any(
            (note.hash, note.version) == (digest, version) and (note.live or not live)
            for note in made
        )

    def cursor_of(self, source: str) -> Cursor | None:
        return self.records.cursors.get(source)


def bring_up_to_date(store: IndexStore, backend: StorageBackend) -> Registry:
    """Read what is new in the vault, rebuild the tables, and give what they say.

    `personal/` is passed over. Raises StorageError, StoreUnreachable, IndexBusy.
    """
    with store.transaction() as connection:
        known = {
            row[0]: row
            for row in connection.execute(
                "SELECT path, size, mtime_ns, source, source_hash, source_version, part, "
                "fingerprint, live FROM source_notes"
            ).fetchall()
        }
    rows: list[tuple[object, ...]] = []
    for entry in backend.walk(Locator("")):
        if entry.kind != "file" or not entry.path.lower().endswith(".md"):
            continue
        place = Locator(entry.path)
        if is_personal(place):
            continue
        row = known.get(entry.path)
        if row is None or row[1:3] != (entry.size, entry.mtime_ns):
            row = _read(backend, place, entry.size, entry.mtime_ns)
        if row is not None:
            rows.append(row)
    records = read_records(backend)
    notes = [_note(row) for row in rows if row[3]]
    notes.sort(key=lambda note: note.path)
    sources = _sources(notes, records)
    with store.transaction() as connection:
        _enter(connection, rows, sources)
    return Registry({each.source: each for each in sources}, notes, records)


def _read(
    backend: StorageBackend, place: Locator, size: int, mtime_ns: int
) -> tuple[object, ...] | None:
    try:
        data = backend.read_bytes(place)
    except (FileNotFoundError, StorageError):
        return None  # it is gone or can't be read: the index pass says so
    frontmatter = read_frontmatter(data)
    source = _source_of(frontmatter)
    version = properties.text_of(frontmatter, "source_version") or ""
    if source is None or not version:
        return (place.key, size, mtime_ns, "", "", "", "", "", False)
    digest = properties.text_of(frontmatter, "source_hash") or ""
    part = properties.text_of(frontmatter, SOURCE_PART) or ""
    body = body_fingerprint(data, frontmatter)
    return (place.key, size, mtime_ns, source, digest, version, part, body, is_live(frontmatter))


def _source_of(frontmatter: Frontmatter) -> str | None:
    written = properties.text_of(frontmatter, "source")
    if not written:
        return None
    try:
        return source_id(written)
    except NoSource:
        return None  # a source of another kind, such as a book


def _note(row: Sequence[object]) -> SourceNote:
    path, _, _, *texts, live = row
    source, digest, version, part, body = map(str, texts)
    return SourceNote(str(path), source, digest, version, part, body, bool(live))


def _age(version: str) -> tuple[str, int]:
    """Such as ingest-10, which comes after ingest-9."""
    name, _, number = version.rpartition("-")
    return (name, int(number)) if number.isascii() and number.isdecimal() else (version, 0)


def _sources(notes: Sequence[SourceNote], records: SourceRecords) -> list[Source]:
    by_source: dict[str, list[SourceNote]] = {}
    for note in notes:
        by_source.setdefault(note.source, []).append(note)
    found: dict[str, Source] = {}
    for source in sorted({*by_source, *records.nothing, *records.cursors}):
        made = by_source.get(source, [])
        count, live = len(made), sum(note.live for note in made)
        cursor, nothing = records.cursors.get(source), records.nothing.get(source)
        if cursor is not None:
            found[source] = Source(
                source, "growing", cursor.check, cursor.version, count, live,
                cursor.position, cursor.lines, cursor.at,
            )  # fmt: skip
            continue
        in_force = max(
            (note for note in made if note.live), key=lambda note: _age(note.version), default=None
        )
        if in_force is not None or nothing is None:
            newest = in_force or made[-1]
            found[source] = Source(
                source, "unit", newest.hash, newest.version, count, live, 0, 0, ""
            )
        else:
            found[source] = Source(
                source, "unit", nothing.hash, nothing.version, count, live, 0, 0, nothing.at
            )
    return list(found.values())


def _enter(
    connection: duckdb.DuckDBPyConnection,
    rows: Sequence[tuple[object, ...]],
    sources: Sequence[Source],
) -> None:
    connection.execute("DELETE FROM source_notes")
    insert(connection, "source_notes", _NOTE_TYPES, rows)
    connection.execute("DELETE FROM sources")
    insert(
        connection,
        "sources",
        _SOURCE_TYPES,
        [
            (
                each.source,
                each.namespace,
                each.shape,
                each.hash,
                each.version,
                each.notes,
                each.live,
                each.position,
                each.lines,
                each.at,
            )
            for each in sources
        ],
    )
