"""The part of a page that a program may write anew. All around it is the operator's."""

import re

from agentm_assets.contract.lines import split_lines

BEGIN = b"<!-- agentm: generated from here, edits are lost -->"
END = b"<!-- agentm: generated to here -->"

_MARK = re.compile(rb"<!-- agentm: generated (from|to) here")


class RegionDamaged(Exception):
    """The page's marks don't enclose one region. The page was left as it is."""


def with_region(data: bytes, lines: list[str]) -> bytes:
    """The page `data` with `lines` between the two marks; every byte outside stays.

    A page without marks gets them at its end. The lines take the line end of the page. Raises
    RegionDamaged when a mark is missing, stands twice or in the wrong order.
    """
    end = line_end_of(data)
    fresh = b"".join(line.encode("utf-8") + end for line in lines)
    start, stop = _bounds(data)
    if start is None or stop is None:
        # A blank line keeps what stands above (a table, say) from running on into the region.
        gap = b"" if not data else end if data.endswith((b"\n", b"\r")) else end + end
        return b"".join((data, gap, BEGIN, end, fresh, END, end))
    return data[:start] + fresh + data[stop:]


def _bounds(data: bytes) -> tuple[int | None, int | None]:
    """Where the region's lines start (behind the first mark's line) and stop (at the second)."""
    start: int | None = None
    stop: int | None = None
    at = 0
    for number, line in enumerate(split_lines(data), start=1):
        mark = _MARK.match(line)
        if mark is not None:
            opens = mark[1] == b"from"
            if (start is not None) if opens else (start is None or stop is not None):
                raise RegionDamaged(
                    f"line {number}: the marks of the generated part are out of order; restore "
                    "them, or remove all of them and a new part is added at the end"
                )
            if opens:
                start = at + len(line)
            else:
                stop = at
        at += len(line)
    if start is not None and stop is None:
        raise RegionDamaged(
            "the generated part has no closing mark; restore it, or remove the opening one too"
        )
    return start, stop


def line_end_of(data: bytes) -> bytes:
    """The line end that stands most often in a page; LF for one without any."""
    pairs = data.count(b"\r\n")
    counts = {
        b"\n": data.count(b"\n") - pairs,
        b"\r\n": pairs,
        b"\r": data.count(b"\r") - pairs,
    }
    return max(counts, key=lambda end: counts[end])
