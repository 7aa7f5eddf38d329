"""Does the index hang together? Each broken rule is named with how many rows break it."""

import duckdb

_ORPHANS = "SELECT count(*) FROM {table} WHERE path NOT IN (SELECT path FROM notes)"

RULES: dict[str, str] = {
    "doubled note": "SELECT count(*) - count(DISTINCT path) FROM notes",
    "doubled chunk id": "SELECT count(*) - count(DISTINCT chunk_id) FROM chunks",
    "doubled chunk": "SELECT count(*) - count(DISTINCT (path, ordinal)) FROM chunks",
    "doubled link": "SELECT count(*) - count(DISTINCT (path, ordinal)) FROM links",
    "doubled entity": "SELECT count(*) - count(DISTINCT (path, key)) FROM entities",
    "doubled alias": "SELECT count(*) - count(DISTINCT (path, alias_key)) FROM aliases",
    "chunk without its note": _ORPHANS.format(table="chunks"),
    "link without its note": _ORPHANS.format(table="links"),
    "entity without its note": _ORPHANS.format(table="entities"),
    "alias without its note": _ORPHANS.format(table="aliases"),
    "note without a build stamp": (
        "SELECT count(*) FROM notes WHERE path NOT IN (SELECT path FROM builds)"
    ),
    "link resolved to a note that is gone": (
        "SELECT count(*) FROM links WHERE resolved_path IS NOT NULL "
        "AND resolved_path NOT IN (SELECT path FROM notes UNION SELECT path FROM attachments)"
    ),
    "chunk that overlaps its successor": (
        "SELECT count(*) FROM chunks a JOIN chunks b "
        "ON a.path = b.path AND b.ordinal = a.ordinal + 1 WHERE a.end_byte <> b.start_byte"
    ),
    "link left unsettled": "SELECT count(*) FROM unsettled_notes",
}
"""What must hold, each with a query that counts the rows that break it."""


def broken_rules(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """The rules that do not hold, with counts; empty when all is well."""
    counts = {
        name: int((connection.execute(query).fetchone() or (0,))[0])
        for name, query in RULES.items()
    }
    return {name: count for name, count in counts.items() if count}
