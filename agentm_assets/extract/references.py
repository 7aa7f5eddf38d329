"""Link reference definitions: `[id]: target "title"` lines (CommonMark 4.7)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_DEFINITION = re.compile(
    r"[ \t>]*\[(?!\^)((?:[^\[\]\\]|\\.)++)\]:"
    r"[ \t]*+(?:\r\n?|\n)?+[ \t>]*+"
    r"(?:<((?:[^<>\\\r\n]|\\.)*+)>|([^\s<]\S*+))"
    r"(?:(?=[ \t\r\n])[ \t]*+(?:\r\n?|\n)?+[ \t>]*+"
    r"(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))"
    r"[ \t]*+(?:\r\n?|\n|\Z)|[ \t]*+(?:\r\n?|\n|\Z))",
    re.DOTALL,
)
_MAX_LABEL = 999  # characters (4.7)


def reference_key(label: str) -> str:
    """How labels compare: case folded, white space folded."""
    return " ".join(label.split()).casefold()


@dataclass(frozen=True, slots=True)
class Definitions:
    """`targets` maps a reference key to the destination as written.

    `ends` maps the start of a paragraph that opens with definitions to where they end.
    """

    targets: Mapping[str, str]
    ends: Mapping[int, int]


def find_definitions(text: str, paragraphs: Sequence[tuple[int, int]]) -> Definitions:
    """The definitions that open these paragraphs.

    The first definition of a label holds. Footnotes (`[^id]:`) are no definitions.
    """
    targets: dict[str, str] = {}
    ends: dict[int, int] = {}
    for start, end in paragraphs:
        at = start
        while definition := _DEFINITION.match(text, at, end):
            label = definition[1]
            if len(label) <= _MAX_LABEL and label.strip():
                target = definition[2] if definition[3] is None else definition[3]
                targets.setdefault(reference_key(label), target)
            at = definition.end()
        if at > start:
            ends[start] = at
    return Definitions(targets, ends)
