"""What of the source registry the notes can't tell: `Agent/_meta/sources.jsonl`, one line an entry.

A source that gave nothing leaves no note, and how far a growing log was read stands in none. The
last line of a source counts.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend

RECORD: Final = Locator("Agent/_meta/sources.jsonl")
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class NothingFound:
    """A source at this content hash, read by a pass of this version, held nothing to keep.
    `at`: UTC, ISO 8601."""

    source: str
    hash: str
    version: str
    at: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a growing source was read.

    `position`: bytes of a log of lines, or messages of a document. `lines`: lines before it.
    `head`: sha256 of the first `head_bytes` bytes; `check`: of the last up to 4,096 bytes before
    the position: by the two a renamed log is known again, and one that was written anew is told
    from one that grew. `made`: memories made of it so far. `started`: when the session began, ISO,
    "" when it does not say. `title`: what it was about when it was last read. `at`: UTC, ISO 8601.
    """

    source: str
    position: int
    lines: int
    head: str
    head_bytes: int
    check: str
    made: int
    started: str
    version: str
    at: str
    title: str = ""


Entry = NothingFound | Cursor
_KINDS: Final[dict[str, type[NothingFound] | type[Cursor]]] = {
    "nothing": NothingFound,
    "cursor": Cursor,
}


@dataclass(frozen=True, slots=True)
class SourceRecords:
    """The newest entry of each source. `broken`: lines that can't be read, from 1."""

    nothing: dict[str, NothingFound]
    cursors: dict[str, Cursor]
    broken: tuple[int, ...] = ()


def line_of(entry: Entry) -> bytes:
    """As the entry stands in the file, without a line end."""
    kind = "cursor" if isinstance(entry, Cursor) else "nothing"
    written = {"v": VERSION, "kind": kind, **asdict(entry)}
    text = json.dumps(written, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def read_records(backend: StorageBackend) -> SourceRecords:
    """What the file says; nothing while there is none. Raises StorageError."""
    try:
        data = backend.read_bytes(RECORD)
    except FileNotFoundError:
        return SourceRecords({}, {})
    return records_in(data.split(b"\n"))


def records_in(lines: Iterable[bytes]) -> SourceRecords:
    """Torn lines and those of a later version are left out and named: at worst a source is read
    again, and its notes are known by their source."""
    nothing: dict[str, NothingFound] = {}
    cursors: dict[str, Cursor] = {}
    broken: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match _parsed(line):
            case Cursor() as cursor:
                cursors[cursor.source] = cursor
            case NothingFound() as found:
                nothing[found.source] = found
            case _:
                broken.append(number)
    return SourceRecords(nothing, cursors, tuple(broken))


def _parsed(line: bytes) -> Entry | None:
    try:
        written: dict[str, Any] = json.loads(line)
        if written.pop("v") != VERSION:
            return None
        entry = _KINDS[written.pop("kind")](**written)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    counts = {"position", "lines", "head_bytes", "made"}
    for name, value in asdict(entry).items():
        if name in counts and (type(value) is not int or value < 0):
            return None
        if name not in counts and not isinstance(value, str):
            return None
    return entry
