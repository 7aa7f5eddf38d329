"""Lines of a note, counted one way everywhere.

A line ends with LF, CRLF or CR and with nothing else (CommonMark 2.1). `str.splitlines` also splits
at VT, FF, FS, GS, RS, NEL, U+2028 and U+2029, which are ordinary text inside a note.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import AnyStr, cast

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_LINE_BYTES = re.compile(rb"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_END = re.compile(r"\r\n?|\n")
_END_BYTES = re.compile(rb"\r\n?|\n")


def split_lines(text: AnyStr) -> list[AnyStr]:
    """The lines of `text` with their ends kept, so that joining them gives `text` again.

    Empty text has no line; a final line end opens no further line.
    """
    if isinstance(text, str):
        return cast("list[AnyStr]", _LINE.findall(text))
    return cast("list[AnyStr]", _LINE_BYTES.findall(text))


def line_starts(text: str | bytes) -> list[int]:
    """The offset at which each line starts, ascending, the first always 0.

    Offsets are characters of a `str`, bytes of `bytes`. A final line end adds one last start equal
    to `len(text)`, so that an offset at the very end has a line number too.
    """
    found = _END.finditer(text) if isinstance(text, str) else _END_BYTES.finditer(text)
    return [0, *(match.end() for match in found)]


def line_of(starts: Sequence[int], offset: int) -> int:
    """The number, counted from 1, of the line that holds `offset`; `starts` from `line_starts`."""
    return bisect_right(starts, offset)
