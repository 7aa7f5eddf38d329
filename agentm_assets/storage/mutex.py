"""The lock under which the files of one vault are rewritten, between processes and threads.

It stands outside the vault, in a folder of its own on this machine. There, the file `owner` *is*
the lock: it holds a random token, and whoever wrote that token owns the vault's rewriting. The
owner also keeps a kernel lock (flock) on that very file, which says "I live" and ends with the
process however it ends; and it renews a heartbeat in it.

When another may take over:

- The kernel lock on `owner` is free, or its process is known to be dead: at once.
- The kernel lock is held and the heartbeat is fresh: never. A slow owner is no dead owner.
- The kernel lock is held but the heartbeat has been silent for `STALE_AFTER`: yes. The heartbeat is
  a thread that does nothing else, so its silence means that the whole process is stopped, frozen or
  stuck on a mount that hangs. Nobody knows whether it comes back, and the vault must not wait for
  that. Where the file system has no kernel locks, this rule and the process id are all there is.

Such an owner may come back. Three things make it harmless:

- `Ownership.check()`, called last before a rename, compares the token and raises OwnershipLost.
- An owner that stops *between* that check and its rename has pledged its temp file before
  (`Ownership.pledge`); the one that takes over removes that file, so the late rename fails.
- Releasing removes `owner` only while it holds the own token.

Judging an owner and removing its file happen under a second kernel lock, `guard`, held for an
instant, so that of two waiters who judge the same owner dead only one acts and no fresh lock is
removed. Without kernel locks the file is moved aside first and looked at then; a fresh one is put
back, and its owner at worst has to try again.

The lock is not re-entrant: a thread that holds it and asks again would wait for itself, so that
raises AlreadyHeld. Threads of one process exclude each other like processes. A forked child does
not own what its parent owns.
"""

import errno
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from agentm_assets.storage.atomic import TEMP_NAME
from agentm_assets.storage.process import Process, this_process
from agentm_assets.storage.seam import LockTimeout, OwnershipLost, StorageError

ACQUIRE_TIMEOUT = 10.0
HEARTBEAT_EVERY = 5.0
STALE_AFTER = 10.0
"""Seconds (design: storage, write protocol)."""

_FIRST_WAIT, _LONGEST_WAIT = 0.001, 0.05
_GUARD_WAIT = 1.0
_REMAINS_SECONDS = 3600.0
_NO_KERNEL_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
_BEAT_WIDTH = 24
_held_here = threading.local()


class AlreadyHeld(RuntimeError):
    """This thread holds the lock and asked for it again: it would wait for itself."""


@dataclass(frozen=True, slots=True)
class _Owner:
    """What the file `owner` says. `beat` by the clock of the owner's boot, in seconds."""

    token: str
    process: Process
    beat: float
    pledge: str


class Ownership:
    """The right to rewrite files of the vault, while it lasts."""

    def __init__(self, mutex: "VaultMutex", handle: int, token: str, head: int) -> None:
        self._mutex = mutex
        self._handle = handle
        self._token = token
        self._head = head  # bytes before the heartbeat
        self._pid = os.getpid()

    def check(self) -> None:
        """Raise OwnershipLost when the lock went to another. Call it last before a rename."""
        if os.getpid() != self._pid or self._mutex.read_token() != self._token:
            raise OwnershipLost(
                "this process was away so long that another took the vault's lock over; nothing "
                "was written. Run the command again."
            )

    def pledge(self, temp: Path) -> None:
        """Note the temp file that is about to be renamed; whoever takes over removes it."""
        written = os.fsencode(temp) + b"\0"
        os.pwrite(self._handle, written, self._head + _BEAT_WIDTH + 1)

    def beat(self) -> None:
        """Say "I live"."""
        text = f"{self._mutex.clock():{_BEAT_WIDTH}.6f}"
        os.pwrite(self._handle, text.encode("ascii"), self._head)

    def _let_go(self, wait: float) -> None:
        try:
            # When the guard is not to be had, or the folder is gone, the kernel lock that is freed
            # below tells the next one the same.
            with suppress(OSError), self._mutex.guarded(wait) as guarded:
                mine = os.getpid() == self._pid and self._mutex.read_token() == self._token
                if guarded and mine:
                    self._mutex.remove_owner(self._token)
        finally:
            os.close(self._handle)


class VaultMutex:
    """One vault's lock. Cheap to make: nothing is touched before `held`.

    `identity` tells the vault (StorageBackend.identity); `locks_dir` is the folder of all locks,
    on this machine (`<cache>/agentm/locks`). `clock` and `sleep` count seconds.
    """

    def __init__(
        self,
        identity: str,
        locks_dir: Path,
        *,
        timeout: float = ACQUIRE_TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.folder = locks_dir / sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()
        self.clock = clock
        self._timeout = timeout
        self._sleep = sleep
        self._owner_file = self.folder / "owner"
        self._first_seen: tuple[str, float, float] = ("", 0.0, 0.0)  # token, beat, when

    @contextmanager
    def held(self, timeout: float | None = None) -> Iterator[Ownership]:
        """Own the lock for the block. `timeout` in seconds; 0 tries once.

        Raises LockTimeout, AlreadyHeld when this thread holds it, StorageError when the folder of
        locks can't be used. What happens to the lock meanwhile, `Ownership.check` says.
        """
        mine: set[tuple[int, Path]] = _held_here.__dict__.setdefault("locks", set())
        key = (os.getpid(), self.folder)
        if key in mine:
            raise AlreadyHeld("this thread holds the vault's lock already")
        try:
            wait = self._timeout if timeout is None else timeout
            ownership = self._acquire(wait)
        except OSError as error:
            raise StorageError(
                f"the folder of locks {self.folder} can't be used ({error.strerror}). Make it "
                "writable, or set XDG_CACHE_HOME to a folder on this machine that is."
            ) from error
        mine.add(key)
        try:
            with _heartbeat(ownership):
                yield ownership
        finally:
            mine.discard(key)
            ownership._let_go(min(wait, _GUARD_WAIT))

    def read_token(self) -> str | None:
        """The present owner's token; None when nobody owns it or the file can't be read."""
        owner = _read_owner(self._owner_file)
        return owner.token if owner else None

    def remove_owner(self, token: str) -> bool:
        """Take the owner's file away if it holds `token`; False when it was another's.

        The temp file that this owner pledged goes with it.
        """
        aside = self.folder / f"gone.{os.urandom(8).hex()}"
        try:
            self._owner_file.rename(aside)
        except FileNotFoundError:
            return False
        found = _read_owner(aside)
        ours = (found.token if found else "") == token
        if not ours:
            # Only without kernel locks can it have changed hands since we looked.
            with suppress(FileExistsError):
                os.link(aside, self._owner_file)
                aside.unlink()
                return False
        if found is not None and TEMP_NAME.fullmatch(os.path.basename(found.pledge)):  # noqa: PTH119
            with suppress(OSError):
                os.unlink(found.pledge)  # noqa: PTH108
        aside.unlink()
        return ours

    @contextmanager
    def guarded(self, wait: float) -> Iterator[bool]:
        """Hold the guard; False when it was not to be had within `wait` seconds."""
        handle = os.open(self.folder / "guard", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            deadline = time.monotonic() + wait
            while (got := _lock(handle)) is False and time.monotonic() < deadline:
                time.sleep(_FIRST_WAIT)
            yield got is not False
        finally:
            os.close(handle)

    def _acquire(self, timeout: float) -> Ownership:
        self.folder.mkdir(parents=True, exist_ok=True)
        deadline = self.clock() + timeout
        wait = _FIRST_WAIT
        token = os.urandom(16).hex()
        candidate = self.folder / f"owner.{token}"
        handle, head = self._write_candidate(candidate, token)
        ownership = Ownership(self, handle, token, head)
        try:
            while True:
                ownership.beat()
                try:
                    os.link(candidate, self._owner_file)
                    return ownership
                except FileExistsError:
                    if self._clear_the_way():
                        continue
                if self.clock() >= deadline:
                    raise LockTimeout(self._who_holds_it(timeout))
                self._sleep(wait * (0.5 + os.urandom(1)[0] / 256))
                wait = min(2 * wait, _LONGEST_WAIT)
        except BaseException:
            os.close(handle)
            raise
        finally:
            candidate.unlink(missing_ok=True)

    def _write_candidate(self, candidate: Path, token: str) -> tuple[int, int]:
        handle = os.open(candidate, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _lock(handle)
            me = this_process()
            head = f"agentm-lock-1 {token} {me.origin} {me.pid} {me.start} ".encode("ascii")
            text = head + b" " * _BEAT_WIDTH + b"\n\0"
            if os.write(handle, text) < len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(candidate))
        except BaseException:
            os.close(handle)
            candidate.unlink(missing_ok=True)
            raise
        return handle, len(head)

    def _clear_the_way(self) -> bool:
        """Remove the owner's file if its owner is dead or stale. True: try again at once."""
        if not self._is_forfeit(_read_owner(self._owner_file)):
            return False
        with self.guarded(0.0) as guarded:
            if not guarded:
                return False
            owner = _read_owner(self._owner_file)  # another may have been quicker
            if not self._is_forfeit(owner):
                return False
            self._remove_remains()
            return self.remove_owner(owner.token if owner else "")

    def _is_forfeit(self, owner: _Owner | None) -> bool:
        try:
            handle = os.open(self._owner_file, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            free = _lock(handle)
            if free:
                # Unless it was let go, or went to another, between reading and locking.
                current = _read_owner(self._owner_file)
                return (current.token if current else None) == (owner.token if owner else None)
        finally:
            os.close(handle)
        if owner is None:
            return free is None and self._silent_for("", 0.0) >= STALE_AFTER
        if owner.process.lives() is False:
            return True
        silent = self._silent_for(owner.token, owner.beat)
        if owner.process.origin == this_process().origin:
            silent = max(silent, self.clock() - owner.beat)  # one monotonic clock a boot
        return silent >= STALE_AFTER

    def _silent_for(self, token: str, beat: float) -> float:
        """For how long this waiter has seen the same heartbeat, in seconds."""
        now = self.clock()
        if self._first_seen[:2] != (token, beat):
            self._first_seen = (token, beat, now)
        return now - self._first_seen[2]

    def _remove_remains(self) -> None:
        """Files that a killed process left beside the lock. None is a lock any more."""
        oldest = time.time() - _REMAINS_SECONDS
        for file in self.folder.iterdir():
            if file.name.startswith(("owner.", "gone.")):
                with suppress(OSError):
                    if file.stat().st_mtime < oldest:
                        file.unlink()

    def _who_holds_it(self, timeout: float) -> str:
        owner = _read_owner(self._owner_file)
        who = f" (process {owner.process.pid})" if owner else ""
        return (
            f"another process{who} is writing to the vault and did not finish within "
            f"{timeout:g} s. Try again; if it hangs, end that process."
        )


@contextmanager
def _heartbeat(ownership: Ownership) -> Iterator[None]:
    ended = threading.Event()

    def keep_beating() -> None:
        while not ended.wait(HEARTBEAT_EVERY):
            ownership.beat()

    pulse = threading.Thread(target=keep_beating, daemon=True)
    pulse.start()
    try:
        yield
    finally:
        ended.set()
        pulse.join()


def _lock(handle: int) -> bool | None:
    """Try the kernel lock: True got, False held by another, None when there is no such thing."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_KERNEL_LOCKS:
            return None
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True


def _read_owner(file: Path) -> _Owner | None:
    """What an owner's file says; None when it is absent or says nothing of sense."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.read(handle, 1 << 14)
    finally:
        os.close(handle)
    head, _, pledge = data.partition(b"\n")
    fields = head.split()
    if len(fields) != 6 or fields[0] != b"agentm-lock-1":
        return None
    try:
        token, origin = fields[1].decode("ascii"), fields[2].decode("ascii")
        process = Process(origin, int(fields[3]), int(fields[4]))
        beat = float(fields[5])
    except ValueError:
        return None
    return _Owner(token, process, beat, os.fsdecode(pledge.partition(b"\0")[0]))
