"""What the notes say of entities: who is named where, and the sentence in which it stands."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import duckdb

from agentm_assets.contract.rules import LoadedRules
from agentm_assets.dreaming.entities.resolve import Entity, Reference
from agentm_assets.dreaming.inputs import Input, settled_inputs
from agentm_assets.dreaming.plain_text import (
    is_header,
    lead_sentence,
    quotable,
    sentence_around,
    shortened,
)
from agentm_assets.dreaming.similar import read_texts
from agentm_assets.dreaming.veil import Veil

LEAST_NOTES: Final = 2
"""Notes that name an entity before it gets a page: one note speaks for itself."""

ALWAYS: Final = ("repo", "issue", "mr", "jira")
"""Kinds that get pages without a type of their own: their keys say what they are."""

DECLARED: Final[Mapping[str, str]] = {"person": "person", "team": "organization"}
"""Kinds that get pages once the rules have the type, with its warrant."""

TYPES: Final[Mapping[str, str]] = {**DECLARED, "repo": "repository"}
"""The type that a page carries, where the rules have it."""

_FEWEST_WORDS: Final = 4
"""Of a sentence beside the mention: `See acme/kettle#12.` says nothing of it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One note that names the entity. `text`: the sentence that does, else the note's summary, else
    its first sentence; "" when what it says may not be shown."""

    note: Input
    text: str


@dataclass(frozen=True, slots=True)
class Mentions:
    """The references of the vault, and for each key the notes that name it, by path."""

    references: tuple[Reference, ...]
    notes: Mapping[str, tuple[Input, ...]]

    def of(self, entity: Entity) -> tuple[Input, ...]:
        """The notes of an entity, the newest first."""
        found = {note.path: note for key in entity.keys for note in self.notes.get(key, ())}
        return newest_first(found.values())


def newest_first(notes: Collection[Input]) -> tuple[Input, ...]:
    """Notes by day, the newest first; those of one day, and those without, by path."""
    by_path = sorted(notes, key=lambda note: note.path)
    return tuple(sorted(by_path, key=lambda note: note.day or "", reverse=True))


def kinds_with_pages(rules: LoadedRules) -> tuple[str, ...]:
    """The kinds of entities that get pages under these rules."""
    types = rules.rules.memory_types
    return (*ALWAYS, *(kind for kind, needed in DECLARED.items() if needed in types))


def read_mentions(
    connection: duckdb.DuckDBPyConnection, rules: LoadedRules, kinds: Sequence[str]
) -> Mentions:
    """Who is named where, of the kinds asked for, in settled notes that may be shown."""
    notes = settled_inputs(connection, rules, "path IN (SELECT path FROM entities)")
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    where: defaultdict[str, list[Input]] = defaultdict(list)
    rows = connection.execute(
        "SELECT key, path, kind, surface, detail FROM entities "
        "WHERE kind IN (SELECT unnest(?::VARCHAR[]))",
        [list(kinds)],
    ).fetchall()
    # The name of the oldest note comes first, so that later ones don't rename the page.
    dated = sorted(
        (row for row in rows if row[1] in notes),
        key=lambda row: (row[0], notes[row[1]].captured or "9", row[1]),
    )
    for key, path, kind, surface, detail in dated:
        where[key].append(notes[path])
        shown = _name(kind, surface, detail)
        if shown is not None:
            names[key][shown] = None
    references = tuple(Reference(key, tuple(names[key])) for key in sorted(where))
    return Mentions(references, {key: tuple(found) for key, found in where.items()})


def _name(kind: str, surface: str, detail: str | None) -> str | None:
    if kind == "person":
        return detail
    return surface if kind == "repo" else None


def read_facts(
    connection: duckdb.DuckDBPyConnection, entity: Entity, notes: Sequence[Input], veil: Veil
) -> tuple[Fact, ...]:
    """What each of the notes says of the entity, in the order of the notes."""
    rows = connection.execute(
        "SELECT e.path, e.surface, c.text FROM entities e "
        "JOIN chunks c ON c.path = e.path AND c.start_byte <= e.start_byte "
        "AND e.start_byte < c.end_byte "
        "WHERE e.key IN (SELECT unnest(?::VARCHAR[])) "
        "AND e.path IN (SELECT unnest(?::VARCHAR[])) ORDER BY e.path, e.start_byte, e.key",
        [list(entity.keys), [note.path for note in notes]],
    ).fetchall()
    said: dict[str, str] = {}
    for path, surface, text in rows:
        at = text.find(surface)
        around = sentence_around(text, at) if at >= 0 else ""
        sentence = "" if is_header(around) else quotable(veil.over(around))
        others = sentence.replace(surface, " ").split()
        if path not in said and len(others) >= _FEWEST_WORDS:
            said[path] = sentence
    said |= {
        note.path: shortened(quotable(note.summary))
        for note in notes
        if note.summary and note.path not in said
    }
    silent = [note.path for note in notes if note.path not in said]
    said |= {
        path: quotable(veil.over(lead_sentence(text)))
        for path, text in read_texts(connection, silent).items()
    }
    return tuple(Fact(note, said.get(note.path, "")) for note in notes)


def named_together(
    connection: duckdb.DuckDBPyConnection, entity: Entity, notes: Sequence[Input]
) -> tuple[tuple[str, int], ...]:
    """The keys of other things that at least two of the notes name, and how many do; the five most
    frequent."""
    rows = connection.execute(
        "SELECT key, count(DISTINCT path) n FROM entities "
        "WHERE path IN (SELECT unnest(?::VARCHAR[])) AND kind <> 'url' "
        "AND key NOT IN (SELECT unnest(?::VARCHAR[])) "
        "GROUP BY key HAVING n >= 2 ORDER BY n DESC, key LIMIT 5",
        [[note.path for note in notes], list(entity.keys)],
    ).fetchall()
    return tuple((str(key), int(count)) for key, count in rows)
