"""The fields of the lexical index and how a chunk fills them."""

from dataclasses import dataclass
from hashlib import sha256

import tantivy

from agentm_assets.index.lexical_terms import (
    cut_analyzer,
    normal,
    terms_analyzer,
    text_terms,
    text_words,
    title_term,
)

FORMAT = 5
"""Raise it when fields or terms change: an index of another format is written anew."""

BM25_BOOSTS: dict[str, float] = {
    "title": 0.1,
    "header_path": 0.5,
    "window": 1.0,
    "body": 0.25,
}
"""Weight of the fields that most chunks fill, scored by BM25. Every chunk of a note has its title,
so that a heavy title lifts whole notes for one common word (measured: with 4 and a heading of 1.5
the known note comes first for 76 to 83 of 100 questions, with .5 and .5 for 95); the window has the
title as well. See docs/performance.md for dialogues, notes and the sample."""

FLAT_BOOSTS: dict[str, float] = {"names": 1.0, "parts": 0.25}
"""Weight of the fields that few chunks fill: a term found there earns its idf times this. BM25 sets
a field's length against the mean of all chunks, and where most are empty the mean is next to
nothing: one alias among notes without any would count as an endless text."""

IDENTIFIER_BOOST = 1.0
"""Weight of an identifier found as a whole, beside what its words earn; flat as well."""

CHARACTER_BOOST = 1.0
"""Weight of a character that stands alone in the question; flat as well."""

TITLE_BOOST = 1.0
"""Weight of a title that is the whole question; flat as well."""


@dataclass(frozen=True, slots=True)
class LexicalDoc:
    """One chunk as it is searched. `names` are the note's aliases and tags, one a line; `window` is
    the body with what stands around it, in pieces (index.window)."""

    chunk_id: int
    path: str
    title: str
    names: str
    header_path: str
    body: str
    window: tuple[str, ...]


def build_schema() -> tantivy.Schema:
    """`chunk_id` can be read for a hit, `path` names what is deleted together."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("chunk_id", stored=False, indexed=False, fast=True)
    builder.add_text_field("path", tokenizer_name="raw", index_option="basic")
    for field in BM25_BOOSTS:
        builder.add_text_field(field, tokenizer_name="terms", index_option="freq")
    for field in (*FLAT_BOOSTS, "spelled"):
        builder.add_text_field(field, tokenizer_name="terms", index_option="basic")
    for field in ("identifiers", "characters"):
        builder.add_text_field(field, tokenizer_name="cut", index_option="basic")
    return builder.build()


def register_analyzers(index: tantivy.Index) -> None:
    """tantivy keeps the names of analysers in the index, not the analysers."""
    index.register_tokenizer("terms", terms_analyzer())
    index.register_tokenizer("cut", cut_analyzer())


def path_term(path: str) -> str:
    """The term that stands for a path: a hash, since a path may be no valid UTF-8."""
    return sha256(path.encode("utf-8", "surrogateescape")).hexdigest()


def build_document(doc: LexicalDoc) -> tantivy.Document:
    """The chunk as terms."""
    title, names = normal(doc.title), normal(doc.names)
    header_path, body = normal(doc.header_path), normal(doc.body)
    whole = [text_terms(text) for text in (title, names, header_path, body)]
    document = tantivy.Document()
    document.add_unsigned("chunk_id", doc.chunk_id)
    document.add_text("path", path_term(doc.path))
    document.add_text("title", whole[0].words)
    document.add_text("names", whole[1].words)
    document.add_text("header_path", whole[2].words)
    document.add_text("body", whole[3].words)
    own = {doc.title: whole[0].words, doc.body: whole[3].words}
    window = [own.get(piece) or text_words(normal(piece)) for piece in doc.window]
    document.add_text("window", " ".join(window))
    document.add_text("parts", " ".join([terms.parts for terms in whole]))
    document.add_text("spelled", " ".join([terms.spelled for terms in whole]))
    kept_whole = [title_term(title), *(terms.identifiers for terms in whole)]
    document.add_text("identifiers", " ".join(kept_whole))
    alone = {each for terms in whole for each in terms.characters.split()}
    document.add_text("characters", " ".join(sorted(alone)))
    return document
