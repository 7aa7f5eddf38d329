"""The lexical serving file: BM25 over chunks, by tantivy.

Chosen by measurement (docs/performance.md): a millisecond a query on 75,000 chunks, milliseconds to
add a note, readers that never block. One generation folder holds one index; a full rebuild writes
the next generation and flips `manifest.json` by rename, so a reader never meets an empty index.
"""

import heapq
import json
import math
import os
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import tantivy

from agentm_assets.index.lexical_terms import (
    STOP_WORDS,
    grams,
    grams_analyzer,
    parts,
    words,
    words_analyzer,
)
from agentm_assets.index.serving import ServingUnreadable

FORMAT = 1
"""Raise it when fields or terms change: an index of another format is written anew."""

BOOSTS: dict[str, float] = {
    "title": 4.0,
    "names": 3.0,
    "header_path": 1.5,
    "body": 1.0,
    "parts": 0.5,
}
"""Weight of each field (design: recall). A whole identifier outweighs its parts."""

GRAM_BOOST = 1.0
MAX_TERMS = 64
"""Terms of a question that are searched for, the rarest first: bounds a pasted page's cost."""

_WRITER_HEAP = 64_000_000


@dataclass(frozen=True, slots=True)
class LexicalDoc:
    """One chunk as it is searched. `names` are the note's aliases and tags, one a line."""

    chunk_id: int
    path: str
    title: str
    names: str
    header_path: str
    body: str


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """A chunk and its BM25 score, boosts included."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class LexicalState:
    """For which index and up to which revision the file holds."""

    format: int
    index_id: str
    rev: int
    generation: int


@dataclass(frozen=True, slots=True)
class LexicalPublished:
    docs: int
    bytes_written: int


class LexicalPublisher:
    """The one writer of the folder; the caller sees to it that there is only one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def state(self) -> LexicalState | None:
        """What is published; None when it is missing, damaged or of another format."""
        try:
            state = _read_manifest(self.folder)
            _open_index(self.folder, state.generation)
        except ServingUnreadable:
            return None
        return state

    def publish(
        self,
        index_id: str,
        rev: int,
        docs: Iterable[LexicalDoc],
        dead_paths: Iterable[str],
        *,
        full: bool,
    ) -> LexicalPublished:
        """Replace the chunks of `dead_paths` by `docs`; `full` starts a new generation instead.

        Raises ServingUnreadable when the published index can't be continued: publish it in full.
        """
        try:
            before = _read_manifest(self.folder)
        except ServingUnreadable:
            if not full:
                raise
            before = LexicalState(FORMAT, index_id, 0, _last_generation(self.folder))
        generation = before.generation + 1 if full else before.generation
        home = _generation(self.folder, generation)
        if full:
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            index = tantivy.Index(_schema(), path=str(home))
        else:
            index = _open_index(self.folder, generation)
        _register(index)
        files = _files(home)
        count = 0
        try:
            writer = index.writer(_WRITER_HEAP, 1)
            for path in dead_paths:
                if not full:
                    writer.delete_documents_by_term("path", path)
            for doc in docs:
                writer.add_document(_document(doc))
                count += 1
            writer.commit()
            writer.wait_merging_threads()
        except ValueError as error:
            raise ServingUnreadable(
                f"the lexical index {home} can't be written: {error}"
            ) from error
        written = sum(size for name, size in _files(home).items() if files.get(name) != size)
        _write_manifest(self.folder, LexicalState(FORMAT, index_id, rev, generation))
        if full:
            for old in self.folder.glob("gen-*"):
                if old != home:
                    shutil.rmtree(old, ignore_errors=True)
        return LexicalPublished(count, written)


class LexicalReader:
    """A view of the published index; `refresh` moves it to the newest state."""

    def __init__(self, folder: Path, state: LexicalState, index: tantivy.Index) -> None:
        self.folder = folder
        self.state = state
        self._index = index
        self._searcher = index.searcher()

    @classmethod
    def open(cls, folder: Path) -> "LexicalReader":
        """Raises ServingUnreadable when it is missing, damaged or of another format."""
        for attempt in (1, 2):
            state = _read_manifest(folder)
            try:
                index = _open_index(folder, state.generation)
            except ServingUnreadable:
                # Between the two reads a full publishing may have replaced the generation.
                if attempt == 2 or _read_manifest(folder).generation == state.generation:
                    raise
                continue
            _register(index)
            return cls(folder, state, index)
        raise AssertionError("unreachable")

    def refresh(self) -> None:
        """See what was published since. Raises ServingUnreadable."""
        state = _read_manifest(self.folder)
        if state.generation != self.state.generation:
            fresh = LexicalReader.open(self.folder)
            self.state, self._index = fresh.state, fresh._index
        elif state == self.state:
            return
        else:
            self._index.reload()
            self.state = state
        self._searcher = self._index.searcher()

    @property
    def count(self) -> int:
        """Chunks in the index."""
        return int(self._searcher.num_docs)

    def search(self, question: str, limit: int) -> list[LexicalHit]:
        """The best chunks, best first, equal scores by id. Any text is a valid question."""
        clauses = self._clauses(question)
        if not clauses or limit < 1:
            return []
        query = tantivy.Query.boolean_query(clauses)
        found = self._searcher.search(query, limit, count=False).hits
        ids = self._searcher.fast_field_values("chunk_id", [address for _, address in found])
        hits = [
            LexicalHit(int(chunk), float(score))
            for (score, _), chunk in zip(found, ids, strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    def question_terms(self, question: str) -> list[tuple[str, float]]:
        """The distinct terms that a question is searched by, with their inverse document
        frequency (BM25's, never negative), in the order of the question."""
        terms = list(dict.fromkeys(words(question)))
        telling = [term for term in terms if term not in _STEMMED_STOP_WORDS]
        pairs = list(dict.fromkeys(grams(question)))
        # A run of a blankless script is one giant word that hardly recurs; its pairs stand for it.
        chosen = [t for t in (telling or terms) if not any(True for _ in grams(t))] + pairs
        weighed = [(term, self._idf(term)) for term in chosen]
        if len(weighed) <= MAX_TERMS:
            return weighed
        rarest = set(heapq.nlargest(MAX_TERMS, weighed, key=lambda item: (item[1], item[0])))
        return [item for item in weighed if item in rarest]

    def analyse(self, text: str) -> list[str]:
        """The terms of any text, as `question_terms` gives them: words, then pairs."""
        return [*words(text), *grams(text)]

    def _idf(self, term: str) -> float:
        fields = ("grams",) if any(True for _ in grams(term)) else tuple(BOOSTS)
        seen = max(self._searcher.doc_freq(name, term) for name in fields)
        count = self.count
        return math.log(1 + (count - seen + 0.5) / (seen + 0.5))

    def _clauses(self, question: str) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        schema = self._index.schema
        clauses: list[tuple[tantivy.Occur, tantivy.Query]] = []

        def add(field: str, term: str, boost: float) -> None:
            query = tantivy.Query.term_query(schema, field, term)
            clauses.append((tantivy.Occur.Should, tantivy.Query.boost_query(query, boost)))

        for term, _ in self.question_terms(question):
            if any(True for _ in grams(term)):
                add("grams", term, GRAM_BOOST)
            else:
                for field, boost in BOOSTS.items():
                    add(field, term, boost)
        for part in dict.fromkeys(words(" ".join(parts(question[:10_000])))):
            add("body", part, BOOSTS["parts"])
            add("parts", part, BOOSTS["parts"])
        return clauses[: MAX_TERMS * (len(BOOSTS) + 2)]


_STEMMED_STOP_WORDS = frozenset(words(" ".join(STOP_WORDS)))


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("chunk_id", stored=False, indexed=False, fast=True)
    builder.add_text_field("path", tokenizer_name="raw", index_option="basic")
    for field in BOOSTS:
        builder.add_text_field(field, tokenizer_name="words", index_option="freq")
    builder.add_text_field("grams", tokenizer_name="grams", index_option="freq")
    return builder.build()


def _register(index: tantivy.Index) -> None:
    index.register_tokenizer("words", words_analyzer())
    index.register_tokenizer("grams", grams_analyzer())


def _document(doc: LexicalDoc) -> tantivy.Document:
    document = tantivy.Document()
    document.add_unsigned("chunk_id", doc.chunk_id)
    document.add_text("path", doc.path)
    document.add_text("title", doc.title)
    document.add_text("names", doc.names)
    document.add_text("header_path", doc.header_path)
    document.add_text("body", doc.body)
    whole = "\n".join((doc.title, doc.names, doc.header_path, doc.body))
    document.add_text("parts", " ".join(parts(whole)))
    document.add_text("grams", " ".join(grams(whole)))
    return document


def _generation(folder: Path, number: int) -> Path:
    return folder / f"gen-{number:06d}"


def _last_generation(folder: Path) -> int:
    numbers = [int(path.name[4:]) for path in folder.glob("gen-*") if path.name[4:].isdigit()]
    return max(numbers, default=0)


def _open_index(folder: Path, generation: int) -> tantivy.Index:
    home = _generation(folder, generation)
    try:
        return tantivy.Index.open(str(home))
    except (ValueError, OSError) as error:
        raise ServingUnreadable(f"the lexical index {home} can't be read: {error}") from error


def _files(home: Path) -> dict[str, int]:
    return {entry.name: entry.stat().st_size for entry in os.scandir(home)}


def _read_manifest(folder: Path) -> LexicalState:
    path = folder / "manifest.json"
    try:
        state = LexicalState(**json.loads(path.read_bytes()))
    except FileNotFoundError as error:
        raise ServingUnreadable(f"there is no lexical index at {folder}") from error
    except (OSError, ValueError, TypeError) as error:
        raise ServingUnreadable(f"{path} can't be read: {error}") from error
    if state.format != FORMAT:
        raise ServingUnreadable(
            f"the lexical index {folder} has format {state.format}, this agentm reads {FORMAT}"
        )
    return state


def _write_manifest(folder: Path, state: LexicalState) -> None:
    temporary = folder / f"manifest.json.{os.getpid()}.tmp"
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(asdict(state), file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / "manifest.json")
