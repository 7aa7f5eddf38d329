"""Headings of a note: what a reader sees of them, where their sections end, how links find them."""

import html
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from agentm_assets.contract.block import safe_text
from agentm_assets.extract.blocks import BlockHeading, Container
from agentm_assets.extract.mask import Region, blocks_of, find_regions, region_at
from agentm_assets.extract.references import find_definitions, reference_key

_MARKUP = re.compile(r"[\\`*_~=<\[&%^$\r\n]|[ \t]{2}")
_KEPT = re.compile(r"\\([!-/:-@\[-`{-~])|[\U000F0000-\U000FFFFD]")
_STAND_IN = re.compile(r"[\U000F0000-\U000FFFFD]")
_FIRST_STAND_IN = 0xF0000
_STAND_INS = 0xFFFD
_EMBED_OR_WIKILINK = re.compile(r"!?\[\[([^\[\]|\r\n]*)(?:\|([^\[\]\r\n]*))?\]\]")
_INLINE_LINK = re.compile(
    r"!?\[([^\[\]]*+)\]\([ \t]*+(?:<[^<>\r\n]*+>|[^\s()<]?[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+\s*+\)"
)
_REFERENCE_LINK = re.compile(r"!?\[([^\[\]]*+)\](?:\[([^\[\]]*+)\])?")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]++\]")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+)>")
_TAG = re.compile(
    r"</?[A-Za-z][A-Za-z0-9-]*+"
    r"(?:\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+)*+\s*+/?>"
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_EMPHASIS = re.compile(r"\*+|_+|~~|==")
_BLOCK_ID = re.compile(r"(?:^|[ \t]+)\^[A-Za-z0-9-]+[ \t]*$")
_QUOTE_PREFIX = re.compile(r"(?:\r\n?|\n)[ \t>]*")

# What Obsidian blanks out of a heading before it compares it with a link's anchor.
_ANCHOR_PUNCTUATION = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")
_SLUG_DROPPED = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside code and comments. Offsets are characters of the body.

    `text` is what a reader sees: labels instead of links, no marks, no block id, "" for an empty
    heading. `path` is the texts of the headings it stands under, then its own; empty texts are
    left out. `start` is the start of its line, `end` where its last line ends (line end excluded).
    Its section runs from `start` to `section_end`: to the next heading of its level or above, and
    never beyond the list item it stands in, so that it does not take in the item's siblings.
    A heading in a quote or callout can be linked to but divides nothing.
    """

    level: int
    text: str
    path: tuple[str, ...]
    start: int
    end: int
    section_end: int
    container: Container


def find_headings(text: str) -> tuple[Heading, ...]:
    """The headings of a body, in order. Linear in the length of the text."""
    blocks = blocks_of(text)
    if not blocks.headings:
        return ()
    regions = find_regions(text)
    defined: Collection[str] = find_definitions(text, blocks.paragraphs).targets
    kept = [heading for heading in blocks.headings if not _is_hidden(heading, regions)]
    lines = _line_starts(text, kept)
    ends = [heading.scope_end for heading in kept]
    paths: list[tuple[str, ...]] = []
    texts: list[str] = []
    above: list[int] = []  # the headings whose section holds the current one
    for index, heading in enumerate(kept):
        while above and (
            kept[above[-1]].scope_end <= heading.start
            or (kept[above[-1]].depth == heading.depth and kept[above[-1]].level >= heading.level)
        ):
            closed = above.pop()
            ends[closed] = min(ends[closed], lines[index])
        shown = _shown(text, heading.content_start, heading.content_end, regions, defined)
        texts.append(shown)
        parent = paths[above[-1]] if above else ()
        paths.append((*parent, shown) if shown else parent)
        above.append(index)
    return tuple(
        Heading(
            heading.level,
            texts[index],
            paths[index],
            lines[index],
            heading.end,
            ends[index],
            heading.container,
        )
        for index, heading in enumerate(kept)
    )


def first_title(text: str) -> str | None:
    """The text of the body's first level-1 heading, None when it has none that shows anything."""
    for heading in find_headings(text):
        if heading.level == 1 and heading.container != "quote" and heading.text:
            return heading.text
    return None


def find_section(text: str, anchor: str) -> Heading | None:
    """The heading that a link's anchor means: `Parts`, or `Parts#Lid` for "Lid" under "Parts".

    Compared on visible text without case, then without punctuation as Obsidian does, then as the
    slug that GitHub gives a heading. The first heading that fits wins. None when nothing fits,
    and for a block (`^id`).
    """
    chain = [part for part in anchor.split("#") if part.strip()]
    if not chain or chain[-1].startswith("^"):
        return None
    headings = find_headings(text)
    for key in (_plain_key, _anchor_key, _slug_key):
        for wanted in ([anchor], chain):  # `#` may be part of the heading itself
            goal = [key(part) for part in wanted]
            for heading in headings:
                if key(heading.text) == goal[-1] and _is_under(heading, goal[:-1], key):
                    return heading
    return None


def _is_under(heading: Heading, goal: Sequence[str], key: Callable[[str], str]) -> bool:
    above = iter([key(part) for part in heading.path[:-1]])
    return all(part in above for part in goal)


def _plain_key(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _anchor_key(text: str) -> str:
    return _ANCHOR_PUNCTUATION.sub(" ", _plain_key(text)).strip()


def _slug_key(text: str) -> str:
    return _SLUG_DROPPED.sub("", _plain_key(text)).replace(" ", "-")


def _is_hidden(heading: BlockHeading, regions: Sequence[Region]) -> bool:
    """Whether a comment or formula holds the heading's mark, or what looks like its underline."""
    underlined = heading.content_start == heading.start
    region = region_at(regions, heading.end - 1 if underlined else heading.start)
    return region is not None and region.kind in ("comment", "math")


def _line_starts(text: str, headings: Sequence[BlockHeading]) -> list[int]:
    found = []
    floor = 0  # never look back beyond the previous heading, or many headings take square time
    for heading in headings:
        before = text[floor : heading.start]
        found.append(floor + max(before.rfind("\n"), before.rfind("\r")) + 1)
        floor = heading.end
    return found


def _shown(
    text: str, start: int, end: int, regions: Sequence[Region], defined: Collection[str]
) -> str:
    """What a reader sees of the inline text between two offsets."""
    raw = text[start:end]
    if not _MARKUP.search(raw):
        return safe_text(raw.strip())
    kept: list[str] = []  # literal stretches, held back while marks are removed around them
    pieces: list[str] = []
    at = start
    for region in _regions_between(regions, start, end):
        pieces.append(_hold_escapes(text[at : region.start], kept))
        at = min(region.end, end)
        if region.kind in ("code", "math"):
            literal = text[region.start : at]
            pieces.append(_hold(_code_text(literal) if region.kind == "code" else literal, kept))
    pieces.append(_hold_escapes(text[at:end], kept))
    shown = _QUOTE_PREFIX.sub(" ", "".join(pieces))
    shown = _without_links(_BLOCK_ID.sub("", shown), defined)
    shown = _ENTITY.sub(lambda entity: html.unescape(entity[0]), _without_emphasis(shown))
    shown = _STAND_IN.sub(lambda mark: kept[ord(mark[0]) - _FIRST_STAND_IN], shown)
    return safe_text(" ".join(shown.split()))


def _regions_between(regions: Sequence[Region], start: int, end: int) -> Iterator[Region]:
    index = bisect_left(regions, start, key=lambda region: region.end)
    while index < len(regions) and regions[index].start < end:
        if regions[index].start >= start:
            yield regions[index]
        index += 1


def _hold(literal: str, kept: list[str]) -> str:
    if len(kept) >= _STAND_INS:
        return literal
    kept.append(literal)
    return chr(_FIRST_STAND_IN + len(kept) - 1)


def _hold_escapes(text: str, kept: list[str]) -> str:
    return _KEPT.sub(lambda found: _hold(found[1] or found[0], kept), text)


def _code_text(span: str) -> str:
    """The content of a code span: one blank on each side belongs to the marks (6.1)."""
    content = _QUOTE_PREFIX.sub(" ", span.strip("`"))
    if content.startswith(" ") and content.endswith(" ") and content.strip():
        return content[1:-1]
    return content


def _without_links(text: str, defined: Collection[str]) -> str:
    def reference(link: re.Match[str]) -> str:
        label = link[1] if not link[2] else link[2]
        return link[1] if reference_key(label) in defined else link[0]

    if "[" in text:
        text = _EMBED_OR_WIKILINK.sub(_wikilink_text, _FOOTNOTE.sub("", text))
        for _ in range(2):  # an image may be the label of a link
            text = _INLINE_LINK.sub(r"\1", text)
        if defined:
            text = _REFERENCE_LINK.sub(reference, text)
    return _TAG.sub("", _AUTOLINK.sub(r"\1", text)) if "<" in text else text


def _wikilink_text(link: re.Match[str]) -> str:
    """The label, else the target as Obsidian shows it: `Note > Heading`."""
    target, label = link[1], link[2]
    if label is not None and label.strip():
        return label.strip()
    return " > ".join(part.strip() for part in target.split("#") if part.strip())


def _without_emphasis(text: str) -> str:
    """Remove the marks of emphasis, strike-through and highlight that pair (6.2)."""
    openers: dict[str, list[list[int]]] = {}  # by mark: end of a run, and marks left in it
    removed: list[tuple[int, int]] = []
    for run in _EMPHASIS.finditer(text):
        mark = run[0][0]
        opens, closes = _flanks(text, run, mark)
        start, left = run.start(), run.end() - run.start()
        stack = openers.setdefault(mark, [])
        while closes and left and stack:
            opener = stack[-1]
            used = min(opener[1], left)
            removed += [(opener[0] - used, opener[0]), (start, start + used)]
            start, left = start + used, left - used
            opener[0], opener[1] = opener[0] - used, opener[1] - used
            if not opener[1]:
                stack.pop()
        if opens and left:
            stack.append([run.end(), left])
    pieces = []
    at = 0
    for start, end in sorted(removed):
        pieces.append(text[at:start])
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def _flanks(text: str, run: re.Match[str], mark: str) -> tuple[bool, bool]:
    """Whether a run of marks can open and whether it can close."""
    before = text[run.start() - 1] if run.start() else " "
    after = text[run.end()] if run.end() < len(text) else " "
    word_before, word_after = before.isalnum(), after.isalnum()
    left = not after.isspace() and (word_after or not word_before)
    right = not before.isspace() and (word_before or not word_after)
    if mark == "_":
        return left and (not right or not word_before), right and (not left or not word_after)
    return left, right
