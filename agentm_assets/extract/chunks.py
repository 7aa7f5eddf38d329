"""Splitting a note's body into chunks: the pieces that are searched and embedded.

A chunk is a section, from its heading to the next one. Sections longer than the embedder's window
are split on paragraphs, then sentences, then lines, words and characters.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from agentm_assets.contract.block import safe_text
from agentm_assets.extract.headings import find_headings
from agentm_assets.extract.mask import HIDDEN, Region, blank, find_regions, region_at
from agentm_assets.extract.model import Chunk
from agentm_assets.extract.offsets import byte_offsets
from agentm_assets.extract.tokens import TokenMap

WINDOW = 216
"""Estimated tokens of one chunk. all-MiniLM-L6-v2 reads 256: the rest is for the title and the
header path that ride along, and for the estimate's error."""

_MIN_WINDOW = 16
_LOOK_AHEAD = 30  # characters
_OVERLAP = 10  # a continued piece repeats one part in this many of the window

_PARAGRAPH = re.compile(r"(?:\r\n|\r|\n)(?:[ \t>]*+(?:\r\n|\r|\n))++")
_SENTENCE = re.compile(  # "12." starts an item
    r"[.!?…。！？｡](?<!\s\d\.)(?<!\s\d\d\.)(?<!\s\d\d\d\.)[\"'”’」』）)\]*_]*+"
    r"(?:\s++(?=\S)|(?<=[。！？｡」』）])(?=\S))"
)
_ROW = re.compile(r"(?:\r\n?|\n)(?=[ \t>]*(?:[-*+|]|\d{1,9}[.)])[ \t])")
_LINE = re.compile(r"(?:\r\n?|\n)(?=[^\r\n])")
_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+[ \t]*(?=[\r\n]|\Z)")
_BROKEN_SEQUENCE = re.compile(r"[\udcc0-\udcff][\udc80-\udcbf]*\Z")

_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class _Section:
    start: int
    path: tuple[str, ...]
    level: int


@dataclass(frozen=True, slots=True)
class _Piece:
    overlap_start: int
    start: int
    end: int


def split_chunks(data: bytes, body_start: int, *, window: int = WINDOW) -> tuple[Chunk, ...]:
    """The chunks of the body that starts at byte `body_start` of the note `data`.

    They tile the body byte for byte (see `Chunk`). A body in which nothing is shown has none: it
    is empty, blank, or all comment. `window` is in estimated tokens, overlap included. The text
    leaves out comments, stored drawings and block ids (`^id`). Takes time linear in the length.
    Raises ValueError when `window` is under 16.
    """
    if window < _MIN_WINDOW:
        raise ValueError(f"a window of {window} tokens is under the least, {_MIN_WINDOW}")
    text = data[body_start:].decode("utf-8", "surrogateescape")
    regions = find_regions(text)
    shown = blank(text, regions, HIDDEN)
    sections = _sections(text, shown)
    tokens = TokenMap(shown)
    pieces: list[tuple[_Section, _Piece]] = []
    for index, section in enumerate(sections):
        end = sections[index + 1].start if index + 1 < len(sections) else len(text)
        if tokens.count(section.start, end) <= window:
            pieces.append((section, _Piece(section.start, section.start, end)))
        else:
            splitter = _Splitter(shown, section.start, end, tokens, regions, window)
            pieces += [(section, piece) for piece in splitter.pieces()]
    cuts = sorted({cut for _, p in pieces for cut in (p.overlap_start, p.start, p.end)})
    bytes_before = dict(zip(cuts, byte_offsets(text, cuts), strict=True))
    return tuple(
        Chunk(
            ordinal=ordinal,
            header_path=" > ".join(section.path),
            level=section.level,
            start=body_start + bytes_before[piece.start],
            end=body_start + bytes_before[piece.end],
            overlap_start=body_start + bytes_before[piece.overlap_start],
            text=_chunk_text(text, piece.overlap_start, piece.end, regions),
        )
        for ordinal, (section, piece) in enumerate(pieces)
    )


def _sections(text: str, shown: str) -> list[_Section]:
    """Where sections start; the first starts at 0 and none shows nothing.

    A heading in a list item ends with the item: what follows belongs to the section around it.
    """
    current = _Section(0, (), 0)
    starts: dict[int, _Section] = {0: current}
    above: list[tuple[int, _Section]] = []  # the open headings of list items and what is around
    last = len(text)
    for heading in (*find_headings(text), None):
        while above and above[-1][0] <= (heading.start if heading else last):
            end, around = above.pop()
            starts[end] = current = _Section(end, around.path, around.level)
        if heading is None or heading.container == "quote":
            continue
        if heading.container == "list":
            above.append((heading.section_end, current))
        starts[heading.start] = current = _Section(heading.start, heading.path, heading.level)
    ordered = [starts[start] for start in sorted(starts)]
    ends = [section.start for section in ordered[1:]] + [len(text)]
    kept: list[_Section] = []
    for section, end in zip(ordered, ends, strict=True):
        if shown[section.start : end].strip():
            # Blank lines before the first section belong to it: chunks start where the body does.
            kept.append(section if kept else _Section(0, section.path, section.level))
    return kept


class _Splitter:
    """Cuts one section that is longer than the window into pieces of about even size."""

    def __init__(
        self,
        shown: str,
        start: int,
        end: int,
        tokens: TokenMap,
        regions: Sequence[Region],
        window: int,
    ) -> None:
        self.shown = shown
        self.start = start
        self.end = end
        self.tokens = tokens
        self.regions = regions
        self.window = window
        self.overlap = window // _OVERLAP

    def pieces(self) -> list[_Piece]:
        found: list[_Piece] = []
        at = overlap_start = self.start
        budget = self.window
        left = self.tokens.count(at, self.end)
        while left > budget:
            cut = self._cut(at, left, budget)
            found.append(_Piece(overlap_start, at, cut))
            overlap_start = self._overlap_start(at, cut)
            budget = self.window - self.overlap
            left -= self.tokens.count(at, cut)
            at = cut
        found.append(_Piece(overlap_start, at, self.end))
        return found

    def _cut(self, at: int, left: int, budget: int) -> int:
        """The best offset to cut at: near an even share, and with no tiny rest on either side."""
        least, most = budget // 2, min(budget, left - budget // 4)
        share = -(-left // -(-left // budget))
        low, goal, high = (self.tokens.start_of(at, n) for n in (least, share, most))
        for places in (self._paragraphs, self._sentences, self._lines):
            offsets = places(low, high)
            if offsets:
                return min(offsets, key=lambda offset: (abs(offset - goal), offset))
        starts = self.tokens.starts(low, high + 1)
        starts.sort(key=lambda offset: (abs(offset - goal), offset))
        return self._first_allowed(starts, goal)

    def _overlap_start(self, at: int, cut: int) -> int:
        """Where the tenth before `cut` starts, at a sentence, line, word or character."""
        if not self.overlap:
            return cut
        starts = self.tokens.starts_before(cut, self.overlap, at)
        if not starts:
            return cut
        for places in (self._sentences, self._lines):
            offsets = places(starts[0], cut - 1)
            if offsets:
                return offsets[0]
        return self._first_allowed(starts, cut)

    def _paragraphs(self, low: int, high: int) -> list[int]:
        return self._places(_PARAGRAPH, low, high, in_code=False)

    def _sentences(self, low: int, high: int) -> list[int]:
        """Ends of sentences; items, rows and lines of code are as good."""
        found = self._places(_SENTENCE, low, high, in_code=False)
        found += self._places(_ROW, low, high, in_code=False)
        found += self._places(_LINE, low, high, in_code=True)
        return sorted(found)

    def _lines(self, low: int, high: int) -> list[int]:
        return self._places(_LINE, low, high, in_code=False)

    def _places(self, pattern: re.Pattern[str], low: int, high: int, *, in_code: bool) -> list[int]:
        """Where the pattern's matches end between two offsets, inside code or maths or outside."""
        found: list[int] = []
        # A match is seen whole: what it looks ahead for (the mark of an item) is shorter than that.
        for match in pattern.finditer(self.shown, low, min(self.end, high + _LOOK_AHEAD)):
            offset = match.end()
            if offset > high:
                break
            region = region_at(self.regions, offset - 1)
            literal = region is not None and region.kind not in HIDDEN and region.end > offset
            if literal == in_code:
                found.append(offset)
        return found

    def _first_allowed(self, offsets: Sequence[int], otherwise: int) -> int:
        for allowed in (_is_word_start, _is_character_start):
            for offset in offsets:
                if allowed(self.shown, offset):
                    return offset
        return otherwise


def _is_word_start(text: str, offset: int) -> bool:
    return text[offset - 1].isspace() and _is_character_start(text, offset)


def _is_character_start(text: str, offset: int) -> bool:
    """Whether a reader's character starts here: no combining mark, joiner or half of a flag.

    Bytes of a broken UTF-8 sequence (escaped as U+DC80 to U+DCFF) stay together too.
    """
    char, before = text[offset], text[offset - 1]
    if char < "\u0300":
        return before != _JOINER
    if "\udc80" <= char <= "\udcbf":
        return _BROKEN_SEQUENCE.search(text, max(0, offset - 3), offset) is None
    if "\U0001f1e6" <= char <= "\U0001f1ff":
        flags = offset
        while flags and "\U0001f1e6" <= text[flags - 1] <= "\U0001f1ff" and offset - flags < 200:
            flags -= 1
        return (offset - flags) % 2 == 0
    return not (
        before == _JOINER
        or char == _JOINER
        or "\u1160" <= char <= "\u11ff"  # vowels and finals of decomposed Hangul
        or "\U0001f3fb" <= char <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= char <= "\U000e007f"  # tag characters of flags
        or unicodedata.category(char)[0] == "M"
    )


def _chunk_text(text: str, start: int, end: int, regions: Sequence[Region]) -> str:
    pieces: list[str] = []
    at = start
    index = bisect_left(regions, start, key=lambda region: region.end)
    while index < len(regions) and regions[index].start < end:
        region = regions[index]
        if region.kind in HIDDEN:
            pieces.append(_without_block_ids(text, at, max(at, region.start), regions))
            at = max(at, region.end)
        index += 1
    if at < end:
        pieces.append(_without_block_ids(text, at, end, regions))
    return safe_text("".join(pieces))


def _without_block_ids(text: str, start: int, end: int, regions: Sequence[Region]) -> str:
    if text.find("^", start, end) < 0:
        return text[start:end]
    pieces: list[str] = []
    at = start
    for mark in _BLOCK_ID.finditer(text, start, end):
        stop = at + len(text[at : mark.start()].rstrip(" \t"))
        apart = stop < mark.start() or stop == 0 or text[stop - 1] in "\r\n"
        if apart and region_at(regions, mark.start()) is None:
            pieces.append(text[at:stop])
            at = mark.end()
    pieces.append(text[at:end])
    return "".join(pieces)
