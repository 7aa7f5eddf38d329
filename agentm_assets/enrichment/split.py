"""A note that is too long to be judged at once, in fragments."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from agentm_assets.enrichment.subject import Subject
from agentm_assets.extract.headings import Heading, find_headings
from agentm_assets.extract.mask import find_regions, region_at
from agentm_assets.storage.locator import Locator

_PARAGRAPH = re.compile(r"(?:\r\n?|\n)(?:[ \t]*(?:\r\n?|\n))+")
_LINE = re.compile(r"\r\n?|\n")
_BLANK = re.compile(r"\s+")
_INK = re.compile(r"\S+")
_BREAKS: Final = (_PARAGRAPH, _LINE, _BLANK)
"""Where a section that is too long is cut: between paragraphs, else lines, else words."""

_Span = tuple[int, int]


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
    fragment when the whole fits. Linear, but for a factor for each level of headings.
    """
    if limit < 1:
        raise ValueError("a fragment holds at least one character")
    text = subject.source
    if not text:
        return ()
    headings = [heading for heading in find_headings(text) if heading.container == ""]
    spans = _Splitter(text, headings, limit).spans()
    titles = {heading.start: heading.text for heading in headings}
    return tuple(
        Fragment(
            text[start:end], titles.get(start) or subject.title, subject.locator, at, len(spans)
        )
        for at, (start, end) in enumerate(spans, 1)
    )


class _Splitter:
    def __init__(self, text: str, headings: Sequence[Heading], limit: int) -> None:
        self.text = text
        self.limit = limit
        self.headings = headings
        self.regions = find_regions(text)
        runs = [run.span() for run in _INK.finditer(text)]
        self.ink_starts = [start for start, _ in runs]
        self.ink_ends = [end for _, end in runs]

    def spans(self) -> list[_Span]:
        """The fragments' offsets, in order and without a gap."""
        return self._sections(self.headings, 0, len(self.text))

    def _sections(self, inner: Sequence[Heading], start: int, end: int) -> list[_Span]:
        """A stretch along its headings. `inner`: those within it.

        Sections that fit are put together with their like alone: a heading stays with what it
        heads.
        """
        if inner and inner[0].start == start:
            inner = inner[1:]
        if not inner or self._fits(start, end):
            return self._pieces(start, end)
        highest = min(heading.level for heading in inner)
        at = [index for index, heading in enumerate(inner) if heading.level == highest]
        bounds = pairwise([0, *at, len(inner)])
        spans = pairwise([start, *(inner[index].start for index in at), end])
        found: list[_Span] = []
        small: list[_Span] = []
        for (low, high), span in zip(bounds, spans, strict=True):
            if self._fits(*span):
                small.append(span)
            else:
                found += (*self._packed(small), *self._sections(inner[low:high], *span))
                small = []
        return [*found, *self._packed(small)]

    def _pieces(self, start: int, end: int) -> list[_Span]:
        """A section in pieces that fit."""
        if self._fits(start, end):
            return [(start, end)]
        for pattern in _BREAKS:
            ends = (match.end() for match in pattern.finditer(self.text, start, end))
            cuts = [
                at for at in ends if at < end and not (pattern is _PARAGRAPH and self._in_code(at))
            ]
            parts = self._packed(pairwise([start, *cuts, end]))
            if len(parts) > 1:
                return [piece for part in parts for piece in self._pieces(*part)]
        return list(pairwise([*range(start, end, self.limit), end]))

    def _packed(self, pieces: Iterable[_Span]) -> list[_Span]:
        """Neighbours put together as long as they fit."""
        packed: list[_Span] = []
        for start, end in pieces:
            if packed and self._fits(packed[-1][0], end):
                packed[-1] = (packed[-1][0], end)
            else:
                packed.append((start, end))
        return packed

    def _in_code(self, offset: int) -> bool:
        """Whether a cut would go through code, maths or a comment."""
        region = region_at(self.regions, offset - 1)
        return region is not None and region.end > offset

    def _fits(self, start: int, end: int) -> bool:
        """Whether what lies between the blanks at both ends is within the limit."""
        first = bisect_right(self.ink_ends, start)
        last = bisect_left(self.ink_starts, end) - 1
        if first > last:
            return True
        ink_start = max(start, self.ink_starts[first])
        return min(end, self.ink_ends[last]) - ink_start <= self.limit
