"""Editing a JSON text in place: what is not touched keeps its bytes, order and layout.

The text must be plain JSON (RFC 8259). Comments and trailing commas, which some hosts read, are
refused: an edit could not promise to keep them.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_BLANKS = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_DECODER = json.JSONDecoder()
_DEEPEST = 200
_INDENT = "  "


class NotPlainJson(Exception):
    """The text can't be edited. `line` counts from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(f"{reason} (line {line})")


@dataclass(frozen=True, slots=True)
class _Part:
    """A member of an object or an item of an array: `start` is where its key or value begins."""

    key: str | None
    start: int
    value: "_Node"


@dataclass(frozen=True, slots=True)
class _Node:
    """A value. `parts` is None for what is neither object nor array."""

    start: int
    end: int
    kind: str  # the first character: "{", "[", or "" for a scalar
    parts: tuple[_Part, ...]


def add_member(text: str, path: Sequence[str], key: str, value: object) -> str:
    """`text` with `key` set to `value` in the object at `path`, whose objects are made as needed.

    A new member goes first in its object; one that is there gets the new value where it stands.
    Raises NotPlainJson, also when something else than an object stands on the path.
    """
    node = _objects(text, path)
    found = node[-1]
    if len(node) <= len(path):  # the rest of the path is missing
        for name in reversed(path[len(node) - 1 :]):
            key, value = name, {key: value}
        found = node[-1]
    old = _member(found, key) if len(node) > len(path) else None
    if old is not None:
        rendered = _rendered(value, text, _depth_indent(text, old.start))
        return text[: old.value.start] + rendered + text[old.value.end :]
    return _insert(text, found, f"{json.dumps(key, ensure_ascii=False)}: ", value)


def remove_member(text: str, path: Sequence[str], key: str) -> str:
    """`text` without that member; unchanged when there is none. Raises NotPlainJson."""
    nodes = _objects(text, path)
    part = _member(nodes[-1], key) if len(nodes) > len(path) else None
    return text if part is None else _cut(text, nodes[-1], part)


def add_item(text: str, path: Sequence[str], key: str, item: object) -> str:
    """`text` with `item` put first into the array `key` of the object at `path`, made as needed.
    Raises NotPlainJson."""
    nodes = _objects(text, path)
    part = _member(nodes[-1], key) if len(nodes) > len(path) else None
    if part is None:
        return add_member(text, path, key, [item])
    if part.value.kind != "[":
        raise NotPlainJson(f"`{'.'.join((*path, key))}` is no array", _line(text, part.start))
    return _insert(text, part.value, "", item)


def remove_item(text: str, path: Sequence[str], key: str, at: int) -> str:
    """`text` without item `at` of the array `key` of the object at `path`. Raises NotPlainJson."""
    nodes = _objects(text, path)
    part = _member(nodes[-1], key) if len(nodes) > len(path) else None
    if part is None or part.value.kind != "[":
        return text
    return _cut(text, part.value, part.value.parts[at])


def parse(text: str) -> Any:
    """The value of a plain JSON text. Raises NotPlainJson."""
    _parse(text)
    return json.loads(text)


def _objects(text: str, path: Sequence[str]) -> list[_Node]:
    """The object at the top and those along `path`, as far as they are there."""
    nodes = [_parse(text)]
    for depth, name in enumerate(("", *path)):
        if depth:
            part = _member(nodes[-1], name)
            if part is None:
                return nodes
            nodes.append(part.value)
        if nodes[-1].kind != "{":
            where = ".".join(path[:depth]) or "the whole"
            raise NotPlainJson(f"`{where}` is no object", _line(text, nodes[-1].start))
    return nodes


def _member(node: _Node, key: str) -> _Part | None:
    """The last member of that name, which is the one that counts."""
    return next((part for part in reversed(node.parts) if part.key == key), None)


def _insert(text: str, node: _Node, lead: str, value: object) -> str:
    """Put a part first into `node`."""
    end = "\r\n" if "\r\n" in text else "\n"
    inner_start = node.start + 1
    if node.parts:
        gap = text[inner_start : node.parts[0].start]
        if "\n" not in gap:
            return (
                text[:inner_start]
                + gap
                + lead
                + _one_line(value)
                + ", "
                + text[inner_start + len(gap) :]
            )
        indent = gap.rpartition("\n")[2]
        part = lead + _rendered(value, text, indent)
        return text[:inner_start] + gap + part + "," + gap + text[inner_start + len(gap) :]
    outer = _depth_indent(text, node.start)
    inner = outer + _unit(text)
    part = lead + _rendered(value, text, inner)
    return text[:inner_start] + end + inner + part + end + outer + text[node.end - 1 :]


def _cut(text: str, node: _Node, part: _Part) -> str:
    at = node.parts.index(part)
    if len(node.parts) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if at + 1 < len(node.parts):
        return text[: part.start] + text[node.parts[at + 1].start :]
    return text[: node.parts[at - 1].value.end] + text[part.value.end :]


def _rendered(value: object, text: str, indent: str) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return f"{end}{indent}".join(lines)


def _one_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unit(text: str) -> str:
    """The indentation of one level, as the first indented line has it."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else _INDENT


def _depth_indent(text: str, at: int) -> str:
    """The indentation of the line that holds `at`."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _parse(text: str) -> _Node:
    node, at = _value(text, _skip(text, 0), 0)
    if _skip(text, at) != len(text):
        raise NotPlainJson("something follows the JSON value", _line(text, at))
    return node


def _value(text: str, at: int, depth: int) -> tuple[_Node, int]:
    if depth > _DEEPEST:
        raise NotPlainJson(f"it is nested deeper than {_DEEPEST} levels", _line(text, at))
    first = text[at : at + 1]
    if first == '"':
        end = _string(text, at)[1]
    elif first and first in "{[":
        return _container(text, at, first, depth)
    else:
        scalar = _SCALAR.match(text, at)
        if scalar is None:
            raise NotPlainJson(_fault(first), _line(text, at))
        end = scalar.end()
    return _Node(at, end, "", ()), end


def _container(text: str, start: int, kind: str, depth: int) -> tuple[_Node, int]:
    closing = "}" if kind == "{" else "]"
    parts: list[_Part] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != closing or parts:
        began, key = at, None
        if kind == "{":
            if text[at : at + 1] != '"':
                raise NotPlainJson(_fault(text[at : at + 1]), _line(text, at))
            key, at = _string(text, at)
            at = _skip(text, at)
            if text[at : at + 1] != ":":
                raise NotPlainJson("a colon is missing", _line(text, at))
            at = _skip(text, at + 1)
        node, at = _value(text, at, depth + 1)
        parts.append(_Part(key, began, node))
        at = _skip(text, at)
        if text[at : at + 1] == closing:
            break
        if text[at : at + 1] != ",":
            raise NotPlainJson(_fault(text[at : at + 1]), _line(text, at))
        at = _skip(text, at + 1)
        if text[at : at + 1] == closing:
            raise NotPlainJson("a comma before a closing bracket is no plain JSON", _line(text, at))
    return _Node(start, at + 1, kind, tuple(parts)), at + 1


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except ValueError as error:
        raise NotPlainJson("a string does not end or is no plain JSON", _line(text, at)) from error
    return str(value), end


def _skip(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()


def _fault(character: str) -> str:
    if character in ("/", "#"):
        return "a comment is no plain JSON, and an edit could lose it"
    return "this is no plain JSON" if character else "the JSON ends too early"
