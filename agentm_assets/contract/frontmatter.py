"""Reading the properties of a note.

Values are kept as their source text: `no`, `1.10`, `012`, `12:30` and `2024-01-05` stay what the
operator wrote. Whoever needs a type asks one of the typed readers in `properties`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

import yaml

from agentm_assets.contract.block import (
    BlockError,
    BlockText,
    ErrorCode,
    block_text,
    bom_length,
    compose_mapping,
    find_fences,
)
from agentm_assets.contract.lines import line_of, line_starts

State = Literal["absent", "ok", "empty", "unclosed", "unreadable"]
ValueKind = Literal["scalar", "list", "map", "null"]
FlawCode = Literal["unquoted-wikilink", "cut-by-comment", "tab-after-key"]

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_NULL_TAG: Final = "tag:yaml.org,2002:null"
# A `#` after a blank starts a comment. Where text follows it at once (`#13`), it was meant as text.
_CUT = re.compile(r"[ \t]+#[^\s#]")
_ALIAS = re.compile(r"[ \t]*:[ \t]*(\*[^\s,\[\]{}]+)")
_LINE_END = re.compile(r"[\r\n]")
_NO_FIELDS: Final[Mapping[str, "FieldValue"]] = MappingProxyType({})
_NO_DUPLICATES: Final[Mapping[str, tuple[int, ...]]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something YAML allows and the operator hardly meant. `line` counts from 1 in the file."""

    code: FlawCode
    line: int


@dataclass(frozen=True, slots=True)
class FieldValue:
    """The value of one property, as source text.

    `text` is a scalar's text with quotes and escapes undone, "" for every other kind. `items` are
    a list's items: null items are left out, an item that is a mapping or a list is given as its
    source on one line. `plain` tells that a scalar has no quotes and is no block scalar.

    `line` is the line of the key, from 1 in the file. `key_start`, `start` and `end` are byte
    offsets in the file: where the key starts, and the span of the value's source (quotes, brackets
    and properties such as anchors included, comments not). A null written as nothing has an empty
    span behind the colon. `item_starts` are the byte offsets of `items`. Texts are safe to store:
    NUL and invalid UTF-8 appear as U+FFFD.
    """

    kind: ValueKind
    text: str
    items: tuple[str, ...]
    plain: bool
    line: int
    key_start: int
    start: int
    end: int
    item_starts: tuple[int, ...]
    flaws: tuple[Flaw, ...]


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The properties of a note and where its body starts.

    States: `absent` (no block on the first line), `ok`, `empty` (a block without properties),
    `unclosed` (opened, never closed: the file is all body) and `unreadable` (not YAML, or not a
    mapping). `body_start` is a byte offset; without a block it leaves out only the byte order
    mark. A block that is mere text between two rules belongs to the body.

    `duplicates` maps a key that stands more than once to its lines; `fields` holds its last value.
    `error` says what is wrong without quoting the note, `error_line` where (from 1 in the file).
    `invalid_utf8_line` and `nul_line` are about the whole file, body included.
    """

    state: State
    body_start: int
    fields: Mapping[str, FieldValue]
    duplicates: Mapping[str, tuple[int, ...]]
    error: str | None
    error_code: ErrorCode | None
    error_line: int | None
    invalid_utf8_line: int | None
    nul_line: int | None


def read_frontmatter(data: bytes) -> Frontmatter:
    """Read the properties of the note whose bytes are `data`. Never raises, whatever the bytes."""
    invalid_line, nul_line = _damage(data)
    fields, duplicates = _NO_FIELDS, _NO_DUPLICATES
    error: BlockError | None = None
    state: State
    body_start = bom_length(data)
    fences = find_fences(data)
    if fences is None:
        state = "absent"
    elif fences.close is None or fences.body is None:
        state = "unclosed"
        # The opening fence is line 1 of the file, and so line 0 of the block.
        error = BlockError("unclosed", "the block that opens here is never closed", 0)
    else:
        try:
            text = block_text(data[fences.content : fences.close])
            root = compose_mapping(text)
        except BlockError as found:
            state, error = "unreadable", found
            if found.code != "not-a-mapping":
                body_start = fences.body
        else:
            body_start = fences.body
            state = "ok" if root is not None and root.value else "empty"
            if root is not None:
                fields, duplicates = _read_fields(root, text, fences.content)
    return Frontmatter(
        state,
        body_start,
        fields,
        duplicates,
        error.message if error else None,
        error.code if error else None,
        error.line + 1 if error else None,
        invalid_line,
        nul_line,
    )


def _damage(data: bytes) -> tuple[int | None, int | None]:
    """The first line with invalid UTF-8 and the first with a NUL."""
    invalid_line = nul_line = None
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            invalid_line = _line(data, error.start)
    nul = data.find(b"\0")
    if nul >= 0:
        nul_line = _line(data, nul)
    return invalid_line, nul_line


def _line(data: bytes, offset: int) -> int:
    return line_of(line_starts(data[:offset]), offset)


def _read_fields(
    root: yaml.MappingNode, text: BlockText, base: int
) -> tuple[Mapping[str, FieldValue], Mapping[str, tuple[int, ...]]]:
    offsets = _ByteOffsets(text.source, base)
    fields: dict[str, FieldValue] = {}
    duplicates: dict[str, tuple[int, ...]] = {}
    for key, value in root.value:
        name = text.safe(key.value)
        field = _read_field(key, value, text, offsets)
        earlier = fields.get(name)
        if earlier is not None:
            duplicates[name] = (*duplicates.get(name, (earlier.line,)), field.line)
        fields[name] = field
    return MappingProxyType(fields), MappingProxyType(duplicates) if duplicates else _NO_DUPLICATES


class _ByteOffsets:
    """Turns ascending character offsets of the block into byte offsets of the file, linearly."""

    __slots__ = ("_base", "_byte", "_index", "_single", "_source")

    def __init__(self, source: str, base: int) -> None:
        self._source = source
        self._base = base
        # Every invalid byte is one character (surrogateescape), so only ASCII text is one to one.
        self._single = source.isascii()
        self._index = 0
        self._byte = base

    def at(self, index: int) -> int:
        if self._single:
            return self._base + index
        if index < self._index:
            passed = self._source[index : self._index]
            self._byte -= len(passed.encode("utf-8", "surrogateescape"))
        else:
            passed = self._source[self._index : index]
            self._byte += len(passed.encode("utf-8", "surrogateescape"))
        self._index = index
        return self._byte


def _read_field(
    key: yaml.Node, value: yaml.Node, text: BlockText, offsets: _ByteOffsets
) -> FieldValue:
    source = text.source
    key_mark, key_end = key.start_mark, key.end_mark.index
    line = key_mark.line + 2  # the opening fence is line 1
    key_start = offsets.at(key_mark.index)
    start, end = span(key, value, source)
    flaws: list[Flaw] = []
    if "\t" in source[key_end:start]:
        flaws.append(Flaw("tab-after-key", line))
    kind: ValueKind
    plain = False
    content, items, item_starts = "", (), ()  # type: str, tuple[str, ...], tuple[int, ...]
    start_byte = offsets.at(start)
    if isinstance(value, yaml.ScalarNode):
        plain = not value.style
        if is_null(value):
            kind = "null"
        else:
            kind, content = "scalar", text.safe(value.value)
        if plain and source.startswith((" ", "\t"), end) and _CUT.match(source, end):
            flaws.append(Flaw("cut-by-comment", value.end_mark.line + 2))
    elif isinstance(value, yaml.SequenceNode):
        kind = "list"
        items, item_starts, more = _read_items(value, start, end, text, offsets, line)
        flaws.extend(more)
    else:
        kind = "map"
    return FieldValue(
        kind,
        content,
        items,
        plain,
        line,
        key_start,
        start_byte,
        offsets.at(end),
        item_starts,
        tuple(flaws),
    )


def _read_items(
    value: yaml.SequenceNode,
    start: int,
    end: int,
    text: BlockText,
    offsets: _ByteOffsets,
    line: int,
) -> tuple[tuple[str, ...], tuple[int, ...], list[Flaw]]:
    source = text.source
    items: list[str] = []
    starts: list[int] = []
    flaws: list[Flaw] = []
    if value.flow_style and len(value.value) == 1 and is_raw_wikilink(source[start:end]):
        # `up: [[Map]]`: YAML reads a list in a list, the operator meant a link.
        return (
            (text.safe(_on_one_line(source[start:end])),),
            (offsets.at(start),),
            [Flaw("unquoted-wikilink", line)],
        )
    reached = start
    for item in value.value:
        aliased = item.start_mark.index < value.start_mark.index
        # The parser does not say where an alias stands; offsets must ascend to stay linear.
        reached = reached if aliased else item.start_mark.index
        written = item_text(item, value, text)
        if not aliased:
            if isinstance(item, yaml.ScalarNode):
                if not item.style and _CUT.match(source, item.end_mark.index):
                    flaws.append(Flaw("cut-by-comment", item.end_mark.line + 2))
            elif written is not None and is_raw_wikilink(written):
                flaws.append(Flaw("unquoted-wikilink", item.start_mark.line + 2))
        if written is not None:
            items.append(written)
            starts.append(offsets.at(reached))
    return tuple(items), tuple(starts), flaws


def item_text(item: yaml.Node, parent: yaml.SequenceNode, text: BlockText) -> str | None:
    """The text of one list item: a scalar's own, else its source on one line.

    None for a null, and for an alias of a list or a mapping, which has no text of its own here.
    """
    if isinstance(item, yaml.ScalarNode):
        return None if is_null(item) else text.safe(item.value)
    if item.start_mark.index < parent.start_mark.index:
        return None
    written = text.source[item.start_mark.index : content_end(item, text.source)]
    return text.safe(_on_one_line(written))


def is_null(node: yaml.ScalarNode) -> bool:
    """Whether a composed scalar stands for no value (YAML 1.2, 10.3.2)."""
    return (not node.style and node.value in _NULLS) or node.tag == _NULL_TAG


def is_raw_wikilink(written: str) -> bool:
    """Whether a flow list's source is a wikilink without quotes, such as `[[Map]]`."""
    return (
        written.startswith("[[")
        and written.endswith("]]")
        and not any(bracket in written[2:-2] for bracket in "[]")
    )


def _on_one_line(written: str) -> str:
    """A piece of source on one line; its own blanks are kept where it has no line end."""
    written = written.strip()
    return " ".join(written.split()) if _LINE_END.search(written) else written


def span(key: yaml.Node, value: yaml.Node, source: str) -> tuple[int, int]:
    """Character offsets of a value's source: from its first character to behind its last.

    A value given as an alias (`*name`) is the alias itself, not the anchored text.
    """
    key_end = key.end_mark.index
    if value.start_mark.index < key_end:
        alias = _ALIAS.match(source, key_end)
        return alias.span(1) if alias else (key_end, key_end)
    start = value.start_mark.index
    return start, max(start, content_end(value, source))


def content_end(node: yaml.Node, source: str) -> int:
    """Where the source of `node` ends: trailing comments and blank lines are left out.

    The parser ends a block collection where the next token starts, so the end is taken from the
    last value within. The blank lines that end a `|+` scalar are part of its value.
    """
    limit = node.end_mark.index
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        child = last[1] if isinstance(node, yaml.MappingNode) else last
        if child.start_mark.index < node.start_mark.index:  # an alias, or the node itself
            return _trimmed(source, node.start_mark.index, limit)
        node = child
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        header = _LINE_END.search(source, start)
        if "+" not in source[start : header.start() if header else end].split("#")[0]:
            return start + len(source[start:end].rstrip(" \t\r\n"))
    return end


def _trimmed(source: str, start: int, end: int) -> int:
    """The end of source[start:end] without the blank and comment lines that close it."""
    while True:
        while end > start and source[end - 1] in " \t\r\n":
            end -= 1
        line_start = end
        while line_start > start and source[line_start - 1] not in "\r\n":
            line_start -= 1
        if line_start == start or not source[line_start:end].lstrip(" \t").startswith("#"):
            return end
        end = line_start
