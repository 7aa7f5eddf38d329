"""Notes captured a moment ago: read from the vault and searched in memory beside the index.

The capture journal says which they are. Their rows are made by the very code that indexes, so every
arm of recall finds them, and a hit looks as it will after the next index pass.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agentm_assets.capture.journal import JournalEntry, not_served
from agentm_assets.config.vault import VaultLocation
from agentm_assets.index.facts_reader import (
    AliasFacts,
    ChunkFacts,
    EntityFacts,
    FactsReader,
    NoteFacts,
)
from agentm_assets.index.facts_writer import FactsWriter
from agentm_assets.index.lexical import LexicalDoc, LexicalReader
from agentm_assets.index.rows import IndexedNote, NoteRow
from agentm_assets.index.window import MOST_CHARS, REACH, windows
from agentm_assets.recall.arms import DenseArm, QuestionEmbedder
from agentm_assets.recall.sections import ReadNote
from agentm_assets.recall.sources import Sources

if TYPE_CHECKING:
    from agentm_assets.index.lexical_fresh import AnalysedChunk
    from agentm_assets.index.vectors import VectorReader  # numpy: a hook has no time for it

MOST_NOTES = 64
MOST_BYTES = 512 * 1024
MOST_EMBEDDED = 24
"""What of the captures that wait one recall reads, and how many texts it embeds for that (some 10
ms each). The newest come first; the answer says how many were left out."""


class CaptureCache:
    """What a process that answers many questions keeps of the captures that wait."""

    def __init__(self) -> None:
        self.notes: dict[tuple[str, str], IndexedNote] = {}
        self.vectors: dict[tuple[str, str], Any] = {}
        self.words: dict[tuple[str, str], list[AnalysedChunk]] = {}


@dataclass(frozen=True, slots=True)
class Fresh:
    """Notes that the index lacks, newest first, how many more wait unread, and why none could be
    looked for."""

    notes: tuple[IndexedNote, ...] = ()
    left_out: int = 0
    trouble: str | None = None

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(indexed.note.path for indexed in self.notes)


def read_fresh(
    location: VaultLocation,
    read: ReadNote,
    cache: CaptureCache,
    facts: FactsReader | None,
    lexical: LexicalReader | None,
    vectors: "VectorReader | None",
) -> Fresh:
    """The captures that words, or vectors where there are any, do not hold yet."""
    try:
        waiting = not_served(location, MOST_NOTES)
    except OSError as error:
        return Fresh(trouble=f"the capture log can't be read: {error.strerror}")
    if not waiting.entries:
        return Fresh()
    entries = list(reversed(waiting.entries))
    known = {} if facts is None else facts.notes_by_path([entry.path for entry in entries])
    words_behind = facts is None or lexical is None or lexical.state.rev < int(facts.meta["rev"])
    notes: list[IndexedNote] = []
    kept: dict[tuple[str, str], IndexedNote] = {}
    left_out, size = waiting.older, 0
    for entry in entries:
        row = known.get(entry.path)
        if facts is not None and not words_behind and _is_served(entry, row, facts, vectors):
            continue
        if size > MOST_BYTES:
            left_out += 1
            continue
        indexed = _read(entry, read, cache)
        if indexed is None:
            continue
        kept[(indexed.note.path, indexed.note.content_hash)] = indexed
        same = row is not None and row.content_hash == indexed.note.content_hash
        if (
            same
            and facts is not None
            and not words_behind
            and _has_vectors(entry.path, facts, vectors)
        ):
            continue  # written to since it was captured, and indexed as it is now
        notes.append(indexed)
        size += indexed.note.size
    cache.notes = kept
    return Fresh(tuple(notes), left_out)


def beside(
    sources: Sources, lexical: LexicalReader, fresh: Fresh, cache: CaptureCache
) -> tuple[Sources, FactsWriter]:
    """`sources` with the fresh notes beside the index's; `lexical` is the index's own reader.

    What is returned second holds the notes' rows: close it when the sources are no longer used.
    """
    from agentm_assets.index.lexical_fresh import FreshLexical, MeanLengths

    rows = _rows(fresh)
    title, header_path, body, around = sources.facts.mean_lengths(REACH, MOST_CHARS)
    means = MeanLengths(title, header_path, body, title + around)  # a window begins with the title
    found = replace(
        sources,
        facts=FreshFacts(sources.facts, rows.reader(), fresh.paths),
        lexical=FreshLexical(lexical, _words(fresh, cache), means),
        not_indexed=fresh.paths,
        remarks=(*sources.remarks, *fresh_remarks(fresh)),
    )
    if found.embedder is not None:
        found = replace(found, vectors=_dense(fresh, found.embedder, sources.vectors, cache))
    return found, rows


def alone(
    fresh: Fresh, embedder: QuestionEmbedder | None, cache: CaptureCache
) -> tuple[FactsWriter, LexicalReader, DenseArm | None]:
    """The same three where there is no index: of the fresh notes, and nothing else."""
    dense = None if embedder is None else _dense(fresh, embedder, None, cache)
    return _rows(fresh), LexicalReader.in_memory(_docs(fresh.notes)), dense


def fresh_remarks(fresh: Fresh) -> tuple[str, ...]:
    """What an answer has to say of captures that were not looked at."""
    if fresh.trouble is not None:
        return (f"{fresh.trouble}, so notes captured since the last index pass were not searched",)
    if not fresh.left_out:
        return ()
    return (
        f"{fresh.left_out:,} more captured notes wait for the next index pass and were not "
        "searched; run `agentm index`",
    )


class FreshFacts(FactsReader):
    """The facts of the index with those of fresh notes in the place of what it knows of them."""

    def __init__(self, base: FactsReader, fresh: FactsReader, paths: Set[str]) -> None:
        super().__init__(*base.opened)
        self._base = base
        self._fresh = fresh
        self._paths = paths

    def chunks_of(self, path: str) -> tuple[ChunkFacts, ...]:
        return self._of(path).chunks_of(path)

    def chunks_with_notes(self, ids: Sequence[int]) -> list[tuple[ChunkFacts, NoteFacts]]:
        found = self._base.chunks_with_notes(ids)
        old = [(chunk, note) for chunk, note in found if note.path not in self._paths]
        return old + self._fresh.chunks_with_notes(ids)

    def notes_with_first_chunk(self, paths: Sequence[str]) -> list[tuple[ChunkFacts, NoteFacts]]:
        fresh, old = self._parted(paths)
        return self._base.notes_with_first_chunk(old) + self._fresh.notes_with_first_chunk(fresh)

    def notes_by_path(self, paths: Sequence[str]) -> dict[str, NoteRow]:
        fresh, old = self._parted(paths)
        return self._base.notes_by_path(old) | self._fresh.notes_by_path(fresh)

    def captured_between(
        self, first: str | None, last: str | None, limit: int = -1
    ) -> tuple[tuple[str, str], ...]:
        old = self._base.captured_between(first, last, limit)
        found = [pair for pair in old if pair[0] not in self._paths]
        found += self._fresh.captured_between(first, last, limit)
        found.sort(key=lambda pair: pair[0])
        found.sort(key=lambda pair: pair[1], reverse=True)
        return tuple(found[:limit] if limit >= 0 else found)

    def notes_with_entity(self, key: str) -> tuple[EntityFacts, ...]:
        return self._mentions(self._base.notes_with_entity(key), self._fresh.notes_with_entity(key))

    def notes_with_commit(self, key: str) -> tuple[EntityFacts, ...]:
        return self._mentions(self._base.notes_with_commit(key), self._fresh.notes_with_commit(key))

    def entities_of(self, paths: Sequence[str]) -> dict[str, tuple[EntityFacts, ...]]:
        fresh, old = self._parted(paths)
        return self._base.entities_of(old) | self._fresh.entities_of(fresh)

    def aliases(self, keys: Sequence[str]) -> dict[str, tuple[AliasFacts, ...]]:
        found = self._base.aliases(keys)
        new = self._fresh.aliases(keys)
        merged: dict[str, tuple[AliasFacts, ...]] = {}
        for key in found.keys() | new.keys():
            names = [name for name in found.get(key, ()) if name.path not in self._paths]
            names += new.get(key, ())
            if names:
                merged[key] = tuple(sorted(names, key=lambda name: (name.path, name.alias)))
        return merged

    def aliases_of(self, paths: Sequence[str]) -> dict[str, tuple[AliasFacts, ...]]:
        fresh, old = self._parted(paths)
        return self._base.aliases_of(old) | self._fresh.aliases_of(fresh)

    def _of(self, path: str) -> FactsReader:
        return self._fresh if path in self._paths else self._base

    def _parted(self, paths: Sequence[str]) -> tuple[list[str], list[str]]:
        fresh = [path for path in paths if path in self._paths]
        return fresh, [path for path in paths if path not in self._paths]

    def _mentions(
        self, old: Sequence[EntityFacts], new: Sequence[EntityFacts]
    ) -> tuple[EntityFacts, ...]:
        found = [mention for mention in old if mention.path not in self._paths]
        return tuple(sorted([*found, *new], key=lambda mention: (mention.path, mention.key)))


class FreshVectors:
    """The vectors of the index, if any, and those of fresh notes."""

    def __init__(self, model_id: str, base: DenseArm | None, vectors: Mapping[int, Any]) -> None:
        self.model_id = model_id
        self._base = base
        self._vectors = vectors

    def search(self, vector: Any, k: int) -> Sequence[tuple[int, float]]:
        """(chunk id, cosine) of the nearest chunks, nearest first, equal ones by id."""
        old = [] if self._base is None else self._base.search(vector, k)
        found = [pair for pair in old if pair[0] not in self._vectors]
        found += [(chunk, float(own @ vector)) for chunk, own in self._vectors.items()]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:k]

    def cosines(self, vector: Any, ids: Sequence[int]) -> Mapping[int, float]:
        """The cosines of these chunks, of those that have a vector."""
        old = [chunk for chunk in ids if chunk not in self._vectors]
        found = {} if self._base is None else dict(self._base.cosines(vector, old))
        new = self._vectors.keys() & set(ids)
        return found | {chunk: float(self._vectors[chunk] @ vector) for chunk in new}


def _is_served(
    entry: JournalEntry, row: NoteRow | None, facts: FactsReader, vectors: "VectorReader | None"
) -> bool:
    """Whether every arm has the note as it was when it was captured."""
    same = row is not None and row.content_hash == entry.content_hash
    return same and _has_vectors(entry.path, facts, vectors)


def _has_vectors(path: str, facts: FactsReader, vectors: "VectorReader | None") -> bool:
    if vectors is None:
        return True
    import numpy as np

    ids = np.array([chunk.chunk_id for chunk in facts.chunks_of(path)], dtype=np.int64)
    return len(vectors.known(ids)) == len(ids)


def _read(entry: JournalEntry, read: ReadNote, cache: CaptureCache) -> IndexedNote | None:
    """The note's rows; None when it is gone or can't be read, as the next pass will report."""
    # Only where captures wait: extraction costs a cold process 30 ms.
    from agentm_assets.index.build import build_note
    from agentm_assets.storage.vault import FileEntry, NoteUnreadable, content_hash

    try:
        data = read(entry.path)
    except (FileNotFoundError, NoteUnreadable):
        return None
    digest = content_hash(data)
    known = cache.notes.get((entry.path, digest))
    return known or build_note(FileEntry(entry.path, len(data), 0), data, digest, None)


def _words(fresh: Fresh, cache: CaptureCache) -> "list[AnalysedChunk]":
    from agentm_assets.index.lexical_fresh import analysed

    kept: dict[tuple[str, str], list[AnalysedChunk]] = {}
    for indexed in fresh.notes:
        key = (indexed.note.path, indexed.note.content_hash)
        known = cache.words.get(key)
        kept[key] = [analysed(doc) for doc in _docs([indexed])] if known is None else known
    cache.words = kept
    return [chunk for chunks in kept.values() for chunk in chunks]


def _rows(fresh: Fresh) -> FactsWriter:
    rows = FactsWriter.in_memory()
    rows.replace_all(fresh.notes, index_id="captures", rev=0, meta={})
    return rows


def _docs(notes: Sequence[IndexedNote]) -> list[LexicalDoc]:
    return [
        LexicalDoc(
            chunk_id=chunk.chunk_id,
            path=chunk.path,
            title=indexed.note.title,
            names="\n".join((*(row.alias for row in indexed.aliases), *indexed.note.tags)),
            header_path=chunk.header_path,
            body=chunk.text,
            window=window,
        )
        for indexed in notes
        for chunk, window in zip(
            indexed.chunks,
            windows(indexed.note.title, [each.text for each in indexed.chunks]),
            strict=True,
        )
    ]


def _dense(
    fresh: Fresh, embedder: QuestionEmbedder, base: DenseArm | None, cache: CaptureCache
) -> FreshVectors:
    """Vectors of the newest texts; those that were embedded before are not embedded again."""
    from agentm_assets.models.embedder import EmbeddingFailed  # loaded already, with the embedder

    found: dict[int, Any] = {}
    kept: dict[tuple[str, str], Any] = {}
    embedded = 0
    for chunk in (chunk for indexed in fresh.notes for chunk in indexed.chunks):
        key = (embedder.model_id, chunk.embed_hash)
        vector = cache.vectors.get(key)
        if vector is None:
            if embedded == MOST_EMBEDDED:
                continue
            embedded += 1
            try:
                vector = embedder.embed_one(chunk.embed_text)
            except EmbeddingFailed:
                continue  # words find it; the index pass reports the text
        kept[key] = found[chunk.chunk_id] = vector
    cache.vectors = kept
    return FreshVectors(embedder.model_id, base, found)
