"""Writing a note's rows whole, and reading them back.

Columns go in through polars as one Arrow stream a table and batch: half the processor time of
binding them as lists, some sixty times less than row by row.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
import polars as pl

from agentm_assets.contract.findings import Finding
from agentm_assets.extract.model import EntityMention
from agentm_assets.index.note_tables import Columns, NoteTables, columns_of
from agentm_assets.index.rows import (
    AliasRow,
    ChunkRow,
    EntityRow,
    IndexedNote,
    LinkRow,
    NoteRow,
)

NOTE_TABLES = (
    "notes",
    "builds",
    "chunks",
    "links",
    "link_keys",
    "entities",
    "aliases",
    "unreadable",
)
"""Tables whose rows belong to one note. `linking` keeps `note_keys`: it needs the old ones."""

_NOTE_TYPES = (
    "VARCHAR VARCHAR BIGINT BIGINT VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR "
    "VARCHAR VARCHAR VARCHAR VARCHAR[] VARCHAR VARCHAR VARCHAR VARCHAR BOOLEAN VARCHAR VARCHAR "
    "DOUBLE"
)
_CHUNK_TYPES = "BIGINT VARCHAR INTEGER VARCHAR INTEGER BIGINT BIGINT BIGINT VARCHAR VARCHAR VARCHAR"
_CHUNK_PLACE = (
    "chunk_id, path, ordinal, header_path, level, start_byte, end_byte, overlap_start, '', '', ''"
)
_LINK_TYPES = (
    "VARCHAR INTEGER VARCHAR VARCHAR VARCHAR VARCHAR BIGINT INTEGER VARCHAR VARCHAR VARCHAR "
    "VARCHAR[]"
)
_ENTITY_TYPES = "VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR INTEGER BIGINT VARCHAR"
_ALIAS_TYPES = "VARCHAR VARCHAR VARCHAR VARCHAR"
_FINDING_TYPES = "VARCHAR INTEGER VARCHAR VARCHAR VARCHAR VARCHAR"


_INCOMING = "incoming_rows"
_POLARS: dict[str, Any] = {
    "VARCHAR": pl.String,
    "VARCHAR[]": pl.List(pl.String),
    "BIGINT": pl.Int64,
    "INTEGER": pl.Int32,
    "BOOLEAN": pl.Boolean,
    "DOUBLE": pl.Float64,
    "BLOB": pl.Binary,
}


class _Stream:
    """A frame as an Arrow stream and nothing more: DuckDB would ask pyarrow for a polars frame."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def insert(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    types: str,
    rows: Sequence[tuple[Any, ...]],
) -> None:
    """Insert rows into a table; `types` names each column's DuckDB type, in order."""
    insert_columns(connection, table, types, columns_of(rows))


def insert_columns(
    connection: duckdb.DuckDBPyConnection, table: str, types: str, columns: Columns
) -> None:
    """Insert rows that come as columns; no column means no row."""
    if not columns:
        return
    series = [
        pl.Series(str(place), column, dtype=_POLARS[name])
        for place, (column, name) in enumerate(zip(columns, types.split(), strict=True))
    ]
    connection.register(_INCOMING, _Stream(pl.DataFrame(series)))
    connection.execute(f"INSERT INTO {table} SELECT * FROM {_INCOMING}")
    connection.unregister(_INCOMING)


def delete_notes(connection: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> None:
    """Remove every row of these notes, of whatever table."""
    if not paths:
        return
    for table in NOTE_TABLES:
        _delete(connection, table, paths)
    _delete(connection, "findings", paths)


def _delete(connection: duckdb.DuckDBPyConnection, table: str, paths: Sequence[str]) -> None:
    connection.execute(
        f"DELETE FROM {table} WHERE path IN (SELECT unnest(?::VARCHAR[]))", [list(paths)]
    )


def insert_notes(connection: duckdb.DuckDBPyConnection, tables: NoteTables, built_for: str) -> None:
    """Insert the rows of these notes; their old rows must be gone. Keys are not written."""
    insert_columns(connection, "notes", _NOTE_TYPES, tables.notes)
    insert(connection, "builds", "VARCHAR VARCHAR", [(path, built_for) for path in tables.paths])
    insert_columns(connection, "chunks", _CHUNK_TYPES, tables.chunks)
    insert_columns(connection, "links", _LINK_TYPES, tables.links)
    insert_columns(connection, "entities", _ENTITY_TYPES, tables.entities)
    insert_columns(connection, "aliases", _ALIAS_TYPES, tables.aliases)
    insert_columns(connection, "findings", _FINDING_TYPES, tables.findings)


def insert_findings(
    connection: duckdb.DuckDBPyConnection, findings: Iterable[Finding], origin: str
) -> None:
    """Record findings; `origin` is "note" (goes with the note) or "scan" (each pass's own)."""
    insert(
        connection,
        "findings",
        _FINDING_TYPES,
        [(f.path, f.line, f.code, f.message, f.cure, origin) for f in findings],
    )


def all_findings(connection: duckdb.DuckDBPyConnection) -> tuple[Finding, ...]:
    """Every finding, at most one a file, in path order."""
    rows = connection.execute(
        "SELECT path, line, code, message, cure FROM findings ORDER BY path"
    ).fetchall()
    return tuple(Finding(*row) for row in rows)


def load_notes(connection: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> list[IndexedNote]:
    """The rows of these notes, in path order; paths without a note are left out.

    `text`, `embed_text` and `embed_hash` of the chunks come empty: they are nearly all of the
    bytes, and what is written from these rows (facts.sqlite) does not hold them.
    """
    wanted = [list(paths)]

    def rows(columns: str, table: str, order: str) -> list[Any]:
        return connection.execute(
            f"SELECT {columns} FROM {table} WHERE path IN (SELECT unnest(?::VARCHAR[])) "
            f"ORDER BY {order}",
            wanted,
        ).fetchall()

    chunks: dict[str, list[ChunkRow]] = defaultdict(list)
    for row in rows(_CHUNK_PLACE, "chunks", "path, ordinal"):
        chunks[row[1]].append(ChunkRow(*row))
    links: dict[str, list[LinkRow]] = defaultdict(list)
    for row in rows("*", "links", "path, ordinal"):
        links[row[0]].append(LinkRow(*(*row[:-1], tuple(row[-1]))))
    entities: dict[str, list[EntityRow]] = defaultdict(list)
    for path, key, kind, surface, detail, count, start, confidence in rows(
        "*", "entities", "path, key"
    ):
        mention = EntityMention(key, kind, surface, detail, count, start, confidence)
        entities[path].append(EntityRow(path, mention))
    aliases: dict[str, list[AliasRow]] = defaultdict(list)
    for row in rows("*", "aliases", "path, origin DESC, alias_key"):
        aliases[row[0]].append(AliasRow(*row))
    findings = {
        row[0]: Finding(*row[:5])
        for row in rows("path, line, code, message, cure", "findings", "path, origin DESC")
    }
    result = []
    for row in rows("*", "notes", "path"):
        path = row[0]
        note = NoteRow(*(*row[:15], tuple(row[15]), *row[16:]))
        result.append(
            IndexedNote(
                note,
                tuple(chunks[path]),
                tuple(links[path]),
                tuple(entities[path]),
                tuple(aliases[path]),
                findings.get(path),
            )
        )
    return result
