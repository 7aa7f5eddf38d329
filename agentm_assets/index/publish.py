"""Publishing: what the foreground reads is brought in line with the tables, part by part.

Each part says for which index and up to which revision it holds. From there the change feed (or,
for vectors, the difference of sets) gives what is missing; a part that belongs to another index, is
damaged or of another version is written anew. A kill between the part and the note of it in the
tables only repeats work.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import duckdb
import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from agentm_assets.index.facts_writer import FactsWriter, ManifestEntry
from agentm_assets.index.lexical import LexicalDoc, LexicalPublisher
from agentm_assets.index.rowio import all_findings, load_notes
from agentm_assets.index.rows import IndexedNote
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.index.store import IndexStore, get_meta, set_meta
from agentm_assets.index.vector_files import VectorRows
from agentm_assets.index.vectors import VectorPublisher
from agentm_assets.index.window import windows

SLICE_NOTES = 4_000
SLICE_BYTES = 32 * 1024 * 1024
"""Notes read from the tables at once end at whichever comes first. Every opening of the tables
costs 30 ms, and so does each further query: small slices take longer, large ones memory."""


@dataclass(frozen=True, slots=True)
class Published:
    """What one publishing did. `full` says that the part was written anew."""

    part: str
    full: bool
    changed: int  # notes (facts, lexical) or vectors
    total: int
    bytes_written: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Feed:
    """What a part lacks. `sizes`: path → bytes, in path order; 0 for a note that is gone."""

    index_id: str
    rev: int
    full: bool
    sizes: Mapping[str, int]

    def slices(self) -> Iterator[list[str]]:
        """The paths, in pieces that fit in memory."""
        piece: list[str] = []
        size = 0
        for path, added in self.sizes.items():
            if piece and (len(piece) >= SLICE_NOTES or size + added > SLICE_BYTES):
                yield piece
                piece, size = [], 0
            piece.append(path)
            size += added
        if piece:
            yield piece


def _feed(connection: duckdb.DuckDBPyConnection, index_id: str | None, rev: int) -> _Feed:
    """What a part that holds `index_id` up to `rev` lacks."""
    here = get_meta(connection, "index_id") or ""
    head = int(get_meta(connection, "rev") or 0)
    if index_id != here or rev > head:
        rows = connection.execute("SELECT path, size FROM notes ORDER BY path").fetchall()
        return _Feed(here, head, True, dict(rows))
    rows = connection.execute(
        "SELECT path, coalesce(size, 0) FROM changes LEFT JOIN notes USING (path) "
        "WHERE rev > ? ORDER BY path",
        [rev],
    ).fetchall()
    return _Feed(here, head, False, dict(rows))


def _load(store: IndexStore, paths: Sequence[str]) -> list[IndexedNote]:
    with store.transaction() as connection:
        return load_notes(connection, paths)


def publish_facts(store: IndexStore, path: Path) -> Published:
    """Bring `facts.sqlite` in line, its manifest and attachments included."""
    began = time.monotonic()
    with FileLock(_lock(path)), FactsWriter.open(path) as writer:
        with store.transaction() as connection:
            feed = _feed(connection, writer.index_id, writer.rev)
            manifest = _manifest(connection)
            rules_hash = get_meta(connection, "rules_hash") or ""
            rows = connection.execute("SELECT path FROM attachments ORDER BY path").fetchall()
            findings = all_findings(connection)
        attachments = [name for (name,) in rows]
        meta = {"rules_hash": rules_hash}
        if feed.full:
            notes = (note for paths in feed.slices() for note in _load(store, paths))
            writer.replace_all(
                notes, index_id=feed.index_id, rev=feed.rev, meta=meta, attachments=attachments
            )
        slices = [] if feed.full else list(feed.slices())
        for place, paths in enumerate(slices, start=1):
            notes_here = _load(store, paths)
            alive = {n.note.path for n in notes_here}
            writer.apply(
                notes_here,
                [gone for gone in paths if gone not in alive],
                (),
                index_id=feed.index_id,
                # The revision moves with the last slice: a kill before it repeats the others.
                rev=feed.rev if place == len(slices) else writer.rev,
                meta=meta,
            )
        writer.update_files(manifest, attachments, findings)
    return Published(
        "facts", feed.full, len(feed.sizes), len(manifest), 0, time.monotonic() - began
    )


def publish_lexical(store: IndexStore, folder: Path) -> Published:
    """Bring the tantivy index in line; a note's chunks are replaced together."""
    began = time.monotonic()
    with FileLock(_lock(folder)):
        publisher = LexicalPublisher(folder)
        state = publisher.state()
        with store.transaction() as connection:
            feed = _feed(connection, state.index_id if state else None, state.rev if state else 0)
        try:
            written = _apply_lexical(store, publisher, feed)
        except ServingUnreadable:
            # Damage that shows only while writing: the whole of it is in the tables.
            with store.transaction() as connection:
                feed = _feed(connection, None, 0)
            written = _apply_lexical(store, publisher, feed)
        with store.transaction() as connection:
            total = int((connection.execute("SELECT count(*) FROM chunks").fetchone() or (0,))[0])
    return Published(
        "lexical", feed.full, len(feed.sizes), total, written, time.monotonic() - began
    )


def _apply_lexical(store: IndexStore, publisher: LexicalPublisher, feed: _Feed) -> int:
    if not (feed.full or feed.sizes):
        return 0
    docs = (doc for paths in feed.slices() for doc in _lexical_docs(store, paths))
    done = publisher.publish(feed.index_id, feed.rev, docs, feed.sizes, full=feed.full)
    return done.bytes_written


def publish_vectors(store: IndexStore, folder: Path, model_id: str) -> Published:
    """Bring the vectors in line with the chunks that have one of this model."""
    began = time.monotonic()
    with FileLock(_lock(folder)):
        publisher = VectorPublisher(folder)
        state = publisher.state()
        with store.transaction(last=True) as connection:
            index_id = get_meta(connection, "index_id") or ""
            rev = int(get_meta(connection, "vector_rev") or 0)
            # One ahead: published, then killed before the tables heard of it.
            full = (
                state is None
                or (state.index_id, state.model_id) != (index_id, model_id)
                or state.rev not in (rev, rev + 1)
            )
            if full:
                connection.execute("DELETE FROM published_vectors")
            upserts, dead = _vector_changes(connection, model_id)
            written = 0
            if full or len(upserts.ids) or len(dead):
                written = publisher.publish(
                    index_id, model_id, rev + 1, upserts, dead, full=full
                ).bytes_written
                _note_published(connection)
                set_meta(connection, "vector_rev", str(rev + 1))
            total = int(
                (connection.execute("SELECT count(*) FROM published_vectors").fetchone() or (0,))[0]
            )
    changed = len(upserts.ids) + len(dead)
    return Published("vectors", full, changed, total, written, time.monotonic() - began)


_VECTOR_ROWS = 8_192
"""Vectors read from the tables at once."""

_VECTOR_MEMORY = "400MB"
"""What DuckDB may hold of the tables meanwhile: else it keeps every page of the vectors."""


def _vector_changes(
    connection: duckdb.DuckDBPyConnection, model_id: str
) -> tuple[VectorRows, NDArray[np.int64]]:
    """The vectors to publish, read when they are written, and the chunks whose vectors go. Both
    are noted in temporary tables."""
    connection.execute(f"SET memory_limit = '{_VECTOR_MEMORY}'")
    connection.execute(
        """
        CREATE TEMP TABLE embedded AS SELECT chunk_id, embed_hash FROM chunks
        SEMI JOIN (SELECT embed_hash FROM embeddings WHERE model_id = ?) USING (embed_hash)
        """,
        [model_id],
    )
    connection.execute(
        """
        CREATE TEMP TABLE upserted AS SELECT e.chunk_id, e.embed_hash FROM embedded e
        LEFT JOIN published_vectors p USING (chunk_id)
        WHERE p.embed_hash IS DISTINCT FROM e.embed_hash
        """
    )
    connection.execute(
        "CREATE TEMP TABLE buried AS SELECT chunk_id FROM published_vectors "
        "ANTI JOIN embedded USING (chunk_id)"
    )

    def ids_of(table: str) -> NDArray[np.int64]:
        found = connection.execute(f"SELECT chunk_id FROM {table} ORDER BY chunk_id").fetchnumpy()
        return np.asarray(found["chunk_id"], np.int64)

    ids = ids_of("upserted")
    joined = "FROM embeddings JOIN upserted USING (embed_hash) WHERE model_id = ?"
    first = connection.execute(f"SELECT octet_length(vector) {joined} LIMIT 1", [model_id])
    dim = (first.fetchone() or (0,))[0] // 4

    def pieces() -> Iterator[tuple[NDArray[np.intp], NDArray[np.float32]]]:
        found = connection.execute(f"SELECT chunk_id, vector {joined}", [model_id])
        while rows := found.fetchmany(_VECTOR_ROWS):
            places = np.searchsorted(ids, np.array([row[0] for row in rows], np.int64))
            vectors = np.frombuffer(b"".join([row[1] for row in rows]), np.float32)
            yield places, vectors.reshape(len(rows), dim)

    return VectorRows(ids, dim, pieces()), ids_of("buried")


def _note_published(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "DELETE FROM published_vectors WHERE chunk_id IN "
        "(SELECT chunk_id FROM upserted UNION ALL SELECT chunk_id FROM buried)"
    )
    connection.execute("INSERT INTO published_vectors SELECT chunk_id, embed_hash FROM upserted")


def _lexical_docs(store: IndexStore, paths: Sequence[str]) -> Iterator[LexicalDoc]:
    among = [list(paths)]
    with store.transaction() as connection:
        notes = connection.execute(f"SELECT path, title, tags FROM notes {_AMONG}", among)
        titled = {path: (title, tags) for path, title, tags in notes.fetchall()}
        aliases: dict[str, list[str]] = {path: [] for path in titled}
        for path, alias in connection.execute(
            f"SELECT path, alias FROM aliases {_AMONG} ORDER BY path, origin DESC, alias_key", among
        ).fetchall():
            aliases[path].append(alias)
        chunks = connection.execute(
            f"SELECT path, chunk_id, header_path, text FROM chunks {_AMONG} ORDER BY path, ordinal",
            among,
        ).fetchall()
    for path, found in groupby(chunks, key=itemgetter(0)):
        title, tags = titled[path]
        rows = list(found)
        for (_, chunk_id, header_path, text), window in zip(
            rows, windows(title, [row[3] for row in rows]), strict=True
        ):
            yield LexicalDoc(
                chunk_id=chunk_id,
                path=path,
                title=title,
                names="\n".join((*aliases[path], *tags)),
                header_path=header_path,
                body=text,
                window=window,
            )


_AMONG = "WHERE path IN (SELECT unnest(?::VARCHAR[]))"


def _manifest(connection: duckdb.DuckDBPyConnection) -> dict[str, ManifestEntry]:
    rows = connection.execute(
        "SELECT path, coalesce(u.size, n.size), coalesce(u.mtime_ns, n.mtime_ns), "
        "CASE WHEN u.path IS NULL THEN n.content_hash ELSE '' END "
        "FROM notes n FULL JOIN unreadable u USING (path)"
    ).fetchall()
    return {path: (size, mtime_ns, digest) for path, size, mtime_ns, digest in rows}


def _lock(part: Path) -> Path:
    part.parent.mkdir(parents=True, exist_ok=True)
    return part.with_name(part.name + ".lock")


def drop_unused_embeddings(store: IndexStore) -> int:
    """Delete vectors whose text no chunk has any more. Returns how many."""
    with store.transaction() as connection:
        rows = connection.execute(
            "DELETE FROM embeddings WHERE embed_hash NOT IN (SELECT embed_hash FROM chunks) "
            "RETURNING 1"
        ).fetchall()
    return len(rows)


def compact_vectors(folder: Path) -> bool:
    """Fold the deltas into a new base. Returns whether there was anything to fold."""
    with FileLock(_lock(folder)):
        publisher = VectorPublisher(folder)
        return publisher.state() is not None and publisher.compact()
