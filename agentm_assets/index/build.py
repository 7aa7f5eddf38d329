"""From the bytes of one file to its rows: where reading, contract and extraction meet."""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agentm_assets.contract import properties
from agentm_assets.contract.findings import Finding
from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.contract.footer import without_footer
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.lines import line_starts
from agentm_assets.contract.note import validate_note
from agentm_assets.contract.spaces import is_generated, space_of
from agentm_assets.extract.aliases import code_spans_of, derive_aliases
from agentm_assets.extract.chunks import split_chunks
from agentm_assets.extract.entities import extract_entities
from agentm_assets.extract.entity_context import EntityContext, repo_of_property
from agentm_assets.extract.links import extract_links
from agentm_assets.extract.mask import ALL, blank, find_regions
from agentm_assets.extract.model import Alias, Chunk, Link
from agentm_assets.index.rows import (
    AliasRow,
    ChunkRow,
    EntityRow,
    IndexedNote,
    LinkRow,
    NoteRow,
    chunk_id,
)
from agentm_assets.storage.vault import FileEntry

if TYPE_CHECKING:
    from agentm_assets.contract.rules import LoadedRules  # pydantic: a hook has no time for it

_SHARE = re.compile(r"0(?:\.[0-9]+)?|1(?:\.0+)?")
_DATE_IN_NAME = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")


def contract_key(rules: "LoadedRules | None") -> str:
    """What of the rules a note's rows depend on (its finding does), for the build stamp."""
    return rules.rules_hash[:12] if rules else "none"


def build_note(
    entry: FileEntry, data: bytes, content_hash: str, rules: "LoadedRules | None"
) -> IndexedNote:
    """All rows of one note. Never raises on any bytes: what can't be read becomes a finding.

    Links come out unresolved: that needs the other notes.
    """
    size = len(data)
    data = without_footer(data)
    frontmatter = read_frontmatter(data)
    text = data.decode("utf-8", "surrogateescape")
    offsets = _byte_offsets(text)
    body_start = len(data[: frontmatter.body_start].decode("utf-8", "surrogateescape"))
    body = text[body_start:]
    regions = find_regions(body)
    masked = text[:body_start] + blank(body, regions, ALL)

    chunks = split_chunks(data, frontmatter.body_start)
    title = properties.title(frontmatter) or _heading_title(chunks) or _stem(entry.path)
    tags = properties.tags(frontmatter)
    names = derive_aliases(
        title,
        body,
        masked[body_start:],
        code_spans_of(body, regions),
        properties.aliases(frontmatter),
    )
    links = extract_links(data, frontmatter.body_start, _link_values(frontmatter, data))
    context = _entity_context(frontmatter, data)
    mentions = extract_entities(text, masked, context, offsets, body_start=body_start)
    return IndexedNote(
        note=_note_row(entry, data, size, content_hash, frontmatter, title, tags),
        chunks=tuple(_chunk_row(entry.path, title, names, tags, chunk) for chunk in chunks),
        links=tuple(_link_row(entry.path, link) for link in links),
        entities=tuple(EntityRow(entry.path, mention) for mention in mentions),
        aliases=_alias_rows(entry.path, names),
        finding=_worst_finding(entry.path, frontmatter, rules),
    )


def name_key(name: str) -> str:
    """The form in which names are compared: NFC, case folded, blanks folded."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _byte_offsets(text: str) -> Callable[[int], int]:
    """Character offset → byte offset, for a text decoded with surrogateescape, in any order."""
    if text.isascii():
        return lambda offset: offset
    blocks = [_size(text[at : at + _BLOCK]) for at in range(0, len(text), _BLOCK)]
    before = list(accumulate(blocks, initial=0))

    def byte_offset(offset: int) -> int:
        block = offset // _BLOCK
        return before[block] + _size(text[block * _BLOCK : offset])

    return byte_offset


_BLOCK = 512


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _note_row(
    entry: FileEntry,
    data: bytes,
    size: int,
    content_hash: str,
    frontmatter: Frontmatter,
    title: str,
    tags: tuple[str, ...],
) -> NoteRow:
    place = space_of(entry.path)
    captured, origin = _captured(entry.path, frontmatter)
    updated = properties.updated(frontmatter)

    def text(key: str) -> str | None:
        return properties.text_of(frontmatter, key)

    return NoteRow(
        path=entry.path,
        content_hash=content_hash,
        size=size,
        mtime_ns=entry.mtime_ns,
        space=place.space,
        memory_class=place.memory_class,
        title=title,
        type=text("type"),
        kind=text("kind"),
        status=text("status"),
        altitude=text("altitude"),
        captured=captured,
        captured_origin=origin,
        updated=updated.text if updated else None,
        slug=text("slug"),
        tags=tags,
        summary=text("summary"),
        lifecycle_tier=text("lifecycle_tier"),
        rules_hash=text("rules_hash"),
        fingerprint=fingerprint(data[frontmatter.body_start :]),
        generated=is_generated(entry.path),
        enriched_by=text("enriched_by"),
        enriched_at=text("enriched_at"),
        confidence=_share(text("confidence")),
    )


def _share(text: str | None) -> float | None:
    """A number from 0 to 1 as it is written; anything else is a finding's business."""
    return float(text) if text is not None and _SHARE.fullmatch(text) else None


def _captured(path: str, frontmatter: Frontmatter) -> tuple[str | None, str | None]:
    """When the note was captured: the frontmatter, then a date in the file name; never the mtime,
    which every rewrite and every download moves."""
    written = properties.captured(frontmatter)
    if written is not None:
        return written.text, "frontmatter"
    named = date_in_name(path)
    return (named, "file name") if named is not None else (None, None)


def date_in_name(path: str) -> str | None:
    """The first day that a file's name holds, such as 2026-04-12, as it is written there."""
    dates = (found[1] for found in _DATE_IN_NAME.finditer(PurePosixPath(path).name))
    return next((day for day in dates if properties.parse_date(day) is not None), None)


def _chunk_row(
    path: str, title: str, names: Sequence[Alias], tags: Sequence[str], chunk: Chunk
) -> ChunkRow:
    context = [title]
    # Nearly every note's first heading is its title: once is enough.
    headings = chunk.header_path.removeprefix(title).removeprefix(" > ")
    if headings:
        context.append(headings)
    own = [alias.alias for alias in names if alias.origin == "own"]
    if own or tags:
        context.append(", ".join([*own, *tags]))
    embed_text = "\n".join((*context, chunk.text.strip()))
    return ChunkRow(
        chunk_id=chunk_id(path, chunk.ordinal),
        path=path,
        ordinal=chunk.ordinal,
        header_path=chunk.header_path,
        level=chunk.level,
        start=chunk.start,
        end=chunk.end,
        overlap_start=chunk.overlap_start,
        text=chunk.text,
        embed_text=embed_text,
        embed_hash=hashlib.sha256(embed_text.encode()).hexdigest(),
    )


def _link_row(path: str, link: Link) -> LinkRow:
    return LinkRow(
        path=path,
        ordinal=link.ordinal,
        kind=link.kind,
        target=link.target,
        anchor=link.anchor,
        label=link.label,
        start=link.start,
        line=link.line,
        source=link.source,
        resolved_path=None,
        how=None,
        candidates=(),
    )


def _alias_rows(path: str, names: Iterable[Alias]) -> tuple[AliasRow, ...]:
    rows: dict[str, AliasRow] = {}
    for name in names:
        key = name_key(name.alias)
        rows.setdefault(key, AliasRow(path, name.alias, key, name.origin))
    return tuple(rows.values())


def _link_values(frontmatter: Frontmatter, data: bytes) -> list[tuple[str, int, int]]:
    """The texts of the properties in which a link may stand, with byte offset and line."""
    values: list[tuple[str, int, int]] = []
    for field in frontmatter.fields.values():
        if field.kind == "list":
            values.extend(
                (item, start, field.line + _lines_between(data, field.key_start, start))
                for item, start in zip(field.items, field.item_starts, strict=True)
            )
        elif field.text:
            values.append((field.text, field.start, field.line))
    return values


def _lines_between(data: bytes, start: int, end: int) -> int:
    return len(line_starts(data[start:end])) - 1


def _entity_context(frontmatter: Frontmatter, data: bytes) -> EntityContext:
    for key in ("repo", "repository"):
        value = properties.text_of(frontmatter, key)
        repo = repo_of_property(value) if value else None
        if repo is not None:
            start = data[: frontmatter.fields[key].start].decode("utf-8", "surrogateescape")
            return EntityContext(repo=repo, repo_start=len(start))
    return EntityContext()


def _worst_finding(
    path: str, frontmatter: Frontmatter, rules: "LoadedRules | None"
) -> Finding | None:
    findings = validate_note(path, frontmatter, rules.rules if rules else None)
    return findings[0] if findings else None


def _heading_title(chunks: Sequence[Chunk]) -> str | None:
    return next((c.header_path for c in chunks if c.level == 1 and c.header_path), None)


def _stem(path: str) -> str:
    name = PurePosixPath(path).name
    return name[:-3] if name.lower().endswith(".md") else name
