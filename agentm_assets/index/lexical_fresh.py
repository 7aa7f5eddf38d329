"""Searching chunks that no index holds yet beside those that it holds, by one measure.

The clauses are those that the index is asked, its document frequencies count the new chunks in, and
BM25 is tantivy's (k1 = 1.2, b = 0.75). Two things are near enough instead of exact: lengths of
fields are measured in bytes, against a sample of the index, and tantivy rounds its lengths.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentm_assets.index.corrections import Correction, Dictionary, corrections_of, nearer
from agentm_assets.index.lexical import (
    MAX_DISTINCT_TERMS,
    MAX_QUESTION_CHARS,
    Clause,
    LexicalHit,
    LexicalReader,
    idf,
)
from agentm_assets.index.lexical_schema import LexicalDoc
from agentm_assets.index.lexical_terms import (
    characters,
    identifiers,
    normal,
    parts,
    plain_words,
    text_terms,
    title_term,
    words,
)

_K1, _B = 1.2, 0.75
_WORDS = ("title", "header_path", "body", "names", "parts")


@dataclass(frozen=True, slots=True)
class MeanLengths:
    """Bytes of the fields of an indexed chunk, on average."""

    title: float
    header_path: float
    body: float
    window: float


@dataclass(frozen=True, slots=True)
class AnalysedChunk:
    """A chunk's terms, with their numbers where BM25 needs those, and its fields' lengths."""

    chunk_id: int
    counts: Mapping[str, Counter[str]]
    flat: Mapping[str, frozenset[str]]
    lengths: Mapping[str, int]
    spellings: frozenset[str]  # its words, folded, those that stemming changes in both forms

    def has(self, field: str, term: str) -> bool:
        if field in self.flat:
            return term in self.flat[field]
        return term in self.counts[field]


class FreshLexical:
    """The lexical index with some chunks more; those of `docs` stand for theirs in the index."""

    def __init__(
        self, base: LexicalReader, docs: Sequence[AnalysedChunk], means: MeanLengths
    ) -> None:
        self._base = base
        self._docs = docs
        self._means = {
            "title": means.title,
            "header_path": means.header_path,
            "body": means.body,
            "window": means.window,
        }

    @property
    def count(self) -> int:
        """Chunks in the index; the frequencies of a question's terms refer to it."""
        return self._base.count

    def search(self, question: str, limit: int) -> list[LexicalHit]:
        """The best chunks of both, best first, equal scores by id."""
        own = {doc.chunk_id for doc in self._docs}
        found = [hit for hit in self._base.search(question, limit) if hit.chunk_id not in own]
        found += self._scored(self._base.plan(question))
        return heapq.nsmallest(limit, found, key=lambda hit: (-hit.score, hit.chunk_id))

    def question_terms(self, question: str) -> list[tuple[str, float]]:
        """As the index gives them; a term that only new chunks have is no unknown one."""
        count = self._base.count
        unknown = idf(count, 0)
        terms: list[tuple[str, float]] = []
        for term, weight in self._base.question_terms(question):
            having = 0
            if weight >= unknown:
                having = sum(
                    any(doc.has(field, term) for field in (*_WORDS, "characters"))
                    for doc in self._docs
                )
            terms.append((term, idf(max(count, having), having) if having else weight))
        return terms

    def corrections(self, question: str) -> list[Correction]:
        """As the index makes them, but for words that a new chunk has; a word of a new chunk may be
        meant as well."""
        indexed = [
            each
            for each in self._base.corrections(question)
            if not any(doc.has(field, each.unknown) for doc in self._docs for field in _WORDS)
        ]
        return nearer(indexed, corrections_of(self._unknown(question), self._dictionary()))

    def _unknown(self, question: str) -> list[tuple[str, str]]:
        """(word, term) of the words that no chunk has at all."""
        least = idf(self._base.count, 0)
        terms = {term for term, weight in self.question_terms(question) if weight >= least}
        found: dict[str, str] = {}
        for word in plain_words(normal(question[:MAX_QUESTION_CHARS]))[:MAX_DISTINCT_TERMS]:
            for term in words(word):
                if term in terms:
                    found.setdefault(term, word)
        return [(word, term) for term, word in found.items()]

    def _dictionary(self) -> Dictionary:
        seen = Counter(word for doc in self._docs for word in doc.spellings)

        def beginning_with(letters: str) -> list[tuple[str, int]]:
            return [(word, count) for word, count in seen.items() if word.startswith(letters)]

        return Dictionary(lambda word: seen[word], beginning_with)

    def analyse(self, text: str) -> Sequence[str]:
        return self._base.analyse(text)

    def _scored(self, plan: Sequence[Clause]) -> list[LexicalHit]:
        count = self._base.count + len(self._docs)
        scores: defaultdict[int, float] = defaultdict(float)
        for clause in plan:
            having = [doc for doc in self._docs if doc.has(clause.field, clause.term)]
            weight = clause.boost * idf(count, clause.seen + len(having))
            for doc in having:
                scores[doc.chunk_id] += weight if clause.flat else weight * self._bm25(doc, clause)
        return [LexicalHit(chunk_id, score) for chunk_id, score in scores.items()]

    def _bm25(self, doc: AnalysedChunk, clause: Clause) -> float:
        times = doc.counts[clause.field][clause.term]
        length = doc.lengths[clause.field] / max(1.0, self._means[clause.field])
        return (_K1 + 1) * times / (times + _K1 * (1 - _B + _B * length))


def analysed(doc: LexicalDoc) -> AnalysedChunk:
    """The chunk as `FreshLexical` searches it: worth keeping between questions."""
    fields = {
        "title": normal(doc.title),
        "header_path": normal(doc.header_path),
        "body": normal(doc.body),
        "window": normal("\n".join(doc.window)),
    }
    names = normal(doc.names)
    whole = "\n".join((fields["title"], names, fields["header_path"], fields["body"]))
    found = text_terms(whole)
    return AnalysedChunk(
        chunk_id=doc.chunk_id,
        counts={field: Counter(words(text)) for field, text in fields.items()},
        flat={
            "names": frozenset(words(names)),
            "parts": frozenset(words(" ".join(parts(whole)))),
            "identifiers": frozenset([title_term(fields["title"]), *identifiers(whole)]),
            "characters": frozenset(characters(whole)),
        },
        lengths={
            "title": len(doc.title.encode("utf-8", "replace")),
            "header_path": len(doc.header_path.encode("utf-8", "replace")),
            "body": len(doc.body.encode("utf-8", "replace")),
            "window": len("\n".join(doc.window).encode("utf-8", "replace")),
        },
        spellings=frozenset(f"{found.words} {found.spelled}".split()),
    )
