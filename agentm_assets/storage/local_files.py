"""The verbs over a folder of this machine, shared by the backends that keep notes in one."""

import errno
import os
import stat
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Self

from agentm_assets.storage.folders import SYMLINK_TEXT, opened
from agentm_assets.storage.locator import ROOT, Locator, LocatorInvalid
from agentm_assets.storage.names import NAME_BYTES, check_name, is_hidden
from agentm_assets.storage.personal import PERSONAL, refuse_personal, require_authorization
from agentm_assets.storage.seam import (
    Absent,
    Capabilities,
    ConcurrentModificationError,
    Entry,
    Expect,
    Info,
    NoteUnreadable,
    OwnershipLost,
    PersonalAuthorization,
    StorageBackend,
    StorageError,
    StoreUnreachable,
    WriteRefused,
    content_hash,
)

if TYPE_CHECKING:
    from agentm_assets.storage.mutex import VaultMutex

WATCH_STEP_MS = 50

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER_DESCRIPTORS = "/proc/self/fd"
_NO_HARD_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS})
_NOT_A_FILE_TEXT = (
    "has a note's name but is a device, socket or pipe",
    "rename it if it is not a note",
)
_WRITE_FAILURES = {
    errno.ENOSPC: ("the disk is full, nothing was written", "free some space and try again"),
    errno.EDQUOT: ("the quota is used up, nothing was written", "free some space and try again"),
    errno.EROFS: ("the file system is read-only", "mount it writable, or name another vault"),
    errno.EACCES: ("may not be written", "give the user that runs agentm write permission there"),
    errno.EPERM: ("may not be written", "give the user that runs agentm write permission there"),
    errno.ENAMETOOLONG: ("the name is too long", f"shorten it to under {NAME_BYTES} bytes"),
    errno.ENOTDIR: ("a file stands where a folder is needed", "rename one of the two"),
    errno.EISDIR: ("a folder has that name", "choose another name"),
}


class LocalFiles(StorageBackend):
    """Notes below one folder. Symbolic links below it are never followed, read or written.

    `root` may be reached by links itself. `locks_dir` holds the locks of this machine.
    """

    def __init__(self, root: Path, locks_dir: Path) -> None:
        self._root = os.path.realpath(root)
        self._locks_dir = locks_dir
        self._lock_timeout: float | None = None  # the mutex's own

    @classmethod
    def open(cls, root: str, locks_dir: str) -> Self:
        backend = cls(Path(root), Path(locks_dir))
        backend._require_root()
        return backend

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(concurrent_writers=True)

    @property
    def identity(self) -> str:
        return self._root

    def read_bytes(self, locator: Locator, *, limit: int | None = None) -> bytes:
        path = locator.key
        if not path:
            raise NoteUnreadable("not-a-file", "the place is a folder", "name a file", ".")
        try:
            with self._folder(locator.parent) as folder:
                handle = os.open(locator.name, _READ, dir_fd=folder)
        except FileNotFoundError:
            raise
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise _no_such(path) from error
            if error.errno == errno.ELOOP:  # what O_NOFOLLOW gives for a link
                raise NoteUnreadable("symlink-skipped", *SYMLINK_TEXT, path) from error
            raise NoteUnreadable(
                "unreadable",
                f"the file can't be opened ({error.strerror})",
                "give the user that runs agentm read permission, or exclude the file",
                path,
            ) from error
        try:
            return _contents(handle, path, limit)
        except OSError as error:
            raise NoteUnreadable(
                "unreadable",
                f"the file can't be read ({error.strerror})",
                "check the disk or the mount, then run agentm index again",
                path,
            ) from error
        finally:
            os.close(handle)

    def impatient(self) -> Self:
        other = copy(self)
        other._lock_timeout = 0.0
        return other

    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        return self._put(locator, data, expect)

    def personal_write(
        self, locator: Locator, data: bytes, authorization: PersonalAuthorization, *, expect: Expect
    ) -> str:
        require_authorization(locator, authorization)
        return self._put(locator, data, expect, personal=True)

    def list(self, locator: Locator) -> list[Locator]:
        try:
            with self._folder(locator) as folder:
                folders, entries = _listed(folder, locator.key)
        except (FileNotFoundError, NoteUnreadable):
            return []
        except OSError as error:
            raise _unseen(locator, error) from error
        files = [entry.path for entry in entries if entry.kind == "file"]
        return [Locator(path) for path in sorted([*files, *folders])]

    def exists(self, locator: Locator) -> bool:
        """True for a link too: its name is taken, though nothing is read through it."""
        try:
            self._status(locator)
        except FileNotFoundError:
            return False
        except NoteUnreadable as error:
            return error.path == locator.key  # what is behind a link on the way is not in the store
        return True

    def info(self, locator: Locator) -> Info:
        status = self._status(locator)
        return Info(locator, stat.S_ISDIR(status.st_mode), status.st_size, status.st_mtime)

    def mkdir(self, locator: Locator) -> None:
        self._refuse_personal(locator)
        check_name(locator)
        with _failures_named(locator), self._folder(locator, make=True):
            pass

    def walk(
        self, locator: Locator, on_folder: Callable[[int], None] | None = None
    ) -> Iterator[Entry]:
        files = 0
        pending = [locator.key]
        while pending:
            path = pending.pop()
            try:
                with self._folder(Locator(path)) as folder:
                    folders, entries = _listed(folder, path)
            except (OSError, NoteUnreadable) as error:
                if path == locator.key:
                    raise StoreUnreachable(
                        f"{self._shown(locator)} can't be listed: {error}"
                    ) from error
                if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
                    yield Entry(path, "unlistable", reason=error.strerror or "")
                continue
            pending += folders
            files += sum(entry.kind == "file" for entry in entries)
            yield from entries
            if on_folder is not None:
                on_folder(files)

    def rename_unlinked(self, source: Locator, target: Locator, *, expect: str) -> None:
        for locator in (source, target):
            self._refuse_personal(locator)
            check_name(locator)
        with (
            _failures_named(target),
            self._mutex().held(self._lock_timeout) as ownership,
            self._folder(source.parent) as old,
            self._folder(target.parent, make=True) as new,
        ):
            self._compare(source, expect)
            ownership.check()

            def look() -> None:
                self._compare(target, expect)
                ownership.check()

            _move(source.name, old, target.name, new, look)
            for folder in (new, old):
                os.fsync(folder)

    def watch(self, stop: Callable[[], bool], timeout_ms: int) -> Iterator[frozenset[str]]:
        from watchfiles import watch  # its import costs more than a capture may wait

        self._require_root()
        changes = watch(
            self._root,
            watch_filter=None,
            debounce=timeout_ms,
            step=min(timeout_ms, WATCH_STEP_MS),
            rust_timeout=timeout_ms,
            yield_on_timeout=True,
            raise_interrupt=False,
            stop_event=_Stop(stop),
        )
        for batch in changes:
            keys = (os.path.relpath(path, self._root) for _, path in batch)
            yield frozenset(key for key in keys if not is_hidden(key))

    def _put(self, locator: Locator, data: bytes, expect: Expect, *, personal: bool = False) -> str:
        from agentm_assets.storage.atomic import create_file, replace_file

        if not personal:
            self._refuse_personal(locator)
        check_name(locator)
        with _failures_named(locator), self._folder(locator.parent, make=True) as folder:
            through = self._reached(folder, locator.parent)
            path = through / locator.name
            if isinstance(expect, Absent):
                create_file(path, data)
                return content_hash(data)
            with self._mutex().held(self._lock_timeout) as ownership:

                def last_look() -> None:
                    self._compare(locator, expect)
                    ownership.check()

                def pledge(temp: Path) -> None:
                    # The one that takes over is another process: it needs the path by names.
                    ownership.pledge(Path(self._root, locator.parent.key, temp.name))

                self._compare(locator, expect)
                replace_file(path, data, before_rename=last_look, on_temp=pledge)
        return content_hash(data)

    def _compare(self, locator: Locator, expect: Expect) -> None:
        """Raise unless the file holds what is expected, and may be replaced at all."""
        if not isinstance(expect, str):
            with suppress(FileNotFoundError):
                if not stat.S_ISREG(self._status(locator).st_mode):
                    raise WriteRefused(f"{locator} is no file; choose another name")
            return
        try:
            found = content_hash(self.read_bytes(locator))
        except FileNotFoundError:
            found = ""
        if found != expect:
            raise ConcurrentModificationError(
                f"{locator} changed since it was read; read it again, then write"
            )

    def _mutex(self) -> "VaultMutex":
        from agentm_assets.storage.mutex import VaultMutex

        return VaultMutex(self.identity, self._locks_dir)

    def _folder(self, locator: Locator, *, make: bool = False) -> AbstractContextManager[int]:
        return opened(self._root, locator.parts, make=make)

    def _reached(self, folder: int, locator: Locator) -> Path:
        """A path of the open folder that no swapped link can lead elsewhere (Linux); elsewhere the
        path by names, which held a moment ago."""
        through = Path(_FOLDER_DESCRIPTORS, str(folder))
        return through if through.is_dir() else Path(self._root, locator.key)

    def _status(self, locator: Locator) -> os.stat_result:
        try:
            with self._folder(locator.parent) as folder:
                if not locator.key:
                    return os.fstat(folder)
                status = os.stat(locator.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            raise
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise _no_such(locator.key) from error
            raise _unseen(locator, error) from error
        if stat.S_ISLNK(status.st_mode):
            raise NoteUnreadable("symlink-skipped", *SYMLINK_TEXT, locator.key)
        return status

    def _refuse_personal(self, locator: Locator) -> None:
        """By the name, and by the folder that the file system finds under that name: some take two
        spellings for one."""
        refuse_personal(locator)
        try:
            with self._folder(ROOT) as root:
                first = os.stat(locator.parts[0] if locator.key else ".", dir_fd=root)
                own = os.stat(PERSONAL, dir_fd=root)
        except OSError:
            return  # one of them is absent
        if os.path.samestat(first, own):
            refuse_personal(Locator(PERSONAL))

    def _require_root(self) -> None:
        with self._folder(ROOT):
            pass

    def _shown(self, locator: Locator) -> str:
        return f"{self._root}/{locator}" if locator.key else f"The vault {self._root}"


class _Stop:
    """What watchfiles asks whether to go on."""

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop = stop

    def is_set(self) -> bool:
        return self._stop()


def _contents(handle: int, path: str, limit: int | None) -> bytes:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise NoteUnreadable("not-a-file", *_NOT_A_FILE_TEXT, path)
    if limit is not None and status.st_size > limit:
        raise NoteUnreadable(
            "too-large",
            f"the file has {status.st_size} bytes, over the limit of {limit}",
            "split it, or keep it in the vault as it is: it will not be recalled",
            path,
        )
    with os.fdopen(handle, "rb", closefd=False) as file:
        return file.read()


def _listed(folder: int, path: str) -> tuple[list[str], list[Entry]]:
    """The folders in an open folder, and what else is in it, both in the order of names."""
    folders: list[str] = []
    entries: list[Entry] = []
    with os.scandir(folder) as listing:
        found = sorted(listing, key=lambda entry: entry.name)
    for entry in found:
        name = entry.name
        full = f"{path}/{name}" if path else name
        if name.startswith("."):
            if not entry.is_dir(follow_symlinks=False):
                entries.append(Entry(full, "hidden"))
        elif not name.isascii() and not _is_utf8(name):
            shown = full.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            entries.append(Entry(shown, "nameless", reason="not UTF-8"))
        elif "\\" in name or (name.endswith(":") and not _is_place(full)):
            entries.append(Entry(full, "nameless", reason="no place of a store"))
        elif entry.is_symlink():
            entries.append(Entry(full, "link"))
        elif entry.is_dir(follow_symlinks=False):
            folders.append(full)
        elif (each := _file(entry, full)) is not None:
            entries.append(each)
    return folders, entries


def _file(entry: os.DirEntry[str], path: str) -> Entry | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None  # gone between listing and stat: the next look sees it or not
    except OSError as error:
        return Entry(path, "unseen", reason=error.strerror or "")
    if not stat.S_ISREG(status.st_mode):
        return Entry(path, "other")
    return Entry(path, "file", status.st_size, status.st_mtime_ns)


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_place(key: str) -> bool:
    try:
        Locator(key)
    except LocatorInvalid:
        return False
    return True


@contextmanager
def _failures_named(locator: Locator) -> Iterator[None]:
    """Turn what the system says of a failed write into the place, the reason and the cure."""
    try:
        yield
    except FileExistsError:
        raise
    except NoteUnreadable as error:
        raise WriteRefused(str(error)) from error
    except FileNotFoundError as error:
        raise OwnershipLost(
            f"{locator}: the file or its folder was taken away while it was written; nothing was "
            "written. Try again."
        ) from error
    except OSError as error:
        said = _WRITE_FAILURES.get(
            error.errno or 0,
            (f"can't be written ({error.strerror})", "check the disk or the mount"),
        )
        raise StorageError(f"{locator}: {said[0]}; {said[1]}") from error


def _no_such(path: str) -> FileNotFoundError:
    """Nothing can have a name that the file system does not hold."""
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _unseen(locator: Locator, error: OSError) -> StorageError:
    return StorageError(
        f"{locator.key or 'the vault'} can't be looked at ({error.strerror}); give the user that "
        "runs agentm permission to read and enter the folder"
    )


def _move(source: str, old: int, target: str, new: int, look: Callable[[], None]) -> None:
    """Give the file its new name, never one that is taken, then take the old name away.

    `look` raises unless the file under the new name is the one that was meant and the lock is still
    held. A process may be stopped before any step and go on when another has written: no step
    removes a name without having made sure that it was this very file's.
    """
    try:
        os.link(source, target, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
    except FileExistsError:
        if not _is_one_file(source, old, target, new):
            raise
        # one that was killed has come just so far: both names are the same file's
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # Without hard links the name is reserved by an empty file, which the rename replaces. What
        # another wrote in the last moment is moved, not lost, and `look` says so.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, dir_fd=new))
        os.rename(source, target, src_dir_fd=old, dst_dir_fd=new)
        look()
        return
    moved = os.stat(target, dir_fd=new, follow_symlinks=False)
    try:
        look()
        if not _retire(source, old, moved):
            raise ConcurrentModificationError(
                f"{source} was written while it was moved; it stays where it was. Read it again"
            )
    except BaseException:
        _retire(target, new, moved)
        raise


def _is_one_file(source: str, old: int, target: str, new: int) -> bool:
    """Are these two names of one file? Two spellings that some disks take for one name are not."""
    one_folder = os.path.samestat(os.fstat(old), os.fstat(new))
    if one_folder and _folded(source) == _folded(target):
        return False
    try:
        found = os.stat(source, dir_fd=old, follow_symlinks=False)
        there = os.stat(target, dir_fd=new, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, there) and found.st_nlink > 1


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _retire(name: str, folder: int, file: os.stat_result) -> bool:
    """Take a name away from just this file; False when the name is another's by now.

    The name is first moved to a private one, since what is found there can't be swapped any more.
    Another's file gets its name back at once.
    """
    aside = f".agentm-moved-{os.urandom(8).hex()}"
    try:
        os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        return False
    mine = os.path.samestat(os.stat(aside, dir_fd=folder, follow_symlinks=False), file)
    if not mine:
        try:
            os.link(aside, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError as error:
            raise StorageError(
                f"{name} was written by two others while it was moved; what one of them wrote is "
                f"kept beside it as {aside}"
            ) from error
    os.unlink(aside, dir_fd=folder)
    return mine
