"""Counts of the vault, from the tables of the index. Reports and probes are no memories, and are
not counted among them."""

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from agentm_assets.contract.vocabulary import CLASSES
from agentm_assets.reports.probe import TAG


@dataclass(frozen=True, slots=True)
class Statistics:
    """`counts`: memories by class and status. `connected`: memories that link to a note or are
    linked to. `notes`, `bytes`, `chunks`, `links`: of the whole vault without the reports."""

    counts: Mapping[str, Mapping[str, int]]
    memories: int
    connected: int
    notes: int
    bytes: int
    chunks: int
    links: int
    unresolved: int
    entities: int
    untyped: int

    def of_status(self, status: str) -> int:
        return sum(counted.get(status, 0) for counted in self.counts.values())


def read_statistics(connection: duckdb.DuckDBPyConnection) -> Statistics:
    """Count. The tables are only read."""
    counts: dict[str, dict[str, int]] = {name: {} for name in CLASSES}
    for memory_class, status, number in connection.execute(_BY_CLASS).fetchall():
        counts[memory_class][status] = number
    memories = sum(sum(counted.values()) for counted in counts.values())
    notes, size = _row(connection, _VOLUME)
    links, unresolved = _row(connection, _LINKS)
    return Statistics(
        counts=counts,
        memories=memories,
        connected=_row(connection, _CONNECTED)[0],
        notes=notes,
        bytes=size,
        chunks=_row(connection, _CHUNKS)[0],
        links=links,
        unresolved=unresolved,
        entities=_row(connection, "SELECT count(DISTINCT key) FROM entities")[0],
        untyped=_row(connection, _UNTYPED)[0],
    )


def _row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[int, ...]:
    found = connection.execute(query).fetchone() or ()
    return tuple(int(value or 0) for value in found)


_REAL = f"path NOT ILIKE 'agent/diagnostics/%' AND NOT list_contains(tags, '{TAG}')"
_MEMORY = f"memory_class IS NOT NULL AND {_REAL}"
_BY_CLASS = f"""
SELECT memory_class, coalesce(status, 'none'), count(*) FROM notes WHERE {_MEMORY} GROUP BY 1, 2
"""
_VOLUME = f"SELECT count(*), sum(size) FROM notes WHERE {_REAL}"
_CHUNKS = f"SELECT count(*) FROM chunks WHERE path IN (SELECT path FROM notes WHERE {_REAL})"
_LINKS = f"""
SELECT count(*), count(*) FILTER (WHERE resolved_path IS NULL) FROM links
WHERE path IN (SELECT path FROM notes WHERE {_REAL})
"""
_CONNECTED = f"""
WITH pairs AS (
  SELECT path, resolved_path AS other FROM links
  WHERE resolved_path IN (SELECT path FROM notes) AND path <> resolved_path
), ends AS (SELECT path FROM pairs UNION SELECT other FROM pairs)
SELECT count(*) FROM notes WHERE {_MEMORY} AND path IN (SELECT path FROM ends)
"""
_UNTYPED = f"""
SELECT count(*) FROM notes WHERE {_MEMORY} AND type IS NULL AND kind IS NULL AND NOT generated
"""
