"""The lock that keeps a second launcher out of a Dagster home.

Two daemons on one home run every schedule twice and corrupt its run storage. The servers inherit
the lock, so that those which outlive a killed launcher keep others out, too. While it is held the
file names the processes; an orderly end empties it.
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_LONGEST = 1000


class ServersRunning(Exception):
    """The lock is held. `processes` are the ids of those that hold it, as far as they are known."""

    def __init__(self, processes: str) -> None:
        super().__init__(processes)
        self.processes = processes


@dataclass(frozen=True, slots=True)
class ServerLock:
    """The lock, held. `descriptor` is for the servers to inherit; `unclean` tells that those before
    were killed, so that their runs may still count as running."""

    descriptor: int
    unclean: bool

    def name(self, processes: Sequence[int]) -> None:
        """Say in the file who holds the lock."""
        text = " ".join(map(str, processes)).encode()
        os.pwrite(self.descriptor, text, 0)
        os.ftruncate(self.descriptor, len(text))

    def clear(self) -> None:
        """Say that nothing is left to be cleaned up."""
        os.ftruncate(self.descriptor, 0)


def lock_file(home: Path) -> Path:
    return home / "agentm-up.lock"


@contextmanager
def server_lock(home: Path) -> Iterator[ServerLock]:
    """Hold the lock of `home`. Raises ServersRunning, OSError."""
    descriptor = os.open(lock_file(home), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        named = os.pread(descriptor, _LONGEST, 0).decode()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ServersRunning(named) from error
        yield ServerLock(descriptor, bool(named))
    finally:
        os.close(descriptor)


def after_unclean_end(home: Path, clean_up: Callable[[], None]) -> None:
    """Call `clean_up` when the servers of `home` were killed and nobody has cleaned up since. Costs
    one stat when they were not. Raises OSError."""
    try:
        if not lock_file(home).stat().st_size:
            return
        with server_lock(home) as lock:
            if lock.unclean:
                clean_up()
                lock.clear()
    except (FileNotFoundError, ServersRunning):
        return
