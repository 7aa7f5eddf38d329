"""The lexical serving files: BM25 over chunks, by tantivy.

Chosen by measurement (docs/performance.md): a millisecond a query on 75,000 chunks, milliseconds to
add a note, readers that never block. One generation folder holds one index; publishing in full
writes the next generation and flips `manifest.json` by rename, so a reader never meets an empty or
half-filled index.
"""

import contextlib
import heapq
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import tantivy

from agentm_assets.index.corrections import Correction, Dictionary, corrections_of
from agentm_assets.index.lexical_files import (
    LexicalState,
    create_generation,
    file_sizes,
    generation_home,
    next_generation,
    open_generation,
    read_manifest,
    remove_others,
    tantivy_errors,
    write_manifest,
)
from agentm_assets.index.lexical_schema import (
    BM25_BOOSTS,
    CHARACTER_BOOST,
    FLAT_BOOSTS,
    FORMAT,
    IDENTIFIER_BOOST,
    TITLE_BOOST,
    LexicalDoc,
    build_document,
    build_schema,
    path_term,
    register_analyzers,
)
from agentm_assets.index.lexical_terms import (
    LONGEST_TERM,
    STOP_WORDS,
    characters,
    identifiers,
    lone_characters,
    normal,
    parts,
    plain_words,
    text_terms,
    title_term,
    words,
)
from agentm_assets.index.serving import (
    ServingUnreadable,
    is_reported,
    report_damage,
)
from agentm_assets.index.word_forms import other_forms

__all__ = [
    "Clause",
    "LexicalBusy",
    "LexicalDoc",
    "LexicalHit",
    "LexicalPublished",
    "LexicalPublisher",
    "LexicalReader",
    "LexicalState",
]

MAX_TERMS = 64
"""Terms of a question that are searched for, the rarest first: bounds a pasted page's cost."""

OTHER_FORM_SHARE = 0.9
"""What another form of an asked word earns of what the word itself would."""

MAX_QUESTION_CHARS = 10_000
MAX_DISTINCT_TERMS = 512
"""What of a question is looked at before the rarest terms are chosen."""

_SMALL_HEAP = 15_000_000  # bytes, the least that tantivy takes
_WRITER_HEAP = 64_000_000  # bytes, before tantivy writes a segment
_LOCK_WAITS = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds between attempts
_REOPENINGS = 20
_TIES = 32  # hits fetched beyond the limit, to see whether the last ones tie


class LexicalBusy(Exception):
    """Another process is writing the index."""


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """A chunk and its BM25 score, boosts included."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class LexicalPublished:
    """What one publishing wrote."""

    docs: int
    bytes_written: int


class LexicalPublisher:
    """The one writer of the folder. tantivy's own lock keeps a second one out; a process that
    dies lets go of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def state(self) -> LexicalState | None:
        """What is published; None when it is missing, damaged or of another format."""
        if is_reported(self.folder):
            return None
        try:
            return LexicalReader.open(self.folder).state
        except ServingUnreadable:
            return None

    def publish(
        self,
        index_id: str,
        rev: int,
        docs: Iterable[LexicalDoc],
        dead_paths: Iterable[str],
        *,
        full: bool,
    ) -> LexicalPublished:
        """Replace the chunks of the paths of `docs`, and of `dead_paths`, by `docs`; `full` starts
        a new generation instead. A kill at any point leaves what was published before, or all of
        this; publishing the same again changes nothing.

        Raises ServingUnreadable when the published index can't be continued (publish it in full
        then) and LexicalBusy when another process has been writing it for two seconds.
        """
        if full:
            generation = next_generation(self.folder)
            index = create_generation(self.folder, generation)
        else:
            before = read_manifest(self.folder)
            if is_reported(self.folder):
                raise ServingUnreadable("a reader found the lexical index damaged")
            if before.index_id != index_id:
                raise ServingUnreadable("the lexical index belongs to another index")
            generation = before.generation
            index = open_generation(self.folder, generation)
        home = generation_home(self.folder, generation)
        sizes = file_sizes(home)
        count = _write(index, home, docs, () if full else dead_paths, replace=not full)
        written = sum(size for name, size in file_sizes(home).items() if sizes.get(name) != size)
        write_manifest(self.folder, LexicalState(FORMAT, index_id, rev, generation))
        if full:
            remove_others(self.folder, generation)
        return LexicalPublished(count, written)


def _write(
    index: tantivy.Index,
    home: Path,
    docs: Iterable[LexicalDoc],
    dead_paths: Iterable[str],
    *,
    replace: bool,
) -> int:
    """One commit. Returns the number of chunks added."""
    writer = _writer(index, home)
    gone: set[str] = set()

    def delete(path: str) -> None:
        if path not in gone:
            gone.add(path)
            writer.delete_documents_by_term("path", path_term(path))

    for path in dead_paths:
        delete(path)
    count = 0
    for doc in docs:
        if replace:
            delete(doc.path)
        document = build_document(doc)
        with tantivy_errors(home):
            writer.add_document(document)
        count += 1
    with tantivy_errors(home):
        writer.commit()
        writer.wait_merging_threads()
    return count


def _writer(index: tantivy.Index, home: Path) -> tantivy.IndexWriter:
    for wait in (*_LOCK_WAITS, None):
        try:
            with tantivy_errors(home):
                return index.writer(_WRITER_HEAP, 1)
        except ServingUnreadable as error:
            if "LockBusy" not in str(error):
                raise
            if wait is None:
                raise LexicalBusy(
                    f"another process is writing {home}; wait for it to end and try again"
                ) from error
        time.sleep(wait)
    raise AssertionError("unreachable")


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that a question is searched by: a term in a field.

    A `flat` one earns its idf times `boost` wherever it stands, another BM25 times `boost`. `seen`:
    chunks that have the term, as the idf counts them.
    """

    field: str
    term: str
    boost: float
    flat: bool
    seen: int


@dataclass(frozen=True, slots=True)
class _Term:
    text: str
    alone: bool  # a character that stands alone
    seen: int
    idf: float


@dataclass(frozen=True, slots=True)
class _View:
    state: LexicalState
    index: tantivy.Index
    searcher: tantivy.Searcher


class LexicalReader:
    """A view of the published index; `refresh` moves it to the newest state. Safe to share
    between threads."""

    def __init__(self, folder: Path, view: _View) -> None:
        self.folder = folder
        self._view = view

    @classmethod
    def open(cls, folder: Path) -> "LexicalReader":
        """Raises ServingUnreadable when it is missing, damaged or of another format."""
        return cls(folder, _open_view(folder))

    @classmethod
    def in_memory(cls, docs: Iterable[LexicalDoc]) -> "LexicalReader":
        """An index of these chunks alone, which no file keeps."""
        index = tantivy.Index(build_schema())
        register_analyzers(index)
        writer = index.writer(_SMALL_HEAP, 1)
        for doc in docs:
            writer.add_document(build_document(doc))
        writer.commit()
        index.reload()
        state = LexicalState(FORMAT, "", 0, 0)
        return cls(Path(), _View(state, index, index.searcher()))

    @property
    def state(self) -> LexicalState:
        return self._view.state

    @property
    def count(self) -> int:
        """Chunks in the index."""
        return int(self._view.searcher.num_docs)

    def refresh(self) -> bool:
        """See what was published since; False when nothing was. Raises ServingUnreadable, and
        keeps what it has then."""
        if read_manifest(self.folder) == self._view.state:
            return False
        self._view = _open_view(self.folder)
        return True

    def search(self, question: str, limit: int) -> list[LexicalHit]:
        """The best chunks, best first, equal scores by id. Any text is a valid question.

        Raises ServingUnreadable when the index turns out to be damaged.
        """
        view = self._view
        with self._damage_reported(view):
            clauses = _clauses(view, normal(question[:MAX_QUESTION_CHARS]))
            if not clauses or limit < 1:
                return []
            found = _best(view.searcher, tantivy.Query.boolean_query(clauses), limit)
            ids = view.searcher.fast_field_values("chunk_id", [address for _, address in found])
        hits = [
            LexicalHit(int(chunk), float(score))
            for (score, _), chunk in zip(found, ids, strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:limit]

    def question_terms(self, question: str) -> list[tuple[str, float]]:
        """The distinct terms that a question is searched by, with their inverse document
        frequency (BM25's, never negative): words in the order of the question, those of scripts
        without blanks after the others."""
        view = self._view
        with self._damage_reported(view):
            terms = _terms(view, normal(question[:MAX_QUESTION_CHARS]))
        return [(term.text, term.idf) for term in terms]

    def corrections(self, question: str) -> list[Correction]:
        """Words that no chunk has, and the known ones that were probably meant. `search` looks for
        what it is given: add the meant ones to the question."""
        view = self._view
        with self._damage_reported(view):
            return _corrections(view, normal(question[:MAX_QUESTION_CHARS]))

    def plan(self, question: str) -> list[Clause]:
        """What `search` asks for: for scoring a text that is not indexed by the same measure."""
        view = self._view
        with self._damage_reported(view):
            return _plan(view, normal(question[:MAX_QUESTION_CHARS]))

    def analyse(self, text: str) -> list[str]:
        """The terms of any text, as `question_terms` gives them, and of the parts of compounds."""
        text = normal(text)
        found = text_terms(text)
        return [*found.words.split(), *found.parts.split(), *characters(text)]

    @contextlib.contextmanager
    def _damage_reported(self, view: _View) -> Iterator[None]:
        try:
            with tantivy_errors(generation_home(self.folder, view.state.generation)):
                yield
        except ServingUnreadable:
            report_damage(self.folder)
            raise


def _open_view(folder: Path) -> _View:
    for _ in range(_REOPENINGS):
        state = read_manifest(folder)
        try:
            index = open_generation(folder, state.generation)
            return _View(state, index, index.searcher())
        except ServingUnreadable:
            # Between the two reads a publisher may have replaced the generation.
            if read_manifest(folder).generation == state.generation:
                raise
    raise ServingUnreadable(f"the lexical index {folder} is replaced too fast to be read")


def _terms(view: _View, question: str) -> list[_Term]:
    """The terms of a question: its telling words, or all of them when none is."""
    distinct = list(dict.fromkeys(words(question)))
    telling = [word for word in distinct if word not in _STEMMED_STOP_WORDS]
    alone = list(dict.fromkeys(lone_characters(question)))
    count = int(view.searcher.num_docs)

    def weighed(text: str, alone: bool, fields: Iterable[str]) -> _Term:
        seen = _seen(view, text, fields)
        return _Term(text, alone, seen, idf(count, seen))

    terms = [
        weighed(text, False, _WORD_FIELDS)
        for text in (telling or alone or distinct)[:MAX_DISTINCT_TERMS]
        if text not in alone
    ]
    terms += [weighed(text, True, ("characters",)) for text in alone[:MAX_TERMS]]
    if len(terms) <= MAX_TERMS:
        return terms
    rarest = set(heapq.nlargest(MAX_TERMS, terms, key=lambda term: (term.idf, term.text)))
    return [term for term in terms if term in rarest]


def _corrections(view: _View, question: str) -> list[Correction]:
    unknown: dict[str, str] = {}
    for word in plain_words(question)[:MAX_DISTINCT_TERMS]:
        for term in words(word):
            if term not in _STEMMED_STOP_WORDS and not _seen(view, term, _WORD_FIELDS):
                unknown.setdefault(term, word)

    fields = ("window", "spelled")  # the window of a chunk has its note's title and all its text

    def beginning_with(letters: str) -> list[tuple[str, int]]:
        held = [view.searcher.terms_with_prefix(field, letters) for field in fields]
        return [each for terms in held for each in terms]

    known = Dictionary(lambda word: _seen(view, word, fields), beginning_with)
    return corrections_of([(word, term) for term, word in unknown.items()], known)


def _seen(view: _View, term: str, fields: Iterable[str]) -> int:
    """Chunks that have the term, in the field in which most do."""
    count = int(view.searcher.num_docs)
    # Chunks that were replaced count until tantivy merges them away.
    return min(count, max(int(view.searcher.doc_freq(field, term)) for field in fields))


def idf(count: int, seen: int) -> float:
    """BM25's inverse document frequency of a term that `seen` of `count` chunks have."""
    return math.log(1 + (count - seen + 0.5) / (seen + 0.5))


def _clauses(view: _View, question: str) -> list[tuple[tantivy.Occur, tantivy.Query]]:
    """Term queries joined by "or". Never tantivy's query language: a question is no query."""
    schema = view.index.schema
    count = int(view.searcher.num_docs)
    clauses: list[tuple[tantivy.Occur, tantivy.Query]] = []
    for clause in _plan(view, question):
        if clause.flat:
            query = tantivy.Query.term_query(schema, clause.field, clause.term, "basic")
            score = clause.boost * idf(count, clause.seen)
            clauses.append((tantivy.Occur.Should, tantivy.Query.const_score_query(query, score)))
        else:
            query = tantivy.Query.term_query(schema, clause.field, clause.term, "freq")
            boosted = tantivy.Query.boost_query(query, clause.boost)
            clauses.append((tantivy.Occur.Should, boosted))
    return clauses


def _plan(view: _View, question: str) -> list[Clause]:
    """What is asked of which field."""
    plan: list[Clause] = []

    def flat(field: str, term: str, boost: float, seen: int) -> None:
        plan.append(Clause(field, term, boost, True, seen))

    for term in _terms(view, question):
        if term.alone:
            flat("characters", term.text, CHARACTER_BOOST, term.seen)
            continue
        for field, boost in BM25_BOOSTS.items():
            plan.append(Clause(field, term.text, boost, False, _seen(view, term.text, (field,))))
        plan += _by_other_forms(view, term)
        for field, boost in FLAT_BOOSTS.items():
            flat(field, term.text, boost, term.seen)
    for whole in list(dict.fromkeys(identifiers(question)))[:MAX_TERMS]:
        flat("identifiers", whole, IDENTIFIER_BOOST, _seen(view, whole, ("identifiers",)))
    if len(question) <= LONGEST_TERM:
        title = title_term(question)
        flat("identifiers", title, TITLE_BOOST, _seen(view, title, ("identifiers",)))
    for part in _question_parts(question)[:MAX_TERMS]:
        seen = _seen(view, part, ("body", "parts"))
        flat("body", part, FLAT_BOOSTS["parts"], seen)
        flat("parts", part, FLAT_BOOSTS["parts"], seen)
    return plan


def _by_other_forms(view: _View, term: _Term) -> list[Clause]:
    """The same asked for as "went" where the question says "go": for less than the term itself
    earns, though a form may be rarer."""
    count = int(view.searcher.num_docs)
    plan: list[Clause] = []
    for form in other_forms(term.text):
        seen = _seen(view, form, _WORD_FIELDS)
        if seen:
            share = OTHER_FORM_SHARE * min(1.0, term.idf / idf(count, seen))
            plan += [
                Clause(field, form, boost * share, False, _seen(view, form, (field,)))
                for field, boost in BM25_BOOSTS.items()
            ]
    return plan


def _question_parts(question: str) -> list[str]:
    """Parts of compounds that are worth asking for: single letters and numbers stand everywhere."""
    telling = [part for part in parts(question) if len(part) > 1 and not part.isdecimal()]
    distinct = dict.fromkeys(words(" ".join(telling)))
    return [part for part in distinct if part not in _STEMMED_STOP_WORDS]


def _best(
    searcher: tantivy.Searcher, query: tantivy.Query, limit: int
) -> list[tuple[float, tantivy.DocAddress]]:
    """At least the `limit` best hits and all that tie with the last of them: tantivy would cut
    among equals by where they lie."""
    wanted = limit + _TIES
    while True:
        found: list[tuple[float, tantivy.DocAddress]] = searcher.search(
            query, wanted, count=False
        ).hits
        if len(found) < wanted or found[-1][0] < found[limit - 1][0]:
            return found
        wanted *= 2


# Not the window: a term of one chunk stands in the windows of four others, and is no less rare.
_WORD_FIELDS = ("title", "header_path", "body", *FLAT_BOOSTS)
_STEMMED_STOP_WORDS = frozenset(words(" ".join(STOP_WORDS)))
