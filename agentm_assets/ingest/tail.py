"""Reading a log of JSON lines from where the last reading ended.

A last line that is still being written waits. A log that is shorter than before, or whose bytes
before the mark are others, was cut or written anew: it is read from its beginning.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, Literal

from agentm_assets.ledger.source_records import Cursor

MOST_LINE_BYTES: Final = 64 * 1024 * 1024
"""A longer line is passed over and counted."""

CHECKED_BYTES: Final = 4_096

Restart = Literal["", "shorter", "rewritten"]


@dataclass(frozen=True, slots=True)
class Tail:
    """What was read: bytes `start` to `position`, `records` of them, `broken` lines that are no
    JSON object. `lines`: of the log up to `position`. `restarted`: why it was read from its
    beginning though there is a cursor. `waits`: a last line is not written to its end. `head`,
    `head_bytes` and `check` are for the cursor."""

    start: int
    position: int
    lines: int
    records: int
    broken: int
    restarted: Restart
    waits: bool
    head: str
    head_bytes: int
    check: str


def read_tail(file: Path, cursor: Cursor | None, take: Callable[[dict[str, Any]], None]) -> Tail:
    """Give each new record to `take`. Raises OSError."""
    with file.open("rb") as log:
        size = os.fstat(log.fileno()).st_size
        start, restarted = _start(log, cursor, size)
        log.seek(start)
        position = start
        lines = cursor.lines if cursor is not None and start else 0
        records = broken = 0
        waits = False
        while position < size and (line := log.readline(MOST_LINE_BYTES)):
            length, ended = len(line), line.endswith(b"\n")
            if not ended and length == MOST_LINE_BYTES:
                more, ended = _pass_over(log)
                length += more
                record = None
            else:
                record = _record(line)
            if not ended and record is None:
                waits = True
                break
            position += length
            lines += 1
            if record is not None:
                records += 1
                take(record)
            elif line.strip(b"\0 \t\r\n"):
                broken += 1
        head_bytes = min(CHECKED_BYTES, position)
        return Tail(
            start=start,
            position=position,
            lines=lines,
            records=records,
            broken=broken,
            restarted=restarted,
            waits=waits,
            head=_digest(log, 0, head_bytes),
            head_bytes=head_bytes,
            check=_digest(log, max(0, position - CHECKED_BYTES), position),
        )


def continues(file: Path, cursor: Cursor) -> bool:
    """Is it the log that the cursor was in, longer or not? Raises OSError."""
    with file.open("rb") as log:
        return not _start(log, cursor, os.fstat(log.fileno()).st_size)[1]


def begins_like(file: Path, cursor: Cursor) -> bool:
    """Does it begin with the bytes that the cursor knows? Raises OSError."""
    with file.open("rb") as log:
        return _digest(log, 0, cursor.head_bytes) == cursor.head


def _start(log: BufferedReader, cursor: Cursor | None, size: int) -> tuple[int, Restart]:
    if cursor is None or cursor.position == 0:
        return 0, ""
    if size < cursor.position:
        return 0, "shorter"
    first = max(0, cursor.position - CHECKED_BYTES)
    same = (
        _digest(log, 0, cursor.head_bytes) == cursor.head
        and _digest(log, first, cursor.position) == cursor.check
    )
    return (cursor.position, "") if same else (0, "rewritten")


def _digest(log: BufferedReader, start: int, end: int) -> str:
    return sha256(os.pread(log.fileno(), end - start, start)).hexdigest()


def _pass_over(log: BufferedReader) -> tuple[int, bool]:
    """Read to the end of the line: how many bytes, and whether it has an end."""
    length = 0
    while piece := log.readline(MOST_LINE_BYTES):
        length += len(piece)
        if piece.endswith(b"\n"):
            return length, True
    return length, False


def _record(line: bytes) -> dict[str, Any] | None:
    text = line.strip(b"\0 \t\r\n").decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
