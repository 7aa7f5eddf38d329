"""Which stretches of a note's body are not prose: code, comments, maths, raw HTML, drawings.

Links, headings and entities are looked for outside them, and the text of comments and drawings
stays out of chunks. Block structure and code spans follow CommonMark 0.31, comments and maths what
Obsidian and pandoc document. Code is recognised before comments and maths, so `%%` in code hides
nothing. A mark without a partner is text, so that one stray mark never swallows the rest of a note.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from agentm_assets.extract.blocks import Block, Blocks, scan_blocks

RegionKind = Literal["fence", "indented", "code", "comment", "math", "html", "payload"]

CODE: frozenset[RegionKind] = frozenset({"fence", "indented", "code", "html", "payload"})
"""Literal text: fences, indented code, code spans, `<pre>` and the like, drawings."""

HIDDEN: frozenset[RegionKind] = frozenset({"comment", "payload"})
"""What a reader of the note does not see; it stays out of chunks and recall."""

INLINE: frozenset[RegionKind] = frozenset({"code", "comment", "math"})
"""What stands within the segments of `scan_blocks`, or spans them."""

ALL: frozenset[RegionKind] = CODE | HIDDEN | {"math"}
"""Everything in which nothing is a link, a heading or an entity."""


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of a text, marks included. Offsets are characters of the text that was scanned.

    fence, indented: a code block, from its first mark to the end of its last line, line end
    excluded. code: a code span. comment: `%%…%%` or `<!--…-->`. math: `$…$` or `$$…$$`.
    html: `<pre>`, `<script>`, `<style>`, `<textarea>`, declarations. payload: the stored drawing
    of an Excalidraw note.
    """

    kind: RegionKind
    start: int
    end: int


_EXCALIDRAW_INFO = "compressed-json"
_DRAWING = re.compile(r"#{1,6}[ \t]+Drawing[ \t]*[\r\n]+\Z")
# Excalidraw can wrap a drawing's data in a comment; the words in it are the note's text.
_DRAWN_TEXT = re.compile(r"[ \t]*[\r\n]+#{1,6}[ \t]+(?:Excalidraw Data|Text Elements)(?=[ \t\r\n])")
_CODE_MARK = re.compile(r"`++|[<\\]")
_TICKS = re.compile(r"`+")
_ATTRIBUTE = r"(?:\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+)"
_ANGLE = re.compile(
    r"<(?:(?P<comment>!--)"
    r"|[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+>"  # an autolink (6.5)
    rf"|/?[A-Za-z][A-Za-z0-9-]*+{_ATTRIBUTE}*+\s*+/?>)"  # a tag (6.6)
)
_SOFT_MARK = re.compile(
    r"\\[\\$%\[]"
    r"|\[\[[^\[\]\r\n]++\]\]"
    r"|\]\([^\s()]++\)"
    r"|://[^\s<>\"`]++"
    r"|\$++|%%++"
)
_BLANK_LINE = re.compile(r"(?:\r\n?|\n)[ \t>]*(?=[\r\n])")
_PERCENT_ESCAPE = re.compile(r"[0-9][0-9A-Fa-f]|[A-Fa-f][0-9]")
_PRICE = re.compile(r"\d[\d,.]*+(?:[kKmMbB]|bn)?[ \t]+[^\W\d_]{2}|\d[\d,.]*+(?:[kKmMbB]|bn)?[-/+]")
_LINE_REST = re.compile(r"[ \t]*+(?=[\r\n]|\Z)")
_MARGIN = 100
"""A mark further from its line's start than this is not at the start (nested quotes are short)."""
_INK = re.compile(r"[^\r\n]+")


@lru_cache(maxsize=8)
def blocks_of(text: str) -> Blocks:
    """The block structure of `text`; the last few texts are remembered.

    One note's body is scanned for chunks, links, entities and aliases in turn.
    """
    return scan_blocks(text)


@lru_cache(maxsize=8)
def find_regions(text: str) -> tuple[Region, ...]:
    """All regions of `text`, in order and disjoint: what a comment or formula holds is part of it.

    `text` is a body without its frontmatter. Takes time linear in the length of the text; the last
    few texts are remembered.
    """
    blocks = blocks_of(text)
    regions = [Region(_block_kind(text, block), block.start, block.end) for block in blocks.blocks]
    if "`" in text or "<!--" in text:
        regions += _code_spans(text, blocks.segments)
        regions.sort(key=_start)
    if "$" in text or "%%" in text:
        soft = _SoftMarks(text, regions, blocks.segments).pair()
        if soft:
            regions = _merge(regions, soft)
    return tuple(regions)


def blank(text: str, regions: Iterable[Region], kinds: Collection[RegionKind]) -> str:
    """`text` with the regions of these kinds turned into blanks: same length, line ends kept."""
    pieces: list[str] = []
    at = 0
    for region in regions:
        if region.kind in kinds:
            pieces.append(text[at : region.start])
            masked = text[region.start : region.end]
            if "\n" in masked or "\r" in masked:
                pieces.append(_INK.sub(lambda line: " " * len(line[0]), masked))
            else:
                pieces.append(" " * len(masked))
            at = region.end
    if not pieces:
        return text
    pieces.append(text[at:])
    return "".join(pieces)


def region_at(regions: Sequence[Region], offset: int) -> Region | None:
    """The region that holds the character at `offset`; `regions` as `find_regions` gives them."""
    index = bisect_right(regions, offset, key=_start) - 1
    return regions[index] if index >= 0 and offset < regions[index].end else None


def _start(region: Region) -> int:
    return region.start


def _block_kind(text: str, block: Block) -> RegionKind:
    """An Excalidraw note keeps its drawing in a fence: packed, or as JSON under "Drawing"."""
    if block.kind == "fence":
        info = block.info
        if info == _EXCALIDRAW_INFO:
            return "payload"
        if info == "json" and _DRAWING.search(text, max(0, block.start - 40), block.start):
            return "payload"
    return block.kind


def _code_spans(text: str, segments: Sequence[tuple[int, int]]) -> list[Region]:
    """Code spans and inline HTML comments: whichever mark comes first in a segment holds (6.1)."""
    found: list[Region] = []
    for start, end in segments:
        if text.find("`", start, end) >= 0 or text.find("<!--", start, end) >= 0:
            _segment_code(text, start, end, found)
    return found


def _segment_code(text: str, start: int, end: int, found: list[Region]) -> None:
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text, start, end):
        runs.setdefault(run.end() - run.start(), []).append(run.start())
    # A segment of plain code spans needs no look at escapes and tags.
    plain = text.find("\\", start, end) < 0 and text.find("<", start, end) < 0
    last_comment_end = -1 if plain else text.rfind("-->", start, end)
    next_mark = (_TICKS if plain else _CODE_MARK).search
    at = start
    while mark := next_mark(text, at, end):
        at = mark.start()
        if text[at] == "\\":
            at += 2
        elif text[at] == "`":
            size = mark.end() - at
            same = runs.get(size, ())
            after = bisect_left(same, at + size)
            if after < len(same):
                close = same[after] + size
                found.append(Region("code", at, close))
                at = close
            else:
                at += size
        else:
            angle = _ANGLE.match(text, at, end)
            if angle is None:
                at += 1
            elif angle["comment"] is None:
                at = angle.end()
            elif at + 2 <= last_comment_end:
                close = text.find("-->", at + 2, end) + 3
                found.append(Region("comment", at, close))
                at = close
            else:
                at += 4


class _SoftMarks:
    """Pairs the marks of Obsidian comments and of maths that stand outside code.

    Tried from left to right; what opens first holds what is inside it. Complete wikilinks,
    destinations of markdown links and URLs are stepped over, so `%%20` and `$` in them mark
    nothing.
    """

    def __init__(
        self, text: str, regions: Sequence[Region], segments: Sequence[tuple[int, int]]
    ) -> None:
        self.text = text
        self.segment_starts = [start for start, _ in segments]
        self.segment_ends = [end for _, end in segments]
        self.blank_lines = [m.start() for m in _BLANK_LINE.finditer(text)]
        self.openers: list[tuple[int, str]] = []  # marks that may open, with their spelling
        self.comment_ends: list[int] = []  # starts of `%%` that may close a comment
        self.lone_comments: list[int] = []  # those of them that are alone on their line
        self.displays: list[int] = []  # starts of `$$`
        self.dollar_ends: list[int] = []  # starts of `$` that may close a formula
        self._collect(regions)

    def _collect(self, regions: Sequence[Region]) -> None:
        text = self.text
        at = 0
        for region in (*regions, Region("code", len(text), len(text))):
            for mark in _SOFT_MARK.finditer(text, at, region.start):
                first, start = mark[0][0], mark.start()
                if first == "$":
                    self._dollars(start, mark.end())
                elif first == "%":
                    self._percents(start, mark.end())
                elif first == ":":
                    self._percents_in_url(start, mark.end())
            at = region.end

    def _dollars(self, start: int, end: int) -> None:
        text = self.text
        if end - start == 2:
            self.openers.append((start, "$$"))
            self.displays.append(start)
        elif end - start == 1:
            self.openers.append((start, "$"))
            if not text[start - 1 : start].isspace() and not text[end : end + 1].isdigit():
                self.dollar_ends.append(start)

    def _percents(self, start: int, end: int) -> None:
        """Two marks pair; four close one comment and open the next; a longer run is a rule."""
        size = end - start
        if size > 4:
            return
        if size == 2:
            self.openers.append((start, "%%"))
            if self._starts_line(start) and self._ends_line(end):
                self.lone_comments.append(start)
        elif size == 4:
            self.openers.append((start + 2, "%%%%"))
        self.comment_ends.append(end - 2 if size == 3 else start)

    def _percents_in_url(self, start: int, end: int) -> None:
        """Inside a URL `%%` opens nothing, and ends a comment only if it is no percent escape."""
        at = self.text.find("%%", start, end)
        while at >= 0:
            if not _PERCENT_ESCAPE.match(self.text, at + 2):
                self.comment_ends.append(at)
            at = self.text.find("%%", at + 2, end)

    def pair(self) -> list[Region]:
        """The comments and formulas, in order and disjoint."""
        found: list[Region] = []
        at = 0
        for start, mark in self.openers:
            if start < at or (mark == "%%%%" and start != at):
                continue
            if mark[0] == "%":
                end = self._comment_end(start)
            elif mark == "$$":
                end = self._display_end(start)
            else:
                end = self._formula_end(start)
            if end > start:
                found.append(Region("comment" if mark[0] == "%" else "math", start, end))
                at = end
        return found

    def _comment_end(self, start: int) -> int:
        """The end of the comment that `%%` at `start` opens, -1 when it is text.

        A mark in the middle of a line is closed in its own paragraph. One that starts a line may
        be closed further on, but not by a mark that itself opens a comment in its paragraph.
        """
        text = self.text
        before, after = text[start - 1 : start] if start else "", text[start + 2 : start + 3]
        starts_line = self._starts_line(start)
        if before.isdigit() and not after.isalnum():
            return -1  # a percentage
        if starts_line and _DRAWN_TEXT.match(text, start + 2):
            return start + 2  # hides the mark alone
        if before and not before.isspace() and _PERCENT_ESCAPE.match(text, start + 2):
            return -1
        closing = _next(self.comment_ends, start + 2)
        if starts_line and self._ends_line(start + 2):
            lone = _next(self.lone_comments, start + 2)
            if lone >= 0:
                return lone + 2
        if closing < 0:
            return -1
        if closing < (self._paragraph_end(start) if starts_line else self._segment_end(start)):
            return closing + 2
        return closing + 2 if starts_line and not self._opens_inline(closing) else -1

    def _opens_inline(self, start: int) -> bool:
        text = self.text
        if text[start - 1 : start].strip(" \t\r\n") or not text[start + 2 : start + 3].strip():
            return False
        closing = _next(self.comment_ends, start + 2)
        return 0 <= closing < self._segment_end(start)

    def _display_end(self, start: int) -> int:
        """`$$` pairs within its paragraph; alone on a line, with the next one at a line's edge."""
        closing = _next(self.displays, start + 2)
        if closing < 0:
            return -1
        starts_line = self._starts_line(start)
        if closing < (self._paragraph_end(start) if starts_line else self._segment_end(start)):
            return closing + 2
        alone = starts_line and self._ends_line(start + 2)
        if alone and (self._starts_line(closing) or self._ends_line(closing + 2)):
            return closing + 2
        return -1

    def _formula_end(self, start: int) -> int:
        """pandoc's rule for `$`: no blank inside its marks, no digit after the second.

        Amounts of money open nothing, nor does a mark that a word runs into, unless a subscript,
        superscript or command follows as in `H$_2$O`.
        """
        text = self.text
        before, after = text[start - 1 : start] if start else "", text[start + 1 : start + 2]
        if not after or after.isspace() or _PRICE.match(text, start + 1):
            return -1
        if before.isalnum() and after not in "_^\\":
            return -1
        closing = _next(self.dollar_ends, start + 2)
        return closing + 1 if 0 <= closing < self._segment_end(start) else -1

    def _segment_end(self, offset: int) -> int:
        index = bisect_right(self.segment_starts, offset) - 1
        return self.segment_ends[index] if index >= 0 else offset

    def _paragraph_end(self, offset: int) -> int:
        """Where the lines without a blank line between them end that hold `offset`."""
        end = _next(self.blank_lines, offset)
        return end if end >= 0 else len(self.text)

    def _starts_line(self, offset: int) -> bool:
        near = self.text[max(0, offset - _MARGIN) : offset].rstrip(" \t>")
        return offset <= _MARGIN if not near else near[-1] in "\r\n"

    def _ends_line(self, offset: int) -> bool:
        return _LINE_REST.match(self.text, offset) is not None


def _next(offsets: Sequence[int], at: int) -> int:
    """The first of the ascending `offsets` that is not before `at`, -1 when there is none."""
    index = bisect_left(offsets, at)
    return offsets[index] if index < len(offsets) else -1


def _merge(regions: Sequence[Region], soft: Sequence[Region]) -> list[Region]:
    """Both lists in order, without the regions that a comment or formula holds."""
    starts = [region.start for region in soft]
    kept = []
    for region in regions:
        index = bisect_right(starts, region.start) - 1
        if index < 0 or soft[index].end <= region.start:
            kept.append(region)
    return sorted([*kept, *soft], key=_start)
