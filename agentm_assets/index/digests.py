"""Digests of tables: they tell whether two indexes hold the same, and version the assets."""

import hashlib

import duckdb

from agentm_assets.index.schema import CONTENT_TABLES

# What a machine or a moment adds to a row and a rebuild elsewhere can't give back.
_LEFT_OUT = {"notes": ("mtime_ns",)}

_ORDER = {
    "notes": "path",
    "chunks": "path, ordinal",
    "links": "path, ordinal",
    "entities": "path, key",
    "aliases": "path, alias_key, alias",
}


def table_digest(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """sha256 over all rows of one content table in key order, hex: equal means identical."""
    columns = _columns(connection, table)
    digest = hashlib.sha256()
    cursor = connection.execute(f"SELECT {columns} FROM {table} ORDER BY {_ORDER[table]}")
    while rows := cursor.fetchmany(10_000):
        for row in rows:
            digest.update(repr(row).encode())
    return digest.hexdigest()


def table_digests(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """`table_digest` of every content table."""
    return {table: table_digest(connection, table) for table in CONTENT_TABLES}


def data_version(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """A quick order-free digest of one table, for Dagster's DataVersion (milliseconds)."""
    columns = _columns(connection, table)
    row = connection.execute(
        f"SELECT count(*), bit_xor(hash(r)) FROM (SELECT {columns} FROM {table}) AS r"
    ).fetchone()
    assert row is not None
    return f"{row[0]}-{row[1] or 0:x}"


def _columns(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    rows = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_name = ? "
        "ORDER BY ordinal_position",
        [table],
    ).fetchall()
    return ", ".join(row[0] for row in rows if row[0] not in _LEFT_OUT.get(table, ()))
