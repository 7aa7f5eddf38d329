"""A note that is too long to be judged at once, in fragments."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from agentm_assets.enrichment.subject import Subject
from agentm_assets.extract.headings import Heading, find_headings
from agentm_assets.extract.mask import Region, find_regions, region_at
from agentm_assets.storage.locator import Locator

_PARAGRAPH = re.compile(r"(?:\r\n?|\n)(?:[ \t]*(?:\r\n?|\n))+")
_LINE = re.compile(r"\r\n?|\n")
_BLANK = re.compile(r"\s+")
_BREAKS: Final = (_PARAGRAPH, _LINE, _BLANK)
"""Where a section that is too long is cut: between paragraphs, else lines, else words."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A stretch of a source. The texts of all fragments in order, joined, are the source.

    `derived_from`: the note it is cut from. `title`: of its first heading, else that of the note.
    `number` counts from 1 to `total`. The text without the blanks around it is within the limit.
    """

    text: str
    title: str
    derived_from: Locator
    number: int
    total: int


def split_source(subject: Subject, limit: int) -> tuple[Fragment, ...]:
    """The source in fragments of at most `limit` characters, blanks around them not counted.

    Along the headings of the highest level first, then of the next, then between paragraphs outside
    code, then wherever it must be. Neighbours that fit together stay together. Deterministic. One
    fragment when the whole fits.
    """
    if limit < 1:
        raise ValueError("a fragment holds at least one character")
    text = subject.source
    headings = find_headings(text)
    cuts = _cuts(text, headings, limit)
    spans = list(pairwise([0, *cuts, len(text)])) if text else []
    titles = {heading.start: heading.text for heading in headings if heading.text}
    found: list[Fragment] = []
    for number, (start, end) in enumerate(spans, 1):
        first = next((titles[h.start] for h in headings if h.start == start and h.text), None)
        title = first or subject.title
        found.append(Fragment(text[start:end], title, subject.locator, number, len(spans)))
    return tuple(found)


def _cuts(text: str, headings: Sequence[Heading], limit: int) -> list[int]:
    """Offsets between fragments, ascending."""
    regions = find_regions(text)
    dividing = [heading for heading in headings if heading.container == ""]
    pieces = list(_sections(text, dividing, 0, len(text), limit))
    small: list[tuple[int, int]] = []
    for start, end in pieces:
        small += _pieces(text, regions, start, end, limit)
    packed: list[tuple[int, int]] = []
    for start, end in small:
        if packed and _size(text, packed[-1][0], end) <= limit:
            packed[-1] = (packed[-1][0], end)
        else:
            packed.append((start, end))
    return [start for start, _ in packed[1:]]


def _sections(
    text: str, headings: Sequence[Heading], start: int, end: int, limit: int
) -> Iterator[tuple[int, int]]:
    """A stretch in sections that fit, as far as headings go."""
    inner = [heading for heading in headings if start < heading.start < end]
    if _size(text, start, end) <= limit or not inner:
        yield start, end
        return
    highest = min(heading.level for heading in inner)
    starts = [heading.start for heading in inner if heading.level == highest]
    for begin, stop in pairwise([start, *starts, end]):
        yield from _sections(text, inner, begin, stop, limit)


def _pieces(
    text: str, regions: Sequence[Region], start: int, end: int, limit: int
) -> list[tuple[int, int]]:
    """A section in pieces that fit."""
    if _size(text, start, end) <= limit:
        return [(start, end)]
    for pattern in _BREAKS:
        found = [
            match.end()
            for match in pattern.finditer(text, start, end)
            if start < match.end() < end and not _within(regions, match.end(), pattern)
        ]
        if found:
            parts: list[tuple[int, int]] = []
            for begin, stop in pairwise([start, *found, end]):
                if parts and _size(text, parts[-1][0], stop) <= limit:
                    parts[-1] = (parts[-1][0], stop)
                else:
                    parts.append((begin, stop))
            if len(parts) > 1:
                return [piece for b, e in parts for piece in _pieces(text, regions, b, e, limit)]
    return [(at, min(at + limit, end)) for at in range(start, end, limit)]


def _within(regions: Sequence[Region], offset: int, pattern: re.Pattern[str]) -> bool:
    """Whether a cut between paragraphs would go through code, maths or a comment."""
    if pattern is not _PARAGRAPH:
        return False
    region = region_at(regions, offset - 1)
    return region is not None and region.end > offset


def _size(text: str, start: int, end: int) -> int:
    """Characters between the first and the last that are no blank."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return end - start
