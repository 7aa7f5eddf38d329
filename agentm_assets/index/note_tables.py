"""The rows of notes as they go into the tables: column by column, plain values.

That is what crosses from the processes that extract to the one that writes: sending rows as
objects took as long as a fifth of extracting them (docs/performance.md).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agentm_assets.extract.model import Link
from agentm_assets.extract.resolve import match_keys, note_keys
from agentm_assets.index.rows import IndexedNote, LinkRow, values_of

Columns = list[list[Any]]
"""The columns of some rows of one table, in the table's order; empty when there is no row."""


@dataclass(frozen=True, slots=True)
class NoteTables:
    """The rows of some notes, `paths`, a table each. `link_keys` and `note_keys` say what the
    links of the notes look for, and by what the notes are found."""

    paths: list[str]
    notes: Columns
    chunks: Columns
    links: Columns
    link_keys: Columns
    note_keys: Columns
    entities: Columns
    aliases: Columns
    findings: Columns


def note_tables(notes: Sequence[IndexedNote]) -> NoteTables:
    """The rows of these notes. Links come as they are, unresolved ones unresolved."""
    links = [link for n in notes for link in n.links]
    return NoteTables(
        paths=[n.note.path for n in notes],
        notes=_listed(columns_of(values_of(n.note) for n in notes), _TAGS),
        chunks=columns_of(values_of(chunk) for n in notes for chunk in n.chunks),
        links=_listed(columns_of(values_of(link) for link in links), _CANDIDATES),
        link_keys=columns_of(
            (row.path, row.ordinal, key) for row in links for key in match_keys(link_of(row))
        ),
        note_keys=columns_of(
            {
                (n.note.path, key): None
                for n in notes
                for key in note_keys(n.note.path, [a.alias for a in n.aliases if a.origin == "own"])
            }
        ),
        entities=columns_of((e.path, *values_of(e.mention)) for n in notes for e in n.entities),
        aliases=columns_of(values_of(alias) for n in notes for alias in n.aliases),
        findings=columns_of(
            (f.path, f.line, f.code, f.message, f.cure, "note")
            for f in (n.finding for n in notes)
            if f is not None
        ),
    )


_TAGS, _CANDIDATES = 15, 11  # the places of the columns that hold lists


def columns_of(rows: Iterable[tuple[Any, ...]]) -> Columns:
    """Rows turned into columns."""
    return [list(column) for column in zip(*rows, strict=True)]


def _listed(columns: Columns, place: int) -> Columns:
    # DuckDB takes a list for a list, and a tuple for something else.
    if columns:
        columns[place] = [list(value) for value in columns[place]]
    return columns


def link_of(row: LinkRow) -> Link:
    """The link as extraction gave it."""
    return Link(
        ordinal=row.ordinal,
        kind=row.kind,  # type: ignore[arg-type]
        target=row.target,
        anchor=row.anchor,
        label=row.label,
        start=row.start,
        line=row.line,
        source=row.source,  # type: ignore[arg-type]
    )
