"""Which process wrote something, and whether it still lives.

A process id alone says little: it is used again, and it means another process in another
container or after a restart. So an id goes with the time its process started, and with a mark of
the boot and the process table that it is counted in.
"""

import os
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

_PROC = "/proc"
_START_FIELD = 22 - 3  # proc_pid_stat(5): field 22, counted behind the name's closing bracket
_ENDED = (b"Z", b"X", b"x")


@dataclass(frozen=True, slots=True)
class Process:
    """`origin`: 8 hex digits of the boot and the process table; `start`: clock ticks since the
    boot, 0 where the system does not tell."""

    origin: str
    pid: int
    start: int

    def lives(self) -> bool | None:
        """Whether it still runs; None when that can't be seen from here (another machine, another
        boot, another container)."""
        if self.origin != this_process().origin:
            return None
        start = _start(self.pid)
        if start is not None:
            return start == self.start
        try:
            os.kill(self.pid, 0)  # sends nothing (POSIX kill, null signal)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


def this_process() -> Process:
    """The calling process; right in a forked child too."""
    return _process(os.getpid())


@lru_cache(maxsize=1)
def _process(pid: int) -> Process:
    mark = sha256(os.uname().nodename.encode())
    for source in (_read(f"{_PROC}/sys/kernel/random/boot_id"), _link(f"{_PROC}/self/ns/pid")):
        mark.update(b"\0" + source)
    return Process(mark.hexdigest()[:8], pid, _start(pid) or 0)


def _start(pid: int) -> int | None:
    """When the process started, -1 for one that has ended but is still listed; None when nothing
    says (no such process, one of another user's that is hidden, or no Linux)."""
    fields = _read(f"{_PROC}/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) <= _START_FIELD:
        return None
    return -1 if fields[0] in _ENDED else int(fields[_START_FIELD])


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - half the time of Path, and a capture waits
            return file.read()
    except OSError:
        return b""


def _link(path: str) -> bytes:
    try:
        return os.fsencode(os.readlink(path))  # noqa: PTH115
    except OSError:
        return b""
