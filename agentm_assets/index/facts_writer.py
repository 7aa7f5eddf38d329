"""Writing `serving/facts.sqlite` in the same step as the DuckDB tables it is derived from."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from types import TracebackType

from agentm_assets.contract.findings import Finding
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.facts_schema import (
    APPLICATION_ID,
    DDL,
    NOTE_COLUMNS,
    PER_NOTE_TABLES,
    SCHEMA_VERSION,
)
from agentm_assets.index.rows import IndexedNote, LinkRow, values_of
from agentm_assets.index.serving import ServingUnreadable

BUSY_SECONDS = 30.0
"""How long a second writer waits for the first."""

_USUAL_KB = 2_000  # SQLite's own default
_REPLACING_KB = 128_000
"""Page cache of a full replacement, at most. Ids of chunks are in no order, so every page is
written to again and again: with the default, 75,000 chunks put 990 MB in the log for 44 MB."""

ManifestEntry = tuple[int, int, str]
"""size (bytes), mtime (ns since the epoch), sha256 of the bytes (hex)."""


class FactsWriter:
    """The one writer of a facts file. Every method is one transaction: all of it or nothing.

    `rebuilt` says why `open` started an empty file in the place of an older one; None when it did
    not. After that, and on a new file (`index_id` None), only `replace_all` makes it whole.
    """

    def __init__(self, connection: sqlite3.Connection, rebuilt: str | None) -> None:
        self._connection = connection
        self.rebuilt = rebuilt

    @classmethod
    def open(cls, path: Path) -> "FactsWriter":
        """Open or create the file. One that is damaged or of another version is started anew.

        Raises ServingUnreadable when the file cannot be opened for a reason that a new file would
        not mend: no permission, a full disk, or another writer for longer than BUSY_SECONDS.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        reason = _unusable(path)
        if reason is not None:
            for suffix in ("", "-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
        try:
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            raise ServingUnreadable(f"{path} cannot be opened for writing: {error}") from error
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            _create(connection)
        except sqlite3.Error as error:
            connection.close()
            raise ServingUnreadable(f"{path} cannot be written: {error}") from error
        return cls(connection, reason)

    @classmethod
    def in_memory(cls) -> "FactsWriter":
        """Facts that no file keeps; `reader` reads them while this is open."""
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        _create(connection)
        return cls(connection, None)

    def reader(self) -> FactsReader:
        """A reader over this very connection: of what is in memory there is no other."""
        return FactsReader(Path(":memory:"), self._connection)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "FactsWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def index_id(self) -> str | None:
        """Which DuckDB index this file is derived from; None in a new file."""
        return self._meta("index_id")

    @property
    def rev(self) -> int:
        """Up to which revision of that index; 0 in a new file."""
        return int(self._meta("rev") or 0)

    def apply(
        self,
        upserts: Sequence[IndexedNote],
        deleted: Sequence[str],
        relinked: Sequence[LinkRow],
        *,
        index_id: str,
        rev: int,
        meta: Mapping[str, str],
        attachments: Iterable[str] | None = None,
    ) -> None:
        """Replace the rows of some notes whole, drop others, and replace the links of others still.

        `relinked` holds all links of every note that it names. `attachments`, when given, replaces
        the whole list. The manifest follows the notes. `meta` is merged into what is there.
        """
        with self._transaction() as connection:
            _drop(connection, [*deleted, *(indexed.note.path for indexed in upserts)])
            for indexed in upserts:
                _insert(connection, indexed)
            for path, links in groupby(sorted(relinked, key=_link_order), key=lambda row: row.path):
                note_id = _note_id(connection, path)
                if note_id is not None:
                    connection.execute("DELETE FROM links WHERE note_id = ?", (note_id,))
                    _insert_links(connection, note_id, links)
            if attachments is not None:
                _replace_attachments(connection, attachments)
            _write_meta(connection, index_id, rev, meta)

    def replace_all(
        self,
        notes: Iterable[IndexedNote],
        *,
        index_id: str,
        rev: int,
        meta: Mapping[str, str],
        attachments: Iterable[str] = (),
    ) -> None:
        """Write everything anew. Readers see the old state until it is complete.

        `notes` is consumed once, so a vault need not fit in memory.
        """
        self._connection.execute(f"PRAGMA cache_size = -{_REPLACING_KB}")
        with self._transaction() as connection:
            for table in (*PER_NOTE_TABLES, "notes", "manifest", "meta"):
                connection.execute(f"DELETE FROM {table}")
            for indexed in notes:
                _insert(connection, indexed)
            _replace_attachments(connection, attachments)
            _write_meta(connection, index_id, rev, meta)
        self._connection.execute(f"PRAGMA cache_size = -{_USUAL_KB}")
        # Else the log keeps the size of this one transaction. Not worth waiting for a reader.
        self._connection.execute("PRAGMA busy_timeout = 0")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")

    def update_files(
        self,
        manifest: Mapping[str, ManifestEntry],
        attachments: Collection[str],
        findings: Collection[Finding],
    ) -> None:
        """Bring manifest, attachments and findings to what the last complete pass saw.

        Only differences are written, so that a saved note costs kilobytes.
        """
        with self._transaction() as connection:
            _update(connection, "manifest", {(path, *entry) for path, entry in manifest.items()})
            _update(connection, "attachments", {(path,) for path in attachments})
            _update(
                connection,
                "findings",
                {(f.path, f.line, f.code, f.message, f.cure) for f in findings},
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _meta(self, key: str) -> str | None:
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])


def _unusable(path: Path) -> str | None:
    """Why the file that is there must be started anew; None when it is usable or absent."""
    if not path.exists():
        return None
    try:
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            application, version = (
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("application_id", "user_version")
            )
            tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
            if not tables and not version:
                return None  # a writer was killed before its first transaction
            if application != APPLICATION_ID:
                return "the facts file is not one of agentm's"
            if version != SCHEMA_VERSION:
                return f"the facts file has format {version}, this agentm writes {SCHEMA_VERSION}"
            damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            return None if damage == "ok" else "the facts file is damaged"
        finally:
            connection.close()
    except sqlite3.OperationalError:
        return None  # busy or no permission: not damage, and opening it says so
    except sqlite3.DatabaseError:
        return "the facts file is damaged"


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in DDL.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _note_id(connection: sqlite3.Connection, path: str) -> int | None:
    row = connection.execute("SELECT note_id FROM notes WHERE path = ?", (path,)).fetchone()
    return None if row is None else int(row[0])


def _drop(connection: sqlite3.Connection, paths: Sequence[str]) -> None:
    for path in paths:
        note_id = _note_id(connection, path)
        if note_id is not None:
            for table in (*PER_NOTE_TABLES, "notes"):
                connection.execute(f"DELETE FROM {table} WHERE note_id = ?", (note_id,))
        connection.execute("DELETE FROM manifest WHERE path = ?", (path,))


def _insert(connection: sqlite3.Connection, indexed: IndexedNote) -> None:
    note = indexed.note
    values = tuple(_as_json(v) if isinstance(v, tuple) else v for v in values_of(note))
    marks = ", ".join("?" * len(values))
    note_id = connection.execute(
        f"INSERT INTO notes ({NOTE_COLUMNS}) VALUES ({marks})", values
    ).lastrowid
    assert note_id is not None
    connection.executemany(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                c.chunk_id,
                note_id,
                c.ordinal,
                c.header_path,
                c.level,
                c.start,
                c.end,
                c.overlap_start,
            )
            for c in indexed.chunks
        ),
    )
    _insert_links(connection, note_id, indexed.links)
    connection.executemany(
        "INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ((note_id, *values_of(e.mention)) for e in indexed.entities),
    )
    connection.executemany(
        "INSERT INTO aliases VALUES (?, ?, ?, ?)",
        ((note_id, a.alias_key, a.alias, a.origin) for a in indexed.aliases),
    )
    connection.execute(
        "INSERT INTO manifest VALUES (?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET "
        "size = excluded.size, mtime_ns = excluded.mtime_ns, content_hash = excluded.content_hash",
        (note.path, note.size, note.mtime_ns, note.content_hash),
    )


def _insert_links(connection: sqlite3.Connection, note_id: int, links: Iterable[LinkRow]) -> None:
    connection.executemany(
        "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((note_id, *values_of(link)[1:-1], _as_json(link.candidates)) for link in links),
    )


def _update(
    connection: sqlite3.Connection, table: str, rows: set[tuple[str | int | None, ...]]
) -> None:
    """Make the table hold exactly these rows; the first column is its key."""
    before = set(connection.execute(f"SELECT * FROM {table}"))
    for row in before - rows:
        connection.execute(f"DELETE FROM {table} WHERE path = ?", row[:1])
    for row in rows - before:
        marks = ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)


_encode = json.JSONEncoder(ensure_ascii=False).encode


def _as_json(values: Sequence[str]) -> str:
    return _encode(values) if values else "[]"  # most lists are empty


def _link_order(row: LinkRow) -> tuple[str, int]:
    return (row.path, row.ordinal)


def _replace_attachments(connection: sqlite3.Connection, paths: Iterable[str]) -> None:
    connection.execute("DELETE FROM attachments")
    connection.executemany("INSERT INTO attachments VALUES (?)", ((path,) for path in paths))


def _write_meta(
    connection: sqlite3.Connection, index_id: str, rev: int, meta: Mapping[str, str]
) -> None:
    counts = connection.execute(
        "SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM chunks), "
        "(SELECT count(*) FROM links), (SELECT count(DISTINCT key) FROM entities), "
        "(SELECT count(*) FROM aliases)"
    ).fetchone()
    eligible, labelled = connection.execute(
        "SELECT count(*), count(altitude) FROM notes WHERE space = 'memory' AND generated = 0"
    ).fetchone()
    written = {
        **meta,
        **dict(zip(("notes", "chunks", "links", "entities", "aliases"), counts, strict=True)),
        "altitude_eligible": eligible,
        "altitude_labelled": labelled,
        "index_id": index_id,
        "rev": rev,
    }
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        [(key, str(value)) for key, value in written.items()],
    )
