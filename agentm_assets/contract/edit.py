"""Editing one property of a note and not one byte beside it.

A load and a dump of YAML changes half of all real blocks. So an edit replaces, inserts or removes
the lines of one key; then the block is read again and must differ in that key alone. Whatever is
not understood well enough for that is refused, and the bytes stay as they are.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from agentm_assets.contract.block import (
    BOM,
    BlockError,
    BlockText,
    Fences,
    block_text,
    bom_length,
    compose_mapping,
    find_fences,
)
from agentm_assets.contract.edit_region import EditRefused, Region, line_end_before, region_of
from agentm_assets.contract.edit_value import replace_with_list, replace_with_scalar
from agentm_assets.contract.frontmatter import FieldValue, Frontmatter, read_frontmatter, span
from agentm_assets.contract.lines import split_lines
from agentm_assets.contract.vocabulary import KEY_ORDER
from agentm_assets.contract.yaml_text import write_flow_list, write_key, write_text

__all__ = ["EditRefused", "remove_key", "rename_key", "set_key"]

_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_UNWRITABLE_KEY = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# First lines of other tools' metadata: TOML, JSON, and a `---` with the name of a language.
_FOREIGN = re.compile(rb"\+\+\+|;;;|---[A-Za-z]|\{[ \t]*[\r\n]")
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A value to be written: `items` for a list, else the text of a scalar. `typed` for a boolean
    or a number, which stands without quotes."""

    text: str
    items: tuple[str, ...] | None
    typed: bool

    def written(self, key: str, old: FieldValue | None = None) -> str:
        if self.items is not None:
            return write_flow_list(key, self.items)
        if self.typed:
            return self.text
        return write_text(key, self.text, like=old.text if old and old.plain else None)

    def is_in(self, field: FieldValue | None) -> bool:
        if field is None:
            return False
        if self.items is not None:
            return field.kind == "list" and field.items == self.items
        right_form = field.plain or not self.typed
        return field.kind == "scalar" and field.text == self.text and right_form


def set_key(data: bytes, key: str, value: str | bool | int | float | Sequence[str]) -> bytes:
    """The note `data` with the property `key` set to `value`; every other byte is as it was.

    A key that is there keeps its place, its comment and the form of its list; a new one goes where
    the order of a memory's properties puts it, else to the end of the block. A note without a block
    gets one. Setting what is there already gives `data` back.

    Raises EditRefused where the block can't be read, the key stands twice, the value is a mapping,
    or the result would differ in anything but that key.
    """
    wanted = _wanted(value)
    if not key or key != key.strip() or _UNWRITABLE_KEY.search(key):
        raise EditRefused("the property's name is empty, or holds blanks at its ends or controls")
    before = _readable(data, key)
    if before.state == "absent":
        edited = _with_new_block(data, key, wanted)
    else:
        fences, text, root = _compose(data)
        region = _find(root, key, text)
        if region is not None:
            if wanted.is_in(before.fields[key]) and not _has_nulls(region.value, before, key):
                return data
            source = (
                replace_with_scalar(region, wanted.written(key, before.fields[key]))
                if wanted.items is None
                else replace_with_list(region, key, wanted.items)
            )
        else:
            source = _with_line(data, fences, text, root, key, wanted)
        edited = _joined(data, fences, source)
    after = read_frontmatter(edited)
    if not wanted.is_in(after.fields.get(key)):
        raise EditRefused("the value would be read back as another one")
    _check_rest(data, before, edited, after, key)
    return edited


def remove_key(data: bytes, key: str) -> bytes:
    """The note `data` without the lines of the property `key`; every other byte is as it was.

    A note that has no such property is given back. Comments that follow the property stay; a block
    that becomes empty stays. Raises EditRefused as `set_key` does.
    """
    before = _readable(data, key)
    if key not in before.fields:
        return data
    fences, text, root = _compose(data)
    region = _find(root, key, text)
    if region is None:
        raise EditRefused("the property is not found in the block")
    source = text.source[: region.start] + text.source[region.after :]
    edited = _joined(data, fences, source)
    after = read_frontmatter(edited)
    if key in after.fields:
        raise EditRefused("the property would still be there", region.line)
    _check_rest(data, before, edited, after, key)
    return edited


def rename_key(data: bytes, old: str, new: str) -> bytes:
    """The note `data` with the property `old` called `new`: its place, value and comment stay, and
    so does every other byte. A note that has no `old` is given back.

    Raises EditRefused as `set_key` does, and when the note has a property `new` already.
    """
    before = _readable(data, old)
    if old not in before.fields:
        return data
    if new in before.fields:
        raise EditRefused("both properties are there; keep one of them", before.fields[new].line)
    fences, text, root = _compose(data)
    region = _find(root, old, text)
    if region is None:
        raise EditRefused("the property is not found in the block")
    start, end = region.key.start_mark.index, region.key.end_mark.index
    source = text.source[:start] + write_key(new) + text.source[end:]
    edited = _joined(data, fences, source)
    after = read_frontmatter(edited)
    was, now = before.fields[old], after.fields.get(new)
    same = now is not None and (was.kind, was.text, was.items) == (now.kind, now.text, now.items)
    if not same or old in after.fields:
        raise EditRefused("the property would be read back as another one", region.line)
    _check_rest(data, before, edited, after, old, new)
    return edited


def _wanted(value: str | bool | int | float | Sequence[str]) -> _Wanted:
    if isinstance(value, bool):
        return _Wanted("true" if value else "false", None, True)
    if isinstance(value, int):
        return _Wanted(str(value), None, True)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise EditRefused("the number is not finite")
        written = repr(value)
        return _Wanted(written if "e" not in written else f"{value:.12f}", None, True)
    if isinstance(value, str):
        return _Wanted(_writable(value), None, False)
    return _Wanted("", tuple(_writable(item) for item in value), False)


def _writable(text: str) -> str:
    if _UNWRITABLE.search(text):
        raise EditRefused("the value holds a NUL or is no valid text")
    return text


def _readable(data: bytes, key: str) -> Frontmatter:
    """The note's frontmatter, where it may be edited under `key`."""
    frontmatter = read_frontmatter(data)
    if frontmatter.state in ("unclosed", "unreadable"):
        raise EditRefused(f"{frontmatter.error}; mend it by hand first", frontmatter.error_line)
    lines = frontmatter.duplicates.get(key)
    if lines:
        numbers = ", ".join(str(line) for line in lines)
        raise EditRefused(f"the property stands on lines {numbers}; keep one of them", lines[0])
    return frontmatter


def _compose(data: bytes) -> tuple[Fences, BlockText, yaml.MappingNode | None]:
    fences = find_fences(data)
    if fences is None or fences.close is None:
        raise EditRefused("the note has no closed block", 1)
    text = block_text(data[fences.content : fences.close])
    root = compose_mapping(text)
    if root is not None and root.flow_style:
        raise EditRefused("the properties are written in braces", root.start_mark.line + 2)
    return fences, text, root


def _joined(data: bytes, fences: Fences, source: str) -> bytes:
    written = source.encode("utf-8", "surrogateescape")
    return data[: fences.content] + written + data[fences.close :]


def _find(root: yaml.MappingNode | None, key: str, text: BlockText) -> Region | None:
    for node, value in root.value if root is not None else ():
        if text.safe(node.value) == key:
            return region_of(text, node, value)
    return None


def _has_nulls(value: yaml.Node, before: Frontmatter, key: str) -> bool:
    """Whether a list holds items that reading leaves out, so that it is not yet what it reads."""
    return isinstance(value, yaml.SequenceNode) and len(value.value) != len(
        before.fields[key].items
    )


def _with_line(
    data: bytes,
    fences: Fences,
    text: BlockText,
    root: yaml.MappingNode | None,
    key: str,
    wanted: _Wanted,
) -> str:
    """The block's text with a line for a key that it does not have."""
    source = text.source
    indent = " " * root.start_mark.column if root is not None else ""
    at = _place(root, key, text)
    line_end = line_end_before(source, at) or _fence_line_end(data, fences)
    return f"{source[:at]}{indent}{write_key(key)}: {wanted.written(key)}{line_end}{source[at:]}"


def _fence_line_end(data: bytes, fences: Fences) -> str:
    return line_end_before(data[: fences.content].decode("ascii", "replace"), fences.content)


def _place(root: yaml.MappingNode | None, key: str, text: BlockText) -> int:
    """Where in the block's text the line of a new key goes: behind the nearest property that comes
    before it in `KEY_ORDER`, else above the nearest that comes after it, else at the end."""
    rank = {name: position for position, name in enumerate(KEY_ORDER)}
    pairs = root.value if root is not None else []
    known = [number for number, (node, _) in enumerate(pairs) if node.value in rank]
    if key not in rank or not known:
        return len(text.source)
    earlier = [number for number in known if rank[pairs[number][0].value] < rank[key]]
    if earlier:
        nearest = max(earlier, key=lambda number: rank[pairs[number][0].value])
        return region_of(text, *pairs[nearest]).after
    nearest = min(known, key=lambda number: rank[pairs[number][0].value])
    floor = 0
    if nearest:
        node, value = pairs[nearest - 1]
        floor = span(node, value, text.source)[1]
    return _above_comments(text.source, floor, region_of(text, *pairs[nearest]).start)


def _above_comments(source: str, floor: int, at: int) -> int:
    """Where the comment lines directly above the line at `at` start. What looks like a comment
    before `floor` is part of a value."""
    for line in reversed(split_lines(source[:at])):
        if at - len(line) < floor or not line.lstrip(" \t").startswith("#"):
            break
        at -= len(line)
    return at


def _with_new_block(data: bytes, key: str, wanted: _Wanted) -> bytes:
    _refuse_foreign(data)
    line_end = _dominant_line_end(data)
    line = f"{write_key(key)}: {wanted.written(key)}"
    block = "".join(f"{part}{line_end}" for part in ("---", line, "---")).encode()
    bom = BOM if bom_length(data) else b""
    return bom + block + data[len(bom) :]


def _refuse_foreign(data: bytes) -> None:
    """Refuse to stack a block on metadata that is there in a form this is not."""
    if data.startswith(_WIDE_BOMS):
        raise EditRefused("the note is not UTF-8", 1)
    body = data[bom_length(data) :]
    if _FOREIGN.match(body):
        raise EditRefused("the note starts with metadata that is not YAML frontmatter", 1)
    line = _displaced_block(body)
    if line is not None:
        raise EditRefused("properties stand below the first line, where nothing reads them", line)


def _displaced_block(body: bytes) -> int | None:
    """The line of a block that is kept from being one by blanks or comments before it."""
    fence: int | None = None
    content: list[bytes] = []
    in_comment = False
    for number, line in enumerate(split_lines(body), start=1):
        stripped = line.strip(b" \t\r\n")
        if fence is not None:
            if stripped == b"---":
                return fence if _holds_properties(b"".join(content)) else None
            content.append(line)
        elif in_comment or stripped.startswith(b"<!--"):
            in_comment = b"-->" not in stripped
        elif stripped == b"---":
            fence = number
        elif stripped and not stripped.startswith((b"#", b"%%")):
            return None
    return None


def _holds_properties(content: bytes) -> bool:
    try:
        root = compose_mapping(block_text(content))
    except BlockError:
        return False
    return root is not None and bool(root.value)


def _dominant_line_end(data: bytes) -> str:
    pairs = data.count(b"\r\n")
    counts = {
        "\n": data.count(b"\n") - pairs,
        "\r\n": pairs,
        "\r": data.count(b"\r") - pairs,
    }
    return max(counts, key=lambda end: counts[end])


def _check_rest(
    data: bytes, before: Frontmatter, edited: bytes, after: Frontmatter, *keys: str
) -> None:
    """Refuse the edit unless the two notes differ in the properties `keys` alone."""
    if after.state not in ("ok", "empty") or after.duplicates.keys() != before.duplicates.keys():
        raise EditRefused("the block could not be read after the edit", after.error_line)
    if data[before.body_start :] != edited[after.body_start :]:
        raise EditRefused("the body would change")
    names = [name for name in before.fields if name not in keys]
    if names != [name for name in after.fields if name not in keys]:
        raise EditRefused("other properties would change")
    for name in names:
        old, new = before.fields[name], after.fields[name]
        same_value = (old.kind, old.text, old.items) == (new.kind, new.text, new.items)
        if not same_value or data[old.start : old.end] != edited[new.start : new.end]:
            raise EditRefused("another property would change", old.line)
