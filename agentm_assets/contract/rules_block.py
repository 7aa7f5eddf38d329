"""Finding the `storage-rules` block in its prose, and reading its YAML with lines."""

import re
from dataclasses import dataclass

import yaml

from agentm_assets.contract.block import (
    BlockError,
    BlockText,
    block_text,
    compose_mapping,
    find_fences,
)
from agentm_assets.contract.frontmatter import is_null
from agentm_assets.contract.lines import split_lines

TAG = "storage-rules"

_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})[ \t]*([^\r\n]*)[\r\n]*\Z")
_DEEPEST = 4  # warrants, a type, admission, a question

Value = str | list["Value"] | dict[str, "Value"] | None
"""A value as its source text; numbers and booleans are typed by the model."""

Place = tuple[str | int, ...]
"""Keys and list positions that lead to a value."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong in the rules file. `line` counts from 1 in the file."""

    line: int
    code: str
    message: str
    cure: str


@dataclass(frozen=True, slots=True)
class Block:
    """The block's YAML, the prose around it, and the file line on which the YAML starts."""

    source: str
    prose: str
    line: int


def find_block(text: str) -> Block | Violation:
    """The one block of the file; a violation when there is none, more than one, or no end.

    `text` is the file without a byte order mark. Its own frontmatter is neither prose nor block.
    """
    found: list[Block] = []
    prose: list[str] = []
    inside: list[str] = []
    fence = ""  # the marks that opened the fence we are in
    indent = opened = 0
    tagged = False
    skipped = _frontmatter_lines(text)
    for number, line in enumerate(split_lines(text), start=1):
        if number <= skipped:
            continue
        mark = _FENCE.match(line)
        info = mark[3].strip(" \t") if mark else ""
        if not fence:
            if mark is None or (mark[2][0] == "`" and "`" in info):
                prose.append(line)
                continue
            indent, fence, opened, inside = len(mark[1]), mark[2], number, []
            tagged = info.split()[:1] == [TAG]
            if not tagged:
                prose.append(line)
            elif info != TAG:
                return Violation(
                    number,
                    "block-tag",
                    f"something stands behind the tag {TAG}",
                    f"end the line after {TAG}",
                )
        elif mark and not info and mark[2][0] == fence[0] and len(mark[2]) >= len(fence):
            if tagged:
                found.append(Block("".join(inside), "", opened + 1))
            else:
                prose.append(line)
            fence = ""
        elif tagged:
            # A fence may be indented; its content then is indented by as much (CommonMark 4.5).
            inside.append(line[min(indent, len(line) - len(line.lstrip(" "))) :])
        else:
            prose.append(line)
    if fence and tagged:
        return Violation(
            opened,
            "block-unclosed",
            f"the {TAG} block that opens here is never closed",
            "close it with a line of the same fence marks",
        )
    if not found:
        hidden = f" (the fence on line {opened} is never closed)" if fence else ""
        return Violation(
            opened if fence else 1,
            "block-missing",
            f"there is no fenced block tagged {TAG}{hidden}",
            f"add one: a line ```{TAG}, the YAML, a line ```",
        )
    if len(found) > 1:
        return Violation(
            found[1].line - 1,
            "block-doubled",
            f"a second {TAG} block opens here; the first opens on line {found[0].line - 1}",
            "keep one of them",
        )
    return Block(found[0].source, "".join(prose), found[0].line)


def _frontmatter_lines(text: str) -> int:
    """How many lines at the start of the file are frontmatter, fences included."""
    fences = find_fences(text.encode())
    if fences is None or fences.body is None:
        return 0
    return len(split_lines(text.encode()[: fences.body]))


@dataclass(frozen=True, slots=True)
class Tree:
    """The block's content and the file line of each value, by place."""

    content: dict[str, Value]
    lines: dict[Place, int]

    def line(self, place: Place) -> int:
        """The line of a value, or of the nearest thing that holds it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines[place]


def read_tree(block: Block) -> tuple[Tree | None, list[Violation]]:
    """Parse the YAML. Every doubled key is a violation; so is an alias, which could grow a file
    without bound and leaves a reader guessing."""
    text = block_text(block.source.encode())
    try:
        root = compose_mapping(text)
    except BlockError as error:
        line = block.line + error.line - 1
        cure = "mend the YAML on this line or the one above; see the shipped default"
        return None, [Violation(line, "yaml", error.message, cure)]
    if root is None:
        return None, [
            Violation(block.line, "yaml", "the block holds no keys", "see the shipped default")
        ]
    reader = _Reader(block.line, text)
    content = reader.read_mapping(root, ())
    return Tree(content, reader.lines), reader.violations


class _Reader:
    """Turns nodes into plain values and notes the line of each."""

    def __init__(self, first: int, text: BlockText) -> None:
        self.lines: dict[Place, int] = {}
        self.violations: list[Violation] = []
        self._first = first
        self._text = text
        self._seen: set[int] = set()

    def read_mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Value]:
        self.lines[place] = self._line(node)
        content: dict[str, Value] = {}
        for key_node, value_node in node.value:
            key, line = self._text.safe(key_node.value), self._line(key_node)
            here = (*place, key)
            if key in content:
                self.violations.append(
                    Violation(
                        line,
                        "doubled-key",
                        f"`{key}` stands here again; it is on line {self.lines[here]} already",
                        "keep one of the two",
                    )
                )
                continue
            content[key] = self._read(value_node, here)
            self.lines[here] = line
        return content

    def _read(self, node: yaml.Node, place: Place) -> Value:
        self.lines[place] = self._line(node)
        if id(node) in self._seen:
            self.violations.append(
                Violation(
                    self._line(node),
                    "alias",
                    "the anchor here is used again elsewhere",
                    "write the value out in each place",
                )
            )
            return None
        self._seen.add(id(node))
        if len(place) > _DEEPEST:
            return ""  # no value of the rules lies so deep: its holder is refused by its shape
        if isinstance(node, yaml.MappingNode):
            return self.read_mapping(node, place)
        if isinstance(node, yaml.SequenceNode):
            return [self._read(item, (*place, at)) for at, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and is_null(node):
            return None
        return self._text.safe(str(node.value))

    def _line(self, node: yaml.Node) -> int:
        return self._first + node.start_mark.line
