"""Finding the `storage-rules` block in its prose, and reading its YAML with lines."""

import re
from dataclasses import dataclass

import yaml

from agentm_assets.contract.lines import split_lines

TAG = "storage-rules"

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^\r\n]*?)[ \t]*[\r\n]*$")

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
    """The one block of the file; a violation when there is none, more than one, or no end."""
    found: list[Block] = []
    prose: list[str] = []
    fence = ""
    tagged = False
    opened = 0
    inside: list[str] = []
    for number, line in enumerate(split_lines(text), start=1):
        mark = _FENCE.match(line)
        if not fence:
            prose.append(line)
            if mark:
                fence, opened, inside = mark[1], number, []
                tagged = TAG in mark[2].split()
        elif mark and not mark[2] and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
            if tagged:
                found.append(Block("".join(inside), "", opened + 1))
            else:
                prose.extend(inside)
            prose.append(line)
            fence = ""
        else:
            inside.append(line)
    if fence and tagged:
        return Violation(
            opened,
            "block-unclosed",
            f"the {TAG} block that opens here is never closed",
            "close it with a line of the same fence marks",
        )
    if not found:
        return Violation(
            1,
            "block-missing",
            f"there is no fenced block tagged {TAG}",
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
    """Parse the YAML. Every doubled key is a violation; anchors are refused (they can grow a file
    without bound)."""
    try:
        for event in yaml.parse(block.source, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                line = block.line + (event.start_mark.line if event.start_mark else 0)
                return None, [
                    Violation(line, "alias", "an anchor is used here", "write the value out")
                ]
        root = yaml.compose(block.source, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = block.line + (mark.line if mark else 0)
        return None, [
            Violation(
                line,
                "yaml",
                f"the YAML can't be read: {error.problem or error.context or 'syntax error'}",
                "mend the YAML on this line or the one above",
            )
        ]
    except (yaml.YAMLError, RecursionError) as error:
        return None, [
            Violation(
                block.line,
                "yaml",
                f"the YAML can't be read ({type(error).__name__})",
                "remove odd characters and deep nesting",
            )
        ]
    if not isinstance(root, yaml.MappingNode):
        return None, [
            Violation(
                block.line,
                "not-a-mapping",
                "the block holds no keys",
                "write it as `key: value` lines; see the shipped default",
            )
        ]
    lines: dict[Place, int] = {}
    doubled: list[Violation] = []
    content = _read(root, (), block.line, lines, doubled)
    assert isinstance(content, dict)
    return Tree(content, lines), doubled


def _read(
    node: yaml.Node, place: Place, first: int, lines: dict[Place, int], doubled: list[Violation]
) -> Value:
    lines[place] = first + node.start_mark.line
    if isinstance(node, yaml.MappingNode):
        content: dict[str, Value] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            line = first + key_node.start_mark.line
            if key in content:
                doubled.append(
                    Violation(
                        line,
                        "doubled-key",
                        f"`{key}` stands here again; it is on line {lines[(*place, key)]} already",
                        "keep one of the two",
                    )
                )
                continue
            content[key] = _read(value_node, (*place, key), first, lines, doubled)
            lines[(*place, key)] = line
        return content
    if isinstance(node, yaml.SequenceNode):
        return [
            _read(item, (*place, at), first, lines, doubled) for at, item in enumerate(node.value)
        ]
    if node.tag == "tag:yaml.org,2002:null":
        return None
    return str(node.value)
