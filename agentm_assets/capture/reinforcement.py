"""Counting a text that was captured again, in the note that holds it.

A reinforcement is first put down beside the index, as a small file in `log/reinforcements/`, then
worked off: at once where the vault's lock is free, else by the next capture or pass that gets it.
Before the note is written, the file says what the note will be afterwards; a process that finds it
after a kill sees by that whether the write happened. None is lost. One is counted twice where a
kill fell right behind its write and processes with another state folder (another user's) counted
in that note before it was looked at again: they can't know of each other.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from agentm_assets.capture.files import replace_whole
from agentm_assets.capture.journal import JournalEntry, append
from agentm_assets.capture.live import body_fingerprint, is_live
from agentm_assets.capture.refusals import count_refusal
from agentm_assets.capture.waiting import files_waiting, folder_of
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract import properties
from agentm_assets.contract.edit import EditRefused, set_key
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.mutex import AlreadyHeld
from agentm_assets.storage.seam import (
    ConcurrentModificationError,
    LockTimeout,
    OwnershipLost,
    StorageBackend,
    StorageError,
    content_hash,
)

MOST_AT_ONCE = 8
"""Reinforcements a capture works off; a pass takes all."""

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Reinforcement:
    """One count more for the note at `path`, whose body has this fingerprint.

    `at`: when, an ISO datetime. `tags` and `aliases` are those that came with the text; the note
    gets what it lacks of them. `expected`: the content hash the note will have once this is
    applied, and `count` the occurrences it will say; "" and 0 until it is tried.
    """

    path: str
    fingerprint: str
    at: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    expected: str = ""
    count: int = 0


def put_down(location: VaultLocation, reinforcement: Reinforcement) -> Path:
    """Keep a reinforcement until it is applied. On return it is on the disk. Raises OSError."""
    folder = folder_of(location)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{reinforcement.at.translate(_NAME)}-{os.urandom(6).hex()}.json"
    replace_whole(folder / name, json.dumps(asdict(reinforcement)))
    return folder / name


def work_off(
    location: VaultLocation, backend: StorageBackend, now: datetime, most: int | None = None
) -> int:
    """Apply what waits, oldest first; how many were done. Never waits for the vault's lock.

    Stops where another process works them off or writes to the vault. One that can't be applied
    now stays (the status counts it) and holds up no other note's; a file that is no reinforcement
    is set aside as `.unreadable` and counted as a refusal. Raises nothing for the sake of these
    files or the vault: what called it has saved its note already.
    """
    try:
        files = files_waiting(location)
        if not files:
            return 0
        with _alone(location) as alone:
            if not alone or not backend.list(ROOT):
                return 0  # of an empty folder (is it mounted?) no note is known to be gone
            return _work_off(location, backend.impatient(), files, now, most)
    except (OSError, StorageError):
        return 0  # the folder or the vault can't be used; the status says so


def _work_off(
    location: VaultLocation,
    backend: StorageBackend,
    files: list[Path],
    now: datetime,
    most: int | None,
) -> int:
    waiting = [(file, found) for file in files if (found := _read(location, file, now)) is not None]
    # One that was tried and whose end nobody saw comes first: whether it was written can be told
    # only before another one changes the note.
    waiting.sort(key=lambda each: not each[1].expected)
    done = failed = 0
    held_up: set[str] = set()
    for file, reinforcement in waiting:
        if most is not None and max(done, failed) >= most:
            break
        if reinforcement.path in held_up:
            continue
        try:
            if not _apply(location, backend, file, reinforcement, now):
                held_up.add(reinforcement.path)
                continue
            file.unlink(missing_ok=True)
        except (LockTimeout, AlreadyHeld):
            break
        except (StorageError, OSError):
            held_up.add(reinforcement.path)
            failed += 1
            continue
        done += 1
    return done


def reinforced(data: bytes, reinforcement: Reinforcement) -> tuple[bytes, int]:
    """The note with one occurrence more, and their number. Raises EditRefused."""
    frontmatter = read_frontmatter(data)
    count = _occurrences(frontmatter) + 1
    data = set_key(data, "occurrences", count)
    data = set_key(data, "updated", reinforcement.at)
    for key, have, more in (
        ("tags", properties.tags(frontmatter), reinforcement.tags),
        ("aliases", properties.aliases(frontmatter), reinforcement.aliases),
    ):
        known = {name.casefold() for name in have}
        new = [name for name in more if name.casefold() not in known]
        if new:
            data = set_key(data, key, [*have, *new])
    return data, count


def _apply(
    location: VaultLocation,
    backend: StorageBackend,
    file: Path,
    reinforcement: Reinforcement,
    now: datetime,
) -> bool:
    """Write the note. True when the reinforcement is dealt with, False when it has to wait."""
    place = Locator(reinforcement.path)
    unknown = bool(reinforcement.expected)  # whether the write that was tried last happened
    for _ in range(_ATTEMPTS):
        try:
            data = backend.read_bytes(place)
        except FileNotFoundError:
            count_refusal(location, "reinforced-note-gone", "capture", now)
            return True
        frontmatter = read_frontmatter(data)
        if unknown and _is_applied(data, frontmatter, reinforcement):
            _journal(location, reinforcement, content_hash(data))
            return True
        same_body = body_fingerprint(data, frontmatter) == reinforcement.fingerprint
        if not same_body or not is_live(frontmatter):
            count_refusal(location, "reinforced-note-changed", "capture", now)
            return True
        try:
            new, count = reinforced(data, reinforcement)
        except EditRefused:
            count_refusal(location, "reinforced-note-unreadable", "capture", now)
            return True
        tried = replace(reinforcement, expected=content_hash(new), count=count)
        replace_whole(file, json.dumps(asdict(tried)))
        try:
            written = backend.write_bytes(place, new, expect=content_hash(data))
        except (ConcurrentModificationError, LockTimeout, AlreadyHeld) as error:
            # It did not happen. What is there now is another's, be it byte for byte this one.
            unknown = False
            replace_whole(file, json.dumps(asdict(replace(tried, expected=""))))
            if not isinstance(error, ConcurrentModificationError):
                raise
            continue
        except OwnershipLost:
            unknown, reinforcement = True, tried
            continue
        _journal(location, reinforcement, written)
        return True
    return False


def _journal(location: VaultLocation, reinforcement: Reinforcement, written: str) -> None:
    """Let git and recall know of the note as it is now."""
    fingerprint, at = reinforcement.fingerprint, reinforcement.at
    append(location, JournalEntry(reinforcement.path, written, fingerprint, at, "capture"))


def _is_applied(data: bytes, frontmatter: Frontmatter, reinforcement: Reinforcement) -> bool:
    """Whether the write that was tried before happened: the note is what it would have become, or
    still says what that write would have said of count and moment.

    Anybody else's higher count proves nothing. When it can't be told (others counted since), the
    text is counted again: rather one too many than one lost.
    """
    if content_hash(data) == reinforcement.expected:
        return True
    at = properties.text_of(frontmatter, "updated")
    return (_occurrences(frontmatter), at) == (reinforcement.count, reinforcement.at)


def _occurrences(frontmatter: Frontmatter) -> int:
    """How often the text was captured; a note that does not say so, once."""
    text = properties.text_of(frontmatter, "occurrences")
    return int(text) if text is not None and text.isascii() and text.isdecimal() else 1


def _read(location: VaultLocation, file: Path, now: datetime) -> Reinforcement | None:
    """What a file says; None when it is gone, can't be read now, or was set aside as foreign."""
    try:
        data = file.read_bytes()
    except IsADirectoryError:
        _set_aside(location, file, now)
        return None
    except OSError:
        return None  # gone: another process was quicker; shut: the status counts it
    try:
        written = json.loads(data)
        texts = [written[name] for name in ("path", "fingerprint", "at", "expected")]
        tags, aliases = tuple(written["tags"]), tuple(written["aliases"])
        count = int(written["count"])
        if not all(isinstance(text, str) for text in (*texts, *tags, *aliases)):
            raise TypeError("not text")
        Locator(texts[0])
    except (ValueError, TypeError, KeyError, RecursionError):
        _set_aside(location, file, now)
        return None
    path, fingerprint, at, expected = texts
    return Reinforcement(path, fingerprint, at, tags, aliases, expected, count)


def _set_aside(location: VaultLocation, file: Path, now: datetime) -> None:
    """Take a file that is no reinforcement out of the way. It is kept: someone may know it."""
    with suppress(OSError):
        file.rename(file.with_name(f"{file.name}.unreadable"))
        count_refusal(location, "reinforcement-unreadable", "capture", now)


@contextmanager
def _alone(location: VaultLocation) -> Iterator[bool]:
    """True while no other process works them off; the lock ends with the process."""
    handle = os.open(folder_of(location) / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
    finally:
        os.close(handle)


_NAME = {ord(":"): "", ord("-"): "", ord("+"): ""}
