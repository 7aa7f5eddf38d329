"""The frontmatter block of a note: where it lies in the bytes, and its YAML as nodes with marks.

The YAML is composed, never loaded, so no value is converted and no tag constructs anything.
Nothing here raises on any input except `BlockError`, and everything is linear in the input.
"""

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

import yaml

BOM: Final = b"\xef\xbb\xbf"

_OPEN = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*(?:\r\n|\r|\n|\Z)")
# The search starts on the last byte of the opening line's end, so an empty block is found too.
_CLOSE = re.compile(rb"[\r\n]---[ \t]*(?:\r\n|\r|\n|\Z)")

# Everything that the YAML reader refuses (YAML 1.1 5.1), or takes for a line end although it is
# none in a note: NEL, U+2028, U+2029.
_SPECIAL = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_PRIVATE_USE: Final = range(0xE000, 0xF900)

# The C parser where the installed PyYAML has it: fifteen times as fast, with the same marks.
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

ErrorCode = Literal["unclosed", "invalid-yaml", "not-a-mapping", "template"]

# What the parser says, in words that help whoever wrote the line. The parser's own words are never
# passed on, since some of them quote the text.
_PROBLEMS: Final[dict[str, str]] = {
    "mapping values are not allowed in this context": "a value holds ': ' and has no quotes",
    "mapping values are not allowed here": "a value holds ': ' and has no quotes",
    "found character that cannot start any token": (
        "a value starts with a character that YAML reserves (such as @, %, ` or a tab)"
    ),
    "could not find expected ':'": "a line is neither a property nor part of a value",
    "found unexpected end of stream": "a quoted value is not closed",
    "found unknown escape character": (
        "a value in double quotes holds a backslash that starts no escape YAML knows"
    ),
    "did not find expected ',' or ']'": "a list in brackets is not closed",
    "did not find expected ',' or '}'": "a mapping in braces is not closed",
    "did not find expected key": "a line does not fit the indentation around it",
    "did not find expected '-' indicator": "a property follows a list at the list's indentation",
    "did not find expected node content": "a value starts with a character that YAML reserves",
    "found a tab character that violates indentation": "a line is indented with a tab",
    "found a tab character where an indentation space is expected": "a line is indented with a tab",
    "found undefined alias": "a value starts with * and names no anchor",
    "but found another document": "a line starts a second YAML document",
    "while increasing flow level": "values are nested too deeply",
    "while increasing block level": "values are nested too deeply",
}
# In these the parser notices late; where the construct began is what the operator must look at.
_STARTS_EARLIER: Final = frozenset(
    {
        "while scanning a quoted scalar",
        "while scanning a simple key",
        "while parsing a flow sequence",
        "while parsing a flow mapping",
    }
)


class BlockError(Exception):
    """The block is no mapping that can be read. `line` counts from 1 within the block's text."""

    def __init__(self, code: ErrorCode, message: str, line: int) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Fences:
    """Byte offsets of a note's block.

    `content` is where the first line after the opening fence starts, `close` where the closing
    fence starts, `body` where the line after it starts. The last two are None when the block is
    opened and never closed.
    """

    content: int
    close: int | None
    body: int | None


def bom_length(data: bytes) -> int:
    """3 when a UTF-8 byte order mark opens the file, else 0."""
    return len(BOM) if data.startswith(BOM) else 0


def find_fences(data: bytes) -> Fences | None:
    """The fences of the block that opens on the first line; None when no block opens there.

    A fence is `---` at column 0 with nothing but blanks after it. `...` closes no block.
    """
    opened = _OPEN.match(data)
    if opened is None:
        return None
    content = opened.end()
    closed = _CLOSE.search(data, content - 1)
    if closed is None:
        return Fences(content, None, None)
    return Fences(content, closed.start() + 1, closed.end())


@dataclass(frozen=True, slots=True)
class BlockText:
    """The text between the fences, and the same text with harmless stand-ins for the parser.

    Both have the same length, so an offset into one is an offset into the other. `restore` is a
    `str.translate` table that turns stand-ins into their characters again; empty without any.
    """

    source: str
    parsable: str
    restore: dict[int, str]

    def safe(self, value: str) -> str:
        """A parsed value, or a piece of the source, as text that may be stored and shown."""
        if self.restore:
            return safe_text(value.translate(self.restore))
        # Such a source holds no NUL and no invalid byte; the escape "\0" still gives a NUL.
        return value.replace("\0", "\ufffd") if "\0" in value else value


def safe_text(text: str) -> str:
    """`text` with NUL and lone surrogates (invalid UTF-8) as U+FFFD: what may be stored and shown.

    Escapes such as `"\\0"` can bring them in where the bytes hold none.
    """
    return _UNSTORABLE.sub("\ufffd", text)


def block_text(raw: bytes) -> BlockText:
    """Decode the bytes between the fences (or of any other YAML text)."""
    source = raw.decode("utf-8", "surrogateescape")
    if _SPECIAL.search(source) is None:
        return BlockText(source, source, {})
    special = sorted(set(_SPECIAL.findall(source)))
    present = set(source)
    free = (code for code in _PRIVATE_USE if chr(code) not in present)
    stand_in: dict[int, str] = {}
    restore: dict[int, str] = {}
    for character, code in zip(special, free, strict=False):
        stand_in[ord(character)] = chr(code)
        restore[code] = character
    return BlockText(source, source.translate(stand_in), restore)


def compose(text: BlockText) -> yaml.Node | None:
    """The root node of the YAML in `text`; None when it holds nothing but blanks and comments.

    Scalars keep their source text (no implicit type is resolved). Raises BlockError when the text
    is not one YAML document.
    """
    try:
        loader = _LOADER(text.parsable)
        try:
            root: yaml.Node | None = loader.get_single_node()
            return root
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if error.context in _STARTS_EARLIER and error.context_mark is not None:
            mark = error.context_mark
        message = _PROBLEMS.get(error.problem or "") or _PROBLEMS.get(error.context or "")
        line = mark.line + 1 if mark is not None else 1
        raise BlockError("invalid-yaml", message or "the YAML is not valid", line) from None
    except (yaml.YAMLError, RecursionError):
        # A text with more kinds of forbidden characters than stand-ins, or (without the C parser)
        # nesting beyond the interpreter's own limit.
        raise BlockError("invalid-yaml", "the YAML can't be read", 1) from None


def compose_mapping(text: BlockText) -> yaml.MappingNode | None:
    """As `compose`, for a text that must be a mapping whose keys are all plain values.

    Raises BlockError where the root is something else, or where any mapping in it, however deep,
    has a list or a mapping for a key (an unfilled `{{placeholder}}` reads so). Keys of the root
    that are YAML aliases are refused too: they have no text of their own.
    """
    root = compose(text)
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode):
        line = root.start_mark.line + 1
        raise BlockError("not-a-mapping", "the block is text, not properties", line)
    reached, reached_line = 0, 1
    for key, value in root.value:
        if key.start_mark.index < reached:  # the marks are those of the anchor
            raise BlockError("invalid-yaml", "a key is a YAML alias", reached_line + 1)
        end = value.end_mark if value.end_mark.index > reached else key.end_mark
        reached, reached_line = end.index, end.line + 1
    seen: set[int] = set()
    waiting: list[yaml.Node] = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias: shared, perhaps with itself
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise _complex_key(key, text.source)
                if not isinstance(value, yaml.ScalarNode):
                    waiting.append(value)
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend(item for item in node.value if not isinstance(item, yaml.ScalarNode))
    return root


def _complex_key(key: yaml.Node, source: str) -> BlockError:
    line = key.start_mark.line + 1
    if source[key.start_mark.index : key.start_mark.index + 1] == "{":
        return BlockError("template", "a {{placeholder}} is not filled in", line)
    return BlockError("invalid-yaml", "a key is itself a list or a mapping", line)
