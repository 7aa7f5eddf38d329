"""Resolving links once the notes are in: only those that the change can have touched.

A link depends on nothing but the notes and attachments that carry one of its match keys. So each
batch leaves behind which keys appeared or vanished (`unsettled_keys`) and which notes' own links
are new (`unsettled_notes`), in the same transaction as its rows; settling works through both. A
killed pass leaves them standing and the next one settles them.

Only aliases that the operator wrote name a link's target: a derived one such as `client` (from
`http_client`) finds a note in recall, and would be a wrong link.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import duckdb

from agentm_assets.extract.resolve import LinkIndex, note_keys
from agentm_assets.index.note_tables import NoteTables, link_of
from agentm_assets.index.rowio import insert, insert_columns
from agentm_assets.index.rows import LinkRow

_SLICE = 50_000
"""Links resolved per statement: bounds memory on a first pass over a large vault."""


def record_keys(connection: duckdb.DuckDBPyConnection, tables: NoteTables) -> None:
    """Write the link keys and note keys of these notes (the old link keys are gone already).

    Keys that appear or vanish become unsettled, so that links of other notes to them are resolved
    anew.
    """
    _replace_note_keys(connection, tables.paths, set(zip(*tables.note_keys, strict=True)))
    insert_columns(connection, "link_keys", "VARCHAR INTEGER VARCHAR", tables.link_keys)
    insert_columns(connection, "unsettled_notes", "VARCHAR", [tables.paths])


def forget_keys(connection: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> None:
    """Remove the note keys of deleted notes; links to them become unsettled."""
    _replace_note_keys(connection, paths, set())


def record_attachments(connection: duckdb.DuckDBPyConnection, now: Iterable[str]) -> None:
    """Bring the table of attachments to `now`; links to those that came or went are unsettled."""
    before = {row[0] for row in connection.execute("SELECT path FROM attachments").fetchall()}
    after = set(now)
    gone, come = sorted(before - after), sorted(after - before)
    for path in (*gone, *come):
        keys = [(key,) for key in note_keys(path, ())]
        insert(connection, "unsettled_keys", "VARCHAR", keys)
    if gone:
        connection.execute(
            "DELETE FROM attachments WHERE path IN (SELECT unnest(?::VARCHAR[]))", [gone]
        )
    insert(connection, "attachments", "VARCHAR", [(path,) for path in come])


def _replace_note_keys(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], new: set[tuple[str, str]]
) -> None:
    old = set(
        connection.execute(
            "SELECT path, key FROM note_keys WHERE path IN (SELECT unnest(?::VARCHAR[]))",
            [list(paths)],
        ).fetchall()
    )
    moved = sorted({key for _, key in old ^ new})
    insert(connection, "unsettled_keys", "VARCHAR", [(key,) for key in moved])
    connection.execute(
        "DELETE FROM note_keys WHERE path IN (SELECT unnest(?::VARCHAR[]))", [list(paths)]
    )
    insert(connection, "note_keys", "VARCHAR VARCHAR", sorted(new))


def settle(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Resolve all unsettled links. Returns the notes whose stored links changed, in path order."""
    affected = connection.execute(
        """
        SELECT l.* FROM links l WHERE l.path IN (SELECT path FROM unsettled_notes)
        UNION
        SELECT l.* FROM links l JOIN link_keys k USING (path, ordinal)
        WHERE k.key IN (SELECT key FROM unsettled_keys)
        ORDER BY path, ordinal
        """
    ).fetchall()
    changed: set[str] = set()
    if affected:
        index = _link_index(connection)
        for start in range(0, len(affected), _SLICE):
            changed |= _resolve_slice(connection, index, affected[start : start + _SLICE])
    connection.execute("DELETE FROM unsettled_keys")
    connection.execute("DELETE FROM unsettled_notes")
    return tuple(sorted(changed))


def _link_index(connection: duckdb.DuckDBPyConnection) -> LinkIndex:
    """A link index over the notes and attachments that the unsettled links can mean."""
    paths = connection.execute(
        """
        SELECT DISTINCT path FROM note_keys WHERE key IN (
          SELECT key FROM link_keys WHERE path IN (SELECT path FROM unsettled_notes)
          UNION
          SELECT key FROM link_keys SEMI JOIN (
            SELECT path, ordinal FROM link_keys WHERE key IN (SELECT key FROM unsettled_keys)
          ) USING (path, ordinal)
        )
        """
    ).fetchall()
    aliases: dict[str, list[str]] = {path: [] for (path,) in paths}
    for path, alias in connection.execute(
        "SELECT path, alias FROM aliases WHERE origin = 'own' "
        "AND path IN (SELECT unnest(?::VARCHAR[])) ORDER BY path, alias",
        [list(aliases)],
    ).fetchall():
        aliases[path].append(alias)
    attachments = connection.execute("SELECT path FROM attachments ORDER BY path").fetchall()
    return LinkIndex(sorted(aliases.items()), [path for (path,) in attachments])


def _resolve_slice(
    connection: duckdb.DuckDBPyConnection,
    index: LinkIndex,
    affected: Sequence[tuple[Any, ...]],
) -> set[str]:
    updates = []
    for values in affected:
        row = _row(values)
        found = index.resolve(row.path, link_of(row))
        now = (found.path, found.how, tuple(found.candidates))
        if now != (row.resolved_path, row.how, row.candidates):
            updates.append((row.path, row.ordinal, now[0], now[1], list(now[2])))
    if updates:
        connection.execute(
            """
            UPDATE links SET resolved_path = u.resolved, how = u.how, candidates = u.candidates
            FROM (SELECT unnest(?::VARCHAR[]) AS path, unnest(?::INTEGER[]) AS ordinal,
                         unnest(?::VARCHAR[]) AS resolved, unnest(?::VARCHAR[]) AS how,
                         unnest(?::VARCHAR[][]) AS candidates) AS u
            WHERE links.path = u.path AND links.ordinal = u.ordinal
            """,
            [list(column) for column in zip(*updates, strict=True)],
        )
    return {str(row[0]) for row in updates}


def _row(values: Any) -> LinkRow:
    return LinkRow(*(*values[:-1], tuple(values[-1])))
