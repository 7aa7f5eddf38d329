"""Counting a text that was captured again, in the note that holds it.

A reinforcement is first put down beside the index, as a small file in `log/reinforcements/`, then
worked off: at once where the vault's lock is free, else by the next capture or pass that gets it.
Each is applied once. Before the note is written, the file says what the note will be afterwards; a
process that finds it after a kill sees by that whether the write happened.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
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
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.mutex import VaultMutex
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
    name = f"{reinforcement.at.translate(_NAME)}-{os.urandom(6).hex()}"
    temporary = folder / f".{name}.tmp"
    with temporary.open("x", encoding="utf-8") as file:
        json.dump(asdict(reinforcement), file)
        file.flush()
        os.fsync(file.fileno())
    kept = folder / f"{name}.json"
    temporary.replace(kept)
    return kept


def work_off(
    location: VaultLocation, backend: StorageBackend, now: datetime, most: int | None = None
) -> int:
    """Apply what waits, oldest first; how many were done. Never waits for the vault's lock.

    Does nothing while another process works them off or writes to the vault.
    """
    files = files_waiting(location)
    if not files:
        return 0
    done = 0
    with _alone(location) as alone:
        if not alone or not _vault_is_free(location, backend):
            return 0
        for file in files[:most]:
            reinforcement = _read(file)
            if reinforcement is None:
                continue  # another process was quicker
            try:
                if not _apply(location, backend, file, reinforcement, now):
                    return done
            except (StorageError, OSError):
                # It stays, and is counted in the status; the store says what ails it elsewhere.
                return done
            file.unlink(missing_ok=True)
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
    for _ in range(_ATTEMPTS):
        try:
            data = backend.read_bytes(place)
        except FileNotFoundError:
            count_refusal(location, "reinforced-note-gone", "capture", now)
            return True
        frontmatter = read_frontmatter(data)
        if reinforcement.expected and _is_applied(data, frontmatter, reinforcement):
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
        reinforcement = replace(reinforcement, expected=content_hash(new), count=count)
        replace_whole(file, json.dumps(asdict(reinforcement)))
        try:
            written = backend.write_bytes(place, new, expect=content_hash(data))
        except (ConcurrentModificationError, OwnershipLost):
            continue
        except LockTimeout:
            return False
        _journal(location, reinforcement, written)
        return True
    return False


def _journal(location: VaultLocation, reinforcement: Reinforcement, written: str) -> None:
    """Let git and recall know of the note as it is now."""
    fingerprint, at = reinforcement.fingerprint, reinforcement.at
    append(location, JournalEntry(reinforcement.path, written, fingerprint, at, "capture"))


def _is_applied(data: bytes, frontmatter: Frontmatter, reinforcement: Reinforcement) -> bool:
    """Whether the write that was tried before happened: the note is what it would have become, or
    went on from there."""
    if content_hash(data) == reinforcement.expected:
        return True
    return _occurrences(frontmatter) >= reinforcement.count


def _occurrences(frontmatter: Frontmatter) -> int:
    """How often the text was captured; a note that does not say so, once."""
    text = properties.text_of(frontmatter, "occurrences")
    return int(text) if text is not None and text.isascii() and text.isdecimal() else 1


def _vault_is_free(location: VaultLocation, backend: StorageBackend) -> bool:
    """Whether the vault's lock can be had now. The write that follows takes it itself."""
    try:
        with VaultMutex(backend.identity, location.locks_dir).held(timeout=0):
            return True
    except (StorageError, RuntimeError):
        return False


def _read(file: Path) -> Reinforcement | None:
    try:
        written = json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    return Reinforcement(
        path=written["path"],
        fingerprint=written["fingerprint"],
        at=written["at"],
        tags=tuple(written["tags"]),
        aliases=tuple(written["aliases"]),
        expected=written["expected"],
        count=written["count"],
    )


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
