"""Where one property stands in the text of a block, line for line."""

import re
from dataclasses import dataclass

import yaml

from agentm_assets.contract.block import BlockText
from agentm_assets.contract.frontmatter import content_end, item_text, span

_COLON = re.compile(r"[ \t]*:")
_LINE_END = re.compile(r"\r\n|\r|\n")


class EditRefused(Exception):
    """The edit was not made and the bytes are as they were.

    `reason` says why without quoting the note, `line` (from 1 in the file, None where no line
    applies) where.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")
        self.reason = reason
        self.line = line


@dataclass(frozen=True, slots=True)
class Region:
    """The lines of one property. All offsets are characters of `text.source`.

    `start` and `after` bound its whole lines, `colon` is behind the colon of its key, `value_start`
    and `value_end` bound the source of its value. `line` counts from 1 in the file.
    """

    text: BlockText
    key: yaml.Node
    value: yaml.Node
    start: int
    colon: int
    value_start: int
    value_end: int
    after: int
    line: int

    @property
    def line_end(self) -> str:
        """The line end of the property's last line."""
        return line_end_before(self.text.source, self.after)


@dataclass(frozen=True, slots=True)
class ListItem:
    """One item of a block list: `lead` holds the comment and blank lines above it, `body` its own
    lines. `text` is None for a null. Offsets are characters of the block's text."""

    text: str | None
    lead: str
    body: str
    start: int
    after: int


def region_of(text: BlockText, key: yaml.Node, value: yaml.Node) -> Region:
    """The lines of the property with these two nodes. Raises EditRefused for a key that does not
    start its line or is written as `? key`."""
    source = text.source
    line = key.start_mark.line + 2
    start = _line_start(source, key.start_mark.index)
    colon = _COLON.match(source, key.end_mark.index)
    if colon is None or source[start : key.start_mark.index].strip(" "):
        raise EditRefused("the property is not written as `key: value` on a line of its own", line)
    value_start, value_end = span(key, value, source)
    return Region(
        text,
        key,
        value,
        start,
        colon.end(),
        value_start,
        value_end,
        _lines_end(source, start, max(value_end, colon.end())),
        line,
    )


def list_items(region: Region) -> list[ListItem]:
    """The items of a block list with their lines, which follow the key's line without a gap.

    Raises EditRefused where an item has no lines of its own, or the list has an anchor or a tag.
    """
    source, value = region.text.source, region.value
    if not isinstance(value, yaml.SequenceNode) or value.flow_style:
        raise TypeError("not a block list")
    if value.start_mark.index < region.colon or value.start_mark.line == region.key.start_mark.line:
        raise EditRefused("the list has an anchor, an alias or a tag", region.line)
    dash = re.compile(" " * value.start_mark.column + r"-(?=[ \t\r\n])")
    position = line_after(source, region.colon)
    items: list[ListItem] = []
    for item in value.value:
        if item.start_mark.index < value.start_mark.index:
            raise EditRefused("a list item is a YAML alias", region.line)
        start = position
        while not dash.match(source, start):
            start = line_after(source, start)
            if start == len(source):
                raise EditRefused("a list item does not start on a line of its own", region.line)
        after = _lines_end(source, start, content_end(item, source))
        written = item_text(item, value, region.text)
        items.append(ListItem(written, source[position:start], source[start:after], start, after))
        position = after
    return items


def line_after(source: str, offset: int) -> int:
    """Where the line after the one that holds `offset` starts, or the end of `source`."""
    end = _LINE_END.search(source, offset)
    return end.end() if end else len(source)


def line_end_before(source: str, offset: int) -> str:
    """The line end that stands right before `offset`; "" where none does."""
    if source.endswith("\r\n", 0, offset):
        return "\r\n"
    return source[offset - 1 : offset] if source[offset - 1 : offset] in ("\r", "\n") else ""


def joined_lines(*pieces: str) -> str:
    """Pieces that end with whole lines, one behind the other. A line ended by a carriage return
    alone must not become one with an empty line ended by a line feed: it gets a line feed, too."""
    whole = ""
    for piece in pieces:
        if whole.endswith("\r") and piece.startswith("\n"):
            whole = f"{whole[:-1]}\n"
        whole += piece
    return whole


def _line_start(source: str, offset: int) -> int:
    return max(source.rfind("\n", 0, offset), source.rfind("\r", 0, offset)) + 1


def _lines_end(source: str, start: int, end: int) -> int:
    """Where the lines of source[start:end] end. A `|+` scalar ends with a line end of its own."""
    return end if end > start and source[end - 1] in "\r\n" else line_after(source, end)
