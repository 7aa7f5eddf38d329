"""The text of a hit's section, read from the vault at the moment of the answer."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agentm_assets.contract.block import safe_text
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.extract.model import Chunk
from agentm_assets.index.facts_reader import ChunkFacts
from agentm_assets.index.rows import NoteRow
from agentm_assets.recall.snippet import Analyse

ReadNote = Callable[[str], bytes]
"""Vault-relative path -> bytes of the file, following no link. Raises FileNotFoundError when it is
gone and NoteUnreadable when it cannot be read."""

# What a comment, a stored drawing or a block id leaves in the slice of its chunk.
_HIDING_MARKS = re.compile(r"%%|<!--|-->|\^[A-Za-z0-9-]+[ \t]*(?:[\r\n]|\Z)")
_DRAWING_MARKS = (b"compressed-json", b"# Drawing")


@dataclass(frozen=True, slots=True)
class Section:
    """A section as it stands in the file now. `stale`: the file is not the one that was indexed."""

    header_path: str
    ordinal: int
    start: int
    end: int
    text: str
    stale: bool
    data: bytes


def read_section(
    chunk: ChunkFacts,
    note: NoteRow,
    read: ReadNote,
    terms: Mapping[str, float],
    analyse: Analyse,
) -> Section:
    """The section that `chunk` names.

    When the file changed after it was indexed, offsets no longer hold: the section is found again
    by its header path, the one that holds the most of `terms` where several bear it, and when none
    does, the section of the note that holds the most. Raises what `read` raises.
    """
    data = read(note.path)
    if hashlib.sha256(data).hexdigest() == note.content_hash:
        return Section(
            header_path=chunk.header_path,
            ordinal=chunk.ordinal,
            start=chunk.start,
            end=chunk.end,
            text=_chunk_text(data, chunk),
            stale=False,
            data=data,
        )
    now = _split(data)
    named = [each for each in now if each.header_path == chunk.header_path]
    found = _fullest(named or now, terms, analyse)
    if found is None:
        return Section("", 0, 0, len(data), "", stale=True, data=data)
    return Section(
        header_path=found.header_path,
        ordinal=found.ordinal,
        start=found.start,
        end=found.end,
        text=found.text,
        stale=True,
        data=data,
    )


def body_text(section: Section) -> str:
    """All of the note's body."""
    body = section.data[read_frontmatter(section.data).body_start :]
    return safe_text(body.decode("utf-8", "surrogateescape"))


def _chunk_text(data: bytes, chunk: ChunkFacts) -> str:
    text = data[chunk.overlap_start : chunk.end].decode("utf-8", "surrogateescape")
    if _HIDING_MARKS.search(text) is None and not any(mark in data for mark in _DRAWING_MARKS):
        return safe_text(text)  # nothing hidden: the slice is the chunk's text, 20 times cheaper
    same = [each for each in _split(data) if (each.start, each.end) == (chunk.start, chunk.end)]
    return same[0].text if same else ""  # chunks are cut another way since this note was indexed


def _split(data: bytes) -> tuple[Chunk, ...]:
    # Rarely needed, and its import would cost a cold process 15 ms.
    from agentm_assets.extract.chunks import split_chunks

    return split_chunks(data, read_frontmatter(data).body_start)


def _fullest(chunks: Sequence[Chunk], terms: Mapping[str, float], analyse: Analyse) -> Chunk | None:
    def held(chunk: Chunk) -> float:
        return sum(terms[term] for term in terms.keys() & set(analyse(chunk.text)))

    return max(chunks, key=held, default=None)
