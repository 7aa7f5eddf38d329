"""Reading `serving/facts.sqlite`: all that the foreground asks about notes. Standard library only.

Readers never wait for the writer and the writer never for them (WAL). Each call sees one consistent
state; `snapshot()` holds several calls to the same one.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from agentm_assets.contract.findings import Finding
from agentm_assets.index.facts_connection import connect
from agentm_assets.index.facts_schema import APPLICATION_ID, NOTE_COLUMNS, SCHEMA_VERSION
from agentm_assets.index.rows import LinkRow, NoteRow
from agentm_assets.index.serving import ServingUnreadable

_SLICE = 500  # SQLite before 3.32 takes 999 variables a statement
_SAMPLE = 500  # chunks; their ids are hashes, so the first of them are of all notes
_SHORTEST_HASH = 7  # hexadecimal digits of a commit that are still read as one


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """Where a chunk stands. Offsets are bytes of the file; the text stays in the vault."""

    chunk_id: int
    path: str
    ordinal: int
    header_path: str
    level: int
    start: int
    end: int
    overlap_start: int


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """What ranking asks about a note: a NoteRow without what only a shown hit needs. `judged_by`:
    who judged it last, None for a raw one."""

    path: str
    space: str
    title: str
    memory_class: str | None
    type: str | None
    kind: str | None
    status: str | None
    altitude: str | None
    captured: str | None
    lifecycle_tier: str | None
    judged_by: str | None


@dataclass(frozen=True, slots=True)
class EntityFacts:
    """A mention of an entity by a note."""

    path: str
    key: str
    kind: str
    surface: str
    detail: str | None
    count: int
    start: int
    confidence: str


@dataclass(frozen=True, slots=True)
class AliasFacts:
    """A name of a note; `origin` is "own" or "derived"."""

    path: str
    alias: str
    alias_key: str
    origin: str


@dataclass(frozen=True, slots=True)
class Counts:
    notes: int
    chunks: int
    links: int
    entities: int  # distinct keys
    aliases: int


class FactsReader:
    """A read-only view of the facts. Any method raises ServingUnreadable when the file fails."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    @classmethod
    def open(cls, path: Path) -> "FactsReader":
        """Open the file, also while it is written and also in a folder that cannot be written to.

        Raises ServingUnreadable when it is missing, damaged, busy or of another version. The reader
        may be used from several threads, by one at a time.
        """
        try:
            path.stat()  # SQLite says the same of a file that is absent and of one that is shut
        except FileNotFoundError as error:
            raise ServingUnreadable(f"there is no facts file at {path}") from error
        except OSError as error:
            raise ServingUnreadable(
                f"the facts file {path} cannot be reached: {error.strerror}"
            ) from error
        try:
            connection = connect(path)
        except sqlite3.Error as error:
            raise ServingUnreadable(f"the facts file {path} cannot be read: {error}") from error
        reader = cls(path, connection)
        try:
            reader._check_format()
        except ServingUnreadable:
            reader.close()
            raise
        return reader

    @property
    def opened(self) -> tuple[Path, sqlite3.Connection]:
        """The file and the connection to it."""
        return self._path, self._connection

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "FactsReader":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Hold the calls inside to one state of the file, whatever is written meanwhile."""
        self._rows("BEGIN")
        try:
            yield
        finally:
            self._rows("COMMIT")

    @property
    def meta(self) -> dict[str, str]:
        """What the writer noted: index_id, rev, counts, and what the pass handed over."""
        return dict(self._rows("SELECT key, value FROM meta"))

    @property
    def counts(self) -> Counts:
        meta = self.meta
        return Counts(
            *(int(meta[name]) for name in ("notes", "chunks", "links", "entities", "aliases"))
        )

    @property
    def altitude_share(self) -> float:
        """Share of the memory notes, generated ones apart, that carry an altitude; 0 of none."""
        meta = self.meta
        eligible = int(meta["altitude_eligible"])
        return int(meta["altitude_labelled"]) / eligible if eligible else 0.0

    def chunks_by_id(self, ids: Sequence[int]) -> dict[int, ChunkFacts]:
        """The chunks that (still) exist, by id."""
        found: dict[int, ChunkFacts] = {}
        for marks, part in _slices(ids):
            for row in self._rows(
                f"SELECT {_CHUNK_COLUMNS} FROM chunks JOIN notes USING (note_id) "
                f"WHERE chunk_id IN ({marks})",
                part,
            ):
                found[row[0]] = ChunkFacts(*row)
        return found

    def chunks_of(self, path: str) -> tuple[ChunkFacts, ...]:
        """The chunks of one note, in order; none for a note that is not there."""
        rows = self._rows(
            f"SELECT {_CHUNK_COLUMNS} FROM notes JOIN chunks USING (note_id) WHERE path = ? "
            "ORDER BY ordinal",
            (path,),
        )
        return tuple(ChunkFacts(*row) for row in rows)

    def chunks_with_notes(self, ids: Sequence[int]) -> list[tuple[ChunkFacts, NoteFacts]]:
        """The chunks that (still) exist, each with its note, in one pass: recall's hot path."""
        found: list[tuple[ChunkFacts, NoteFacts]] = []
        for marks, part in _slices(ids):
            rows = self._rows(
                f"SELECT {_CHUNK_COLUMNS}, {_RANKED_COLUMNS} FROM chunks "
                f"JOIN notes USING (note_id) WHERE chunk_id IN ({marks})",
                part,
            )
            found += [(ChunkFacts(*row[:8]), NoteFacts(row[1], *row[8:])) for row in rows]
        return found

    def notes_with_first_chunk(self, paths: Sequence[str]) -> list[tuple[ChunkFacts, NoteFacts]]:
        """The notes that exist, each with its first chunk; an empty span for a note without one."""
        found: list[tuple[ChunkFacts, NoteFacts]] = []
        for marks, part in _slices(paths):
            rows = self._rows(
                "SELECT ifnull(chunk_id, 0), path, ifnull(ordinal, 0), ifnull(header_path, ''), "
                "ifnull(level, 0), ifnull(start_byte, 0), ifnull(end_byte, 0), "
                f"ifnull(overlap_start, 0), {_RANKED_COLUMNS} "
                "FROM notes LEFT JOIN chunks ON chunks.note_id = notes.note_id AND ordinal = "
                "(SELECT min(ordinal) FROM chunks AS c WHERE c.note_id = notes.note_id) "
                f"WHERE path IN ({marks})",
                part,
            )
            found += [(ChunkFacts(*row[:8]), NoteFacts(row[1], *row[8:])) for row in rows]
        return found

    def note(self, path: str) -> NoteRow | None:
        return self.notes_by_path([path]).get(path)

    def notes_by_path(self, paths: Sequence[str]) -> dict[str, NoteRow]:
        """The notes that exist, by path."""
        found: dict[str, NoteRow] = {}
        for marks, part in _slices(paths):
            for row in self._rows(
                f"SELECT {NOTE_COLUMNS} FROM notes WHERE path IN ({marks})", part
            ):
                found[row[0]] = _note(row)
        return found

    def notes_with_fingerprint(self, fingerprint: str) -> tuple[str, ...]:
        """Paths of the notes whose body is exactly this one, in path order."""
        rows = self._rows(
            "SELECT path FROM notes WHERE fingerprint = ? ORDER BY path", (fingerprint,)
        )
        return tuple(row[0] for row in rows)

    def captured_between(
        self, first: str | None, last: str | None, limit: int = -1
    ) -> tuple[tuple[str, str], ...]:
        """(path, captured) of notes whose `captured` begins with a day from `first` to `last`.

        Both are ISO days ("2026-08-01"), inclusive; None leaves that side open. The day is the one
        that is written in the note; its time zone is not considered. Newest first.
        """
        rows = self._rows(
            "SELECT path, captured FROM notes WHERE captured IS NOT NULL "
            "AND (?1 IS NULL OR captured >= ?1) AND (?2 IS NULL OR captured < ?2 || '~') "
            "ORDER BY captured DESC, path LIMIT ?3",
            (first, last, limit),
        )
        return tuple((row[0], row[1]) for row in rows)

    def backlinks(self, path: str) -> tuple[LinkRow, ...]:
        """The links of other notes that lead here, in the order of their notes."""
        rows = self._rows(
            f"SELECT {_LINK_COLUMNS} FROM links JOIN notes USING (note_id) "
            "WHERE resolved_path = ?1 AND path <> ?1 ORDER BY path, ordinal",
            (path,),
        )
        return tuple(_link(row) for row in rows)

    def backlink_counts(self, paths: Sequence[str]) -> dict[str, int]:
        """How many other notes link to each of these; a note without backlinks is left out."""
        found: dict[str, int] = {}
        for marks, part in _slices(paths):
            found.update(
                self._rows(
                    "SELECT resolved_path, count(DISTINCT note_id) FROM links "
                    f"JOIN notes USING (note_id) WHERE resolved_path IN ({marks}) "
                    "AND path <> resolved_path GROUP BY resolved_path",
                    part,
                )
            )
        return found

    def outgoing(self, path: str) -> tuple[LinkRow, ...]:
        """The links of this note, in order."""
        rows = self._rows(
            f"SELECT {_LINK_COLUMNS} FROM notes JOIN links USING (note_id) WHERE path = ? "
            "ORDER BY ordinal",
            (path,),
        )
        return tuple(_link(row) for row in rows)

    def notes_with_entity(self, key: str) -> tuple[EntityFacts, ...]:
        """The mentions of one entity, in path order."""
        rows = self._rows(
            f"SELECT {_ENTITY_COLUMNS} FROM entities JOIN notes USING (note_id) WHERE key = ? "
            "ORDER BY path",
            (key,),
        )
        return tuple(EntityFacts(*row) for row in rows)

    def notes_with_commit(self, key: str) -> tuple[EntityFacts, ...]:
        """The mentions of a commit in any length that notes spell its hash in, in path order.

        `key` is "commit:SHA" or "commit:owner/repo@SHA". Short hashes that begin the asked one and
        longer ones that it begins both count.
        """
        sha_at = max(key.rfind("@"), key.find(":")) + 1
        shorter = [key[:end] for end in range(sha_at + _SHORTEST_HASH, len(key))]
        marks = ", ".join("?" * len(shorter))
        rows = self._rows(
            f"SELECT {_ENTITY_COLUMNS} FROM entities JOIN notes USING (note_id) "
            f"WHERE (key >= ? AND key < ? || 'g') OR key IN ({marks}) ORDER BY path, key",
            (key, key, *shorter),
        )
        return tuple(EntityFacts(*row) for row in rows)

    def entities_of(self, paths: Sequence[str]) -> dict[str, tuple[EntityFacts, ...]]:
        """What each note mentions, in the order of first mention; notes without are left out."""
        found: dict[str, list[EntityFacts]] = defaultdict(list)
        for marks, part in _slices(paths):
            for row in self._rows(
                f"SELECT {_ENTITY_COLUMNS} FROM notes JOIN entities USING (note_id) "
                f"WHERE path IN ({marks}) ORDER BY path, start_byte, key",
                part,
            ):
                found[row[0]].append(EntityFacts(*row))
        return {path: tuple(mentions) for path, mentions in found.items()}

    def aliases(self, keys: Sequence[str]) -> dict[str, tuple[AliasFacts, ...]]:
        """The notes that can be asked for by each key, in path order; unknown keys are left out."""
        found: dict[str, list[AliasFacts]] = defaultdict(list)
        for marks, part in _slices(keys):
            for row in self._rows(
                "SELECT path, alias, alias_key, origin FROM aliases JOIN notes USING (note_id) "
                f"WHERE alias_key IN ({marks}) ORDER BY path, alias",
                part,
            ):
                found[row[2]].append(AliasFacts(*row))
        return {key: tuple(names) for key, names in found.items()}

    def aliases_of(self, paths: Sequence[str]) -> dict[str, tuple[AliasFacts, ...]]:
        """The names of each note, own ones first; notes without any are left out."""
        found: dict[str, list[AliasFacts]] = defaultdict(list)
        for marks, part in _slices(paths):
            for row in self._rows(
                "SELECT path, alias, alias_key, origin FROM notes JOIN aliases USING (note_id) "
                f"WHERE path IN ({marks}) ORDER BY path, origin DESC, alias_key",
                part,
            ):
                found[row[0]].append(AliasFacts(*row))
        return {path: tuple(names) for path, names in found.items()}

    def spaces(self) -> frozenset[str]:
        """The spaces that notes lie in."""
        return frozenset(row[0] for row in self._rows("SELECT DISTINCT space FROM notes"))

    def types(self) -> frozenset[str]:
        """The types that notes carry, registered or not."""
        statement = "SELECT DISTINCT type FROM notes WHERE type IS NOT NULL"
        return frozenset(row[0] for row in self._rows(statement))

    def mean_lengths(self, reach: int, most: int) -> tuple[float, float, float, float]:
        """Bytes of title, heading path and text of a chunk, and of the text with up to `most` bytes
        of each of the `reach` chunks on either side, on average over a sample."""
        sides = " + ".join(
            f"coalesce(min({most}, {side}(held, {step}) OVER note), 0)"
            for side in ("lag", "lead")
            for step in range(1, reach + 1)
        )
        rows = self._rows(
            "SELECT avg(length(CAST(title AS BLOB))), "
            "avg(length(CAST(header_path AS BLOB))), avg(held), avg(around) FROM "
            f"(SELECT note_id, header_path, held, held + {sides} AS around FROM "
            "(SELECT note_id, ordinal, header_path, end_byte - start_byte AS held "
            "FROM chunks LIMIT ?) WINDOW note AS (PARTITION BY note_id ORDER BY ordinal)) "
            "JOIN notes USING (note_id)",
            (_SAMPLE,),
        )
        title, header_path, text, around = (float(value or 0) for value in rows[0])
        return title, header_path, text, around

    def manifest(self) -> dict[str, tuple[int, int, str]]:
        """path -> (size, mtime in ns, sha256 hex) of every file the last pass saw."""
        rows = self._rows("SELECT path, size, mtime_ns, content_hash FROM manifest")
        return {path: (size, mtime_ns, digest) for path, size, mtime_ns, digest in rows}

    def attachments(self) -> frozenset[str]:
        """Paths of the files of the vault that are no notes."""
        return frozenset(row[0] for row in self._rows("SELECT path FROM attachments"))

    def judgments(self) -> tuple[tuple[str, str, str | None, str | None], ...]:
        """(path, status, enriched_by, rules_hash) of the notes that can be judged."""
        rows = self._rows(
            f"SELECT path, status, enriched_by, rules_hash FROM notes WHERE {_JUDGED} ORDER BY path"
        )
        return tuple(rows)

    def unfiled(self) -> tuple[NoteRow, ...]:
        """The notes that can be judged and are not filed, oldest capture first."""
        rows = self._rows(
            f"SELECT {NOTE_COLUMNS} FROM notes WHERE {_JUDGED} AND status = 'unfiled' "
            "ORDER BY captured, path"
        )
        return tuple(_note(row) for row in rows)

    def findings(self) -> tuple[Finding, ...]:
        """What is wrong in the vault, at most one a file, in path order."""
        rows = self._rows("SELECT path, line, code, message, cure FROM findings ORDER BY path")
        return tuple(Finding(*row) for row in rows)

    def _check_format(self) -> None:
        application = self._rows("PRAGMA application_id")[0][0]
        version = self._rows("PRAGMA user_version")[0][0]
        if application != APPLICATION_ID:
            raise ServingUnreadable(f"{self._path} is not a facts file of agentm")
        if version != SCHEMA_VERSION:
            raise ServingUnreadable(
                f"the facts file {self._path} has format {version}, this agentm reads "
                f"{SCHEMA_VERSION}"
            )
        if not self._rows("SELECT 1 FROM meta WHERE key = 'index_id'"):
            raise ServingUnreadable(f"the facts file {self._path} was never filled")

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise ServingUnreadable(
                f"the facts file {self._path} cannot be read: {error}"
            ) from error


_CHUNK_COLUMNS = "chunk_id, path, ordinal, header_path, level, start_byte, end_byte, overlap_start"
_RANKED_COLUMNS = (
    "space, title, memory_class, type, kind, status, altitude, captured, lifecycle_tier, "
    "enriched_by"
)
_LINK_COLUMNS = (
    "path, ordinal, links.kind, target, anchor, label, start_byte, line, source, resolved_path, "
    "how, candidates"
)
_JUDGED = (
    "memory_class IN ('semantic', 'procedural', 'episodic') AND generated = 0 AND kind IS NULL "
    "AND status IN ('unfiled', 'active')"
)
_ENTITY_COLUMNS = (
    "path, key, entities.kind, surface, detail, mentions, start_byte, entities.confidence"
)


def _slices(values: Sequence[Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    for at in range(0, len(values), _SLICE):
        part = values[at : at + _SLICE]
        yield ", ".join("?" * len(part)), part


def _note(row: tuple[Any, ...]) -> NoteRow:
    return NoteRow(*(*row[:15], tuple(json.loads(row[15])), *row[16:20], bool(row[20]), *row[21:]))


def _link(row: tuple[Any, ...]) -> LinkRow:
    return LinkRow(*(*row[:11], tuple(json.loads(row[11]))))
