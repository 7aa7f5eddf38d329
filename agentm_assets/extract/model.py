"""What extraction finds in one note. Pure data: no file handle, no database, no Dagster.

All offsets are **byte** offsets into the whole file (frontmatter included), so that a slice of the
file's bytes gives the text back exactly. Texts are already safe to store: invalid UTF-8 and NUL
appear as U+FFFD.
"""

from dataclasses import dataclass
from typing import Literal

LinkKind = Literal["wikilink", "embed", "markdown", "image", "html"]
LinkSource = Literal["body", "frontmatter"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """One section, or one piece of a section that exceeds the embedder's window.

    Chunks tile the body: the first starts where the body starts, each starts where the previous
    one ended, the last ends with the file. `overlap_start <= start` is where the tenth that a
    continued piece repeats from its predecessor begins (equal to `start` when nothing repeats).
    `text` is `data[overlap_start:end]` without comments, stored drawings and block ids.
    """

    ordinal: int
    header_path: str  # visible heading texts joined with " > "; "" for the preamble
    level: int  # 0 for the preamble, 1 to 6 for a heading
    start: int
    end: int
    overlap_start: int
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link to something in the vault. External URLs are entities, not links."""

    ordinal: int
    kind: LinkKind
    target: str  # without anchor and label, %20 kept as written; "" for a link into the note itself
    anchor: str | None  # "Parts#Lid" or "^block", percent-decoded
    label: str | None
    start: int
    line: int
    source: LinkSource


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A reference to a thing outside the note, merged over all its spellings in that note."""

    key: str  # URI: "issue:owner/repo#12", "repo:owner/repo", "commit:owner/repo@sha", "url:…"
    kind: str
    surface: str  # first spelling seen
    detail: str | None  # for instance the URL's fragment
    count: int
    start: int  # offset of the first mention
    confidence: Literal["high", "low"]


@dataclass(frozen=True, slots=True)
class Alias:
    """A name under which a note can be asked for."""

    alias: str
    origin: Literal["own", "derived"]  # own: written in the frontmatter; derived: extracted
