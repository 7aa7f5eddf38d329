"""The capture journal of this machine: `log/captures.jsonl`, one line a capture, never rewritten.

Many processes append to it, each line by one write. A line begins with a line end of its own, so
that one which a full disk or a kill tore spoils no other. Two marks say how far others have come:

- `log/captures-committed.json`: up to here git has been told; but for single captures that it
  could not be told of, which `log/captures-held.json` names.
- `index/captures-indexed.json`: up to here the index holds what was captured. It lies in the cache
  and goes with it: then all of the journal waits again, and nothing is entered twice.

A mark is an offset and a digest of the bytes before it, so that one which belongs to another
journal (restored, cut, replaced) counts as none.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from agentm_assets.capture.files import append_line, replace_whole
from agentm_assets.config.vault import VaultLocation

JOURNAL = "captures.jsonl"
_COMMITTED = "captures-committed.json"
_INDEXED = "captures-indexed.json"
_HELD = "captures-held.json"
_CHECKED_BYTES = 256
_TAIL_BYTES = 4 * 1024 * 1024
"""The newest part of a journal that is looked at when no mark is known: some 15,000 captures."""

FORGETTING = "forget"

_BEGIN = b"\n{"  # how every line begins, with the end of whatever stood before it


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A note that was captured, captured again or forgotten, and is on the disk as the entry says.

    `path` is relative to the vault, `content_hash` the sha256 of the file and `fingerprint` that of
    its body (contract.fingerprint), `captured` an ISO datetime, `by` who asked; FORGETTING for one
    that a run rewrote and committed by itself, so that only recall need hear of it.
    """

    path: str
    content_hash: str
    fingerprint: str
    captured: str
    by: str


class Mark(NamedTuple):
    """A place in the journal: an offset in bytes, and a digest of what stands before it."""

    offset: int
    check: str


START = Mark(0, "")


class Waiting(NamedTuple):
    """What stands in the journal behind a mark, oldest first. `older`: lines that were not read,
    because more wait than is looked at. `end`: the mark behind the last of them."""

    entries: tuple[JournalEntry, ...]
    older: int
    end: Mark


@dataclass(frozen=True, slots=True)
class Held:
    """A capture that stands before the mark of git and still waits: `reason` says why it could not
    be committed, `since` when that was first so (seconds since the epoch)."""

    entry: JournalEntry
    reason: str
    since: float


def append(location: VaultLocation, entry: JournalEntry) -> None:
    """Enter one capture. Raises OSError when the log can't be written."""
    line = json.dumps(asdict(entry), ensure_ascii=False, separators=(",", ":"))
    append_line(location.log_dir / JOURNAL, line)


def end_of_journal(location: VaultLocation) -> Mark:
    """The mark behind all that is in the journal now. What was captured before has its file on the
    disk, so a pass that takes the mark and then walks the vault sees those files."""
    with _opened(location) as file:
        return START if file is None else file.mark(file.size)


def not_indexed(location: VaultLocation) -> Waiting:
    """The captures that the published facts have not been seen to hold."""
    mark = _read_mark(location.index_dir / _INDEXED, "indexed")
    return _behind(location, mark, captures_only=True)


def not_served(location: VaultLocation, newest: int) -> Waiting:
    """What words or vectors, which are published after the facts, may still lack, forgotten notes
    included: at most the `newest`."""
    return _behind(location, _read_mark(location.index_dir / _INDEXED, "served"), newest)


def not_committed(location: VaultLocation) -> Waiting:
    """The captures that git does not have; see `mark_committed`. Those held back come first."""
    mark = _read_mark(location.log_dir / _COMMITTED, "committed")
    # What is passed over here is never committed.
    waiting = _behind(location, mark, whole=True, captures_only=True)
    newer = {entry.path for entry in waiting.entries}
    held = (each.entry for each in held_back(location) if each.entry.path not in newer)
    return waiting._replace(entries=(*held, *waiting.entries))


def held_back(location: VaultLocation) -> tuple[Held, ...]:
    """The captures that a pass could not commit one by one. Raises OSError."""
    try:
        written = json.loads((location.log_dir / _HELD).read_bytes())
        return tuple(
            Held(JournalEntry(**each["entry"]), str(each["reason"]), float(each["since"]))
            for each in written
        )
    except FileNotFoundError:
        return ()
    except (ValueError, TypeError, KeyError):
        return ()  # another version's: a pass finds the notes without it


def mark_committed(location: VaultLocation, mark: Mark, held: Sequence[Held] = ()) -> None:
    """Note that git has what was captured before `mark` (`Waiting.end`), but for what is `held`.
    Raises OSError."""
    file = location.log_dir / _HELD
    if held or file.exists():
        replace_whole(file, json.dumps([asdict(each) for each in held]))
    _write_marks(location.log_dir / _COMMITTED, {"committed": mark})


def mark_indexed(location: VaultLocation, mark: Mark) -> None:
    """Note that the published facts hold what was captured before `mark`. Raises OSError."""
    file = location.index_dir / _INDEXED
    _write_marks(file, {"indexed": mark, "served": _read_mark(file, "served")})


def mark_served(location: VaultLocation) -> None:
    """Note that words and vectors hold what the facts do. Raises OSError."""
    file = location.index_dir / _INDEXED
    indexed = _read_mark(file, "indexed")
    if indexed != START:
        _write_marks(file, {"indexed": indexed, "served": indexed})


def paths_with_fingerprint(location: VaultLocation, fingerprint: str) -> list[str]:
    """Notes captured with this body that the index may not know of yet, oldest first.

    The bytes are searched and only what matches is read: a long journal costs next to nothing.
    """
    mark = _read_mark(location.index_dir / _INDEXED, "indexed")
    with _opened(location) as file:
        if file is None:
            return []
        data = file.tail(file.start(mark))
    found: list[str] = []
    wanted = fingerprint.encode()
    at = data.find(wanted)
    while at >= 0:
        first, last = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        entry = _entry(data[first : last if last >= 0 else len(data)])
        if entry is not None and entry.fingerprint == fingerprint:
            found.append(entry.path)
        at = data.find(wanted, at + len(wanted))
    return list(dict.fromkeys(found))


def _behind(
    location: VaultLocation,
    mark: Mark,
    newest: int | None = None,
    *,
    whole: bool = False,
    captures_only: bool = False,
) -> Waiting:
    with _opened(location) as file:
        if file is None:
            return Waiting((), 0, START)
        start = file.start(mark)
        data = file.read(start, file.size) if whole else file.tail(start)
        first = file.size - len(data)
        older = file.read(start, first).count(_BEGIN)
        # A line that is being written now belongs behind the mark.
        end = file.mark(first + data.rfind(b"\n") + 1)
    found: dict[str, JournalEntry] = {}
    lines = data.split(b"\n")
    while lines and (newest is None or len(found) < newest):
        entry = _entry(lines.pop())
        if entry is not None and not (captures_only and entry.by == FORGETTING):
            found.setdefault(entry.path, entry)  # the newest entry of a path counts
    older += sum(1 for line in lines if line.startswith(b"{"))
    return Waiting(tuple(reversed(found.values())), older, end)


def _entry(line: bytes) -> JournalEntry | None:
    """The entry on a line; None for a blank or torn one, and for one of a later version."""
    if not line.startswith(b"{"):
        return None
    try:
        written = json.loads(line)
    except ValueError:
        return None
    values = [written.get(name) for name in _FIELDS]
    if not all(isinstance(value, str) for value in values):
        return None
    return JournalEntry(*values)


_FIELDS = ("path", "content_hash", "fingerprint", "captured", "by")


class _Journal:
    """The open file, at the size it had when it was opened."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.size = os.fstat(handle).st_size

    def mark(self, offset: int) -> Mark:
        first = max(0, offset - _CHECKED_BYTES)
        return Mark(offset, sha256(self.read(first, offset)).hexdigest()[:16])

    def start(self, mark: Mark) -> int:
        """Where to read from: 0 when the mark is not of this file."""
        known = 0 < mark.offset <= self.size and self.mark(mark.offset) == mark
        return mark.offset if known else 0

    def tail(self, start: int) -> bytes:
        """The newest bytes behind `start`, from the beginning of a line."""
        first = max(start, self.size - _TAIL_BYTES)
        data = self.read(first, self.size)
        return data if first == start else data[data.find(b"\n") + 1 :]

    def read(self, start: int, end: int) -> bytes:
        pieces: list[bytes] = []
        while start < end:
            piece = os.pread(self.handle, end - start, start)
            if not piece:
                break
            pieces.append(piece)
            start += len(piece)
        return b"".join(pieces)


@contextmanager
def _opened(location: VaultLocation) -> Iterator[_Journal | None]:
    """The journal, None before the first capture. Raises OSError when it can't be read."""
    try:
        handle = os.open(location.log_dir / JOURNAL, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield None
        return
    try:
        yield _Journal(handle)
    finally:
        os.close(handle)


def _read_mark(file: Path, name: str) -> Mark:
    """START when there is none, or none that can be read: then more is looked at than need be."""
    try:
        written = json.loads(file.read_bytes())[name]
        return Mark(int(written["offset"]), str(written["check"]))
    except (OSError, ValueError, TypeError, KeyError):
        return START


def _write_marks(file: Path, marks: Mapping[str, Mark]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_whole(file, json.dumps({name: mark._asdict() for name, mark in marks.items()}))
