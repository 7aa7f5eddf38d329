"""Link reference definitions: `[id]: target "title"` lines (CommonMark 4.7)."""

import re
from collections.abc import Sequence

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


def find_definitions(text: str, paragraphs: Sequence[tuple[int, int]]) -> dict[str, str]:
    """The definitions that open these paragraphs: reference key to destination as written.

    The first definition of a label holds. Footnotes (`[^id]:`) are no definitions.
    """
    found: dict[str, str] = {}
    for start, end in paragraphs:
        at = start
        while definition := _DEFINITION.match(text, at, end):
            label = definition[1]
            if len(label) <= _MAX_LABEL and label.strip():
                bare = definition[2] if definition[3] is None else definition[3]
                found.setdefault(reference_key(label), bare)
            at = definition.end()
    return found
