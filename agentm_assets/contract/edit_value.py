"""Replacing the value of one property inside the text of its block."""

import re
from collections import defaultdict, deque
from collections.abc import Sequence

import yaml

from agentm_assets.contract.edit_region import (
    EditRefused,
    ListItem,
    Region,
    joined_lines,
    line_after,
    line_end_before,
    list_items,
)
from agentm_assets.contract.frontmatter import content_end, is_raw_wikilink, item_text
from agentm_assets.contract.yaml_text import write_flow_list, write_text

_COMMENT = re.compile(r"[ \t]+#")
_LINE_END = re.compile(r"[\r\n]")


def replace_with_scalar(region: Region, written: str) -> str:
    """The block's text with `written` (one line of YAML) as the value of the property.

    Comments stay. Raises EditRefused where the value is a mapping, or where comments stand inside
    a bracketed list.
    """
    source, value = region.text.source, region.value
    start, end = region.value_start, region.value_end
    if value.start_mark.index >= region.colon:
        if isinstance(value, yaml.MappingNode):
            raise EditRefused("the value is a mapping, which is only edited by hand", region.line)
        if isinstance(value, yaml.SequenceNode):
            if not value.flow_style:
                items = list_items(region)
                kept = joined_lines(*(item.lead for item in items))
                head = source[: line_after(source, region.colon)]
                comment = head[region.colon :]
                line = f"{head[: region.colon]} {written}{comment}"
                return joined_lines(line, kept, source[region.after :])
            _refuse_comments(region)
        elif isinstance(value, yaml.ScalarNode) and value.style in ("|", ">"):
            header_end = _LINE_END.search(source, start)
            header = source[start : header_end.start() if header_end else end]
            comment_at = _COMMENT.search(header)
            comment = header[comment_at.start() :] if comment_at else ""
            return f"{source[:start]}{written}{comment}{region.line_end}{source[region.after :]}"
    elif start == end:
        raise EditRefused("the value is a YAML alias", region.line)
    blank = " " if source[start - 1] == ":" else ""
    return source[:start] + blank + written + source[end:]


def replace_with_list(region: Region, name: str, wanted: Sequence[str]) -> str:
    """The block's text with the list `wanted` as the value of the property `name`.

    A list stays in the form in which it is written, and the source of an item that stays is kept.
    Raises EditRefused as `replace_with_scalar` does.
    """
    value = region.value
    if isinstance(value, yaml.SequenceNode) and value.start_mark.index >= region.colon:
        if not value.flow_style:
            if wanted:
                return _edit_block_list(region, name, wanted)
        elif not is_raw_wikilink(region.text.source[region.value_start : region.value_end]):
            return _edit_flow_list(region, value, name, wanted)
    return replace_with_scalar(region, write_flow_list(name, wanted))


def _edit_block_list(region: Region, name: str, wanted: Sequence[str]) -> str:
    source = region.text.source
    old = list_items(region)
    texts = [item.text for item in old]
    head, tail = _common_ends(texts, wanted)
    going = old[head : len(old) - tail]
    by_text: dict[str, deque[ListItem]] = defaultdict(deque)
    for item in going:
        if item.text is not None:
            by_text[item.text].append(item)
    indent = " " * region.value.start_mark.column
    line_end = line_end_before(source, old[-1].after)
    lines: list[str] = []
    staying: set[int] = set()
    for text in wanted[head : len(wanted) - tail]:
        if by_text[text]:
            item = by_text[text].popleft()
            staying.add(item.start)
            lines.append(item.lead + item.body)
        else:
            lines.append(f"{indent}- {write_text(name, text)}{line_end}")
    middle_end = old[len(old) - tail - 1].after if tail < len(old) else _first_line(old[0])
    middle_start = old[head - 1].after if head else _first_line(old[0])
    comments = (item.lead for item in going if item.start not in staying)
    return joined_lines(source[:middle_start], *comments, *lines, source[middle_end:])


def _first_line(item: ListItem) -> int:
    return item.start - len(item.lead)


def _edit_flow_list(
    region: Region, value: yaml.SequenceNode, name: str, wanted: Sequence[str]
) -> str:
    source = region.text.source
    start, end = region.value_start, region.value_end
    if source[start] != "[":
        raise EditRefused("the list has an anchor or a tag", region.line)
    if any(item.start_mark.index < start for item in value.value):
        raise EditRefused("a list item is a YAML alias", region.line)
    texts = [item_text(item, value, region.text) for item in value.value]
    sources = [source[item.start_mark.index : content_end(item, source)] for item in value.value]
    if texts and texts == list(wanted[: len(texts)]):
        at = content_end(value.value[-1], source)
        added = [write_text(name, text, in_flow=True) for text in wanted[len(texts) :]]
        return source[:at] + "".join(f", {item}" for item in added) + source[at:]
    _refuse_comments(region)
    by_text: dict[str, deque[str]] = defaultdict(deque)
    for text, written in zip(texts, sources, strict=True):
        if text is not None:
            by_text[text].append(written)
    items = [
        by_text[text].popleft() if by_text[text] else write_text(name, text, in_flow=True)
        for text in wanted
    ]
    return f"{source[:start]}[{', '.join(items)}]{source[end:]}"


def _common_ends(old: Sequence[str | None], new: Sequence[str]) -> tuple[int, int]:
    """How many items the two lists share at their head, and how many more at their tail."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[len(old) - 1 - tail] == new[len(new) - 1 - tail]:
        tail += 1
    return head, tail


def _refuse_comments(region: Region) -> None:
    """A bracketed list over several lines may hold comments, which would be lost."""
    written = region.text.source[region.value_start : region.value_end]
    if _LINE_END.search(written) and re.search(r"\s#", written):
        raise EditRefused("comments stand inside a bracketed list", region.line)
