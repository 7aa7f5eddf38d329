"""The footer below a note's settled body: which notes refer to it, kept by a pass.

It stands at the very end, between two marks, and is no part of the body: stripping it gives back
the body's exact bytes. Fingerprints, chunks, links, entities and judges are of the body alone.

What is written is one line end, the opening mark, the lines, the closing mark, each with that same
line end. So the line end behind the opening mark says which one was put before it.
"""

import re
from collections.abc import Sequence
from typing import Final

OPENING: Final = b"<!-- agentm: references from here, edits are lost -->"
CLOSING: Final = b"<!-- agentm: references to here -->"

_OPENS = re.compile(rb"(?:\A|(?<=[\r\n]))" + re.escape(OPENING) + rb"(\r\n|\n|\r)")
_CLOSES = re.compile(rb"(?<=[\r\n])" + re.escape(CLOSING) + rb"(?:\r\n|\n|\r|\Z)")


def find_footer(data: bytes) -> tuple[int, int] | None:
    """Where the last footer starts, the line end before its mark included, and where it ends."""
    at = data.rfind(OPENING)
    while at >= 0:
        opens = _OPENS.match(data, at)
        closes = None if opens is None else _CLOSES.search(data, opens.end())
        if opens is not None and closes is not None:
            before = at - len(opens[1]) if data.endswith(opens[1], 0, at) else at
            return before, closes.end()
        at = data.rfind(OPENING, 0, at)
    return None


def strip_footer(data: bytes) -> bytes:
    """The note without its footer; what somebody wrote behind it stays."""
    found = find_footer(data)
    return data if found is None else data[: found[0]] + data[found[1] :]


def with_footer(data: bytes, lines: Sequence[str]) -> bytes:
    """The note with this footer in the place of the one that it has; without one for no lines."""
    body = strip_footer(data)
    if not lines:
        return body
    end = _line_end(body)
    pieces = [b"", OPENING, *(line.encode("utf-8") for line in lines), CLOSING, b""]
    return body + end.join(pieces)


def without_footer(data: bytes) -> bytes:
    """The note for extraction: the footer cut off, or blanked where something was written behind
    it, so that every offset into the rest stays right."""
    found = find_footer(data)
    if found is None:
        return data
    start, end = found
    if not data[end:].strip():
        return data[:start]
    blanked = bytes(byte if byte in b"\r\n" else 0x20 for byte in data[start:end])
    return data[:start] + blanked + data[end:]


def _line_end(body: bytes) -> bytes:
    """The line end of the body's last line, so that none that stands there becomes another."""
    if body.endswith(b"\r\n"):
        return b"\r\n"
    if body.endswith(b"\r"):
        return b"\r"
    if body.endswith(b"\n"):
        return b"\n"
    return b"\r\n" if b"\r\n" in body else b"\n" if b"\n" in body or b"\r" not in body else b"\r"
