"""Splitting a note's body into chunks: the pieces that are searched and embedded.

A chunk is a section, from its heading to the next one. Sections longer than the embedder's window
are split on paragraphs, then sentences, then lines, words and characters.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from agentm_assets.contract.block import safe_text
from agentm_assets.extract.headings import find_headings
from agentm_assets.extract.mask import CODE, HIDDEN, Region, blank, find_regions, region_at
from agentm_assets.extract.model import Chunk
from agentm_assets.extract.offsets import byte_offsets

WINDOW = 216
"""Estimated tokens of one chunk. all-MiniLM-L6-v2 reads 256: the rest is for the title and the
header path that ride along, and for the estimate's error."""

_MIN_WINDOW = 16
_OVERLAP = 10  # a continued piece repeats one part in this many of the window

# One match is one estimated token. Against the WordPiece vocabulary of all-MiniLM-L6-v2, in
# stretches of 900 characters, true tokens for one estimated (median, 99th percentile): technical
# notes .89, 1.11; Python source .92, 1.16; dialogue .86, 1.02; Chinese, Japanese, Russian and
# Arabic 1.0. A Hangul syllable is two letters to that vocabulary, so it matches twice.
_TOKEN = re.compile(
    r"[A-Za-z]{1,4}|[0-9]{1,2}|[^\sA-Za-z0-9\uac00-\ud7a3]|(?=[\uac00-\ud7a3])|[\uac00-\ud7a3]"
)
_PARAGRAPH = re.compile(r"(?:\r\n|\r|\n)(?:[ \t>]*+(?:\r\n|\r|\n))++")
_SENTENCE = re.compile(
    r"[.!?…][\"'”’)\]*_]*+\s++(?=\S)|[。！？｡][」』”’）)]*+(?=\S)"
    r"|(?:\r\n|\r|\n)(?=[ \t>]*+(?:[-*+|]|\d{1,9}[.)])[ \t])"
)
_LINE = re.compile(r"(?:\r\n|\r|\n)(?=[^\r\n])")
_BLOCK_ID = re.compile(r"(?:[ \t]+|(?<![^\r\n]))\^[A-Za-z0-9-]+[ \t]*(?=[\r\n]|\Z)")

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
    if not shown.strip():
        return ()
    sections = _sections(text, shown)
    pieces: list[tuple[_Section, _Piece]] = []
    for index, section in enumerate(sections):
        end = sections[index + 1].start if index + 1 < len(sections) else len(text)
        pieces += [(section, p) for p in _split(shown, section.start, end, regions, window)]
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


def estimated_tokens(text: str) -> int:
    """About how many tokens the embedder makes of `text` (see `_TOKEN` for how well it fits)."""
    return len(_TOKEN.findall(text))


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


def _split(
    shown: str, start: int, end: int, regions: Sequence[Region], window: int
) -> list[_Piece]:
    """Split one section into pieces of at most `window` tokens, of about even size."""
    if end - start <= window // 2:  # no character is more than two tokens
        return [_Piece(start, start, end)]
    tokens = [match.start() for match in _TOKEN.finditer(shown, start, end)]
    if len(tokens) <= window:
        return [_Piece(start, start, end)]
    return _Splitter(shown, start, end, tokens, regions, window).pieces()


class _Splitter:
    """Cuts one oversize section. Places are indexes into `tokens`, the offsets of its tokens."""

    def __init__(
        self,
        shown: str,
        start: int,
        end: int,
        tokens: Sequence[int],
        regions: Sequence[Region],
        window: int,
    ) -> None:
        self.shown = shown
        self.start = start
        self.end = end
        self.tokens = tokens
        self.overlap = window // _OVERLAP
        self.window = window
        lines = [match.end() for match in _LINE.finditer(shown, start, end)]
        literal = [(r.start, r.end) for r in regions if r.kind in CODE or r.kind == "math"]
        paragraphs = _outside(literal, [m.end() for m in _PARAGRAPH.finditer(shown, start, end)])
        sentences = _outside(literal, [m.end() for m in _SENTENCE.finditer(shown, start, end)])
        code_lines = sorted(set(lines) - set(_outside(literal, lines)))
        self.levels: tuple[list[int], ...] = (paragraphs, sorted({*sentences, *code_lines}), lines)

    def pieces(self) -> list[_Piece]:
        found: list[_Piece] = []
        at, place, overlap_start = self.start, 0, self.start
        budget = self.window
        while len(self.tokens) - place > budget:
            cut = self._cut(place, budget)
            found.append(_Piece(overlap_start, at, cut))
            budget = self.window - self.overlap
            at, place = cut, bisect_left(self.tokens, cut)
            overlap_start = self._overlap_start(cut, place)
        found.append(_Piece(overlap_start, at, self.end))
        return found

    def _cut(self, place: int, budget: int) -> int:
        """The best offset to cut at: near an even share, and with no tiny rest on either side."""
        left = len(self.tokens) - place
        share = -(-left // -(-left // budget))
        lowest, highest = place + max(1, budget // 2), place + min(budget, left - budget // 4)
        low, high = self.tokens[lowest], self.tokens[highest]
        goal = self.tokens[place + share]
        for candidates in self.levels:
            first, last = bisect_left(candidates, low), bisect_right(candidates, high)
            if first < last:
                near = bisect_left(candidates, goal, first, last)
                closest: int = min(
                    candidates[max(first, near - 1) : min(last, near + 1)],
                    key=lambda offset: (abs(offset - goal), offset),
                )
                return closest
        middle = min(max(place + share, lowest), highest)
        order: list[int] = [*range(middle, lowest - 1, -1), *range(middle + 1, highest + 1)]
        for allowed in (_is_word_start, _is_character_start):
            for index in order:
                if allowed(self.shown, self.tokens[index]):
                    return self.tokens[index]
        return self.tokens[middle]

    def _overlap_start(self, cut: int, place: int) -> int:
        """Where the tenth before `cut` starts, at a sentence, line, word or character."""
        earliest = self.tokens[max(0, place - self.overlap)] if self.overlap else cut
        for candidates in self.levels[1:]:
            index = bisect_left(candidates, earliest)
            if index < len(candidates) and candidates[index] < cut:
                return candidates[index]
        for allowed in (_is_word_start, _is_character_start):
            for index in range(max(0, place - self.overlap), place):
                if allowed(self.shown, self.tokens[index]):
                    return self.tokens[index]
        return cut


def _outside(spans: Sequence[tuple[int, int]], offsets: Sequence[int]) -> list[int]:
    """Those of the ascending offsets that lie strictly inside none of the disjoint spans."""
    starts = [start for start, _ in spans]
    kept = []
    for offset in offsets:
        index = bisect_left(starts, offset) - 1
        if index < 0 or spans[index][1] <= offset:
            kept.append(offset)
    return kept


def _is_word_start(text: str, offset: int) -> bool:
    return text[offset - 1].isspace() and _is_character_start(text, offset)


def _is_character_start(text: str, offset: int) -> bool:
    """Whether a reader's character starts here: no combining mark, joiner or half of a flag.

    Bytes of a broken UTF-8 sequence (escaped as U+DC80 to U+DCFF) stay together too.
    """
    char, before = text[offset], text[offset - 1]
    if char < "\u0300":
        return before != _JOINER
    if "\udc80" <= char <= "\udcbf" and "\udc80" <= before <= "\udcff":
        return "\udc80" <= text[offset - 3 : offset - 2] <= "\udcbf"
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
        if region_at(regions, mark.end() - 1) is None:
            pieces.append(text[at : mark.start()])
            at = mark.end()
    pieces.append(text[at:end])
    return "".join(pieces)
