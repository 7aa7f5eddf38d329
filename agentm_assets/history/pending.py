"""Writes of this machine that git may not have yet: a file a run in `log/pending-writes/`.

A run enters each write before it makes it, and takes its file away when its commit is made. A file
that stays was left by a run that was killed, or that git could not serve: the next pass logs and
commits what really is on the disk.
"""

import errno
import os
from dataclasses import dataclass, field
from pathlib import Path

from agentm_assets.capture.files import replace_whole
from agentm_assets.config.vault import VaultLocation
from agentm_assets.history.revert_log import Change, parse
from agentm_assets.storage.process import Process, this_process

_WRITER, _LEFT = b"writer ", b"left"


@dataclass(slots=True)
class PendingWrites:
    """The file of one run. Nothing is made before the first write is entered."""

    file: Path
    _entered: bool = field(default=False, init=False)

    def enter(self, change: Change) -> None:
        """Note a write that is about to be made; on return it is on the disk. Raises OSError."""
        line = change.line().encode("utf-8", "replace") + b"\n"
        if self._entered:
            self._append(line)
            return
        # The file appears with its writer's name in it: an empty one would be taken for that of a
        # run that is over.
        me = this_process()
        self.file.parent.mkdir(parents=True, exist_ok=True)
        replace_whole(self.file, f"writer {me.origin} {me.pid} {me.start}\n".encode() + line)
        self._entered = True

    def leave(self) -> None:
        """Leave the writes to the next pass, though this process goes on. Raises OSError."""
        if self._entered:
            self._append(_LEFT + b"\n")

    def close(self) -> None:
        """git has the writes, or never will."""
        self.file.unlink(missing_ok=True)

    def _append(self, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        handle = os.open(self.file, flags, 0o666)
        try:
            if os.write(handle, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.file))
            os.fsync(handle)
        finally:
            os.close(handle)


@dataclass(frozen=True, slots=True)
class Abandoned:
    """What a run that is over meant to write, oldest first."""

    pending: PendingWrites
    changes: tuple[Change, ...]


def pending_of(location: VaultLocation, run_id: str) -> PendingWrites:
    return PendingWrites(_folder(location) / f"{run_id}.{os.urandom(4).hex()}.jsonl")


def abandoned(location: VaultLocation) -> list[Abandoned]:
    """The runs that left writes behind, the oldest first. Raises OSError."""
    found: list[tuple[int, Abandoned]] = []
    for file in _folder(location).glob("*.jsonl"):
        try:
            age, lines = file.stat().st_mtime_ns, file.read_bytes().split(b"\n")
        except FileNotFoundError:
            continue  # its run ended well in this moment
        if _LEFT in lines or _has_ended(lines[0]):
            changes = tuple(change for change in map(parse, lines) if change is not None)
            found.append((age, Abandoned(PendingWrites(file), changes)))
    return [each for _, each in sorted(found, key=lambda each: each[0])]


def _folder(location: VaultLocation) -> Path:
    return location.log_dir / "pending-writes"


def _has_ended(line: bytes) -> bool:
    """Whether the writer is over. One of an earlier boot can't be asked and is: the folder is this
    machine's own."""
    parts = line.removeprefix(_WRITER).split()
    try:
        writer = Process(parts[0].decode("ascii"), int(parts[1]), int(parts[2]))
    except (IndexError, ValueError):
        return True
    return not writer.lives()
