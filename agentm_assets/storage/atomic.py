"""Putting a whole file on the disk, or nothing.

The bytes go to a temp file in the same folder, are synced, and get their name in one step. The temp
file's name says which process writes it and does not grow with the note's, so that a name of 255
bytes can be written and a dead writer's remains can be told from a living one's file.

Standard library only: a capture waits for this import.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agentm_assets.storage.process import Process, this_process

TEMP_NAME = re.compile(r"\.agentm-([0-9a-f]{8})-(\d{1,10})-(\d{1,20})-[0-9a-f]{16}\.tmp")
"""origin, process id, start time, random: at most 71 bytes."""

FOREIGN_REMAINS_SECONDS = 24 * 3600.0
"""A temp file of another machine, container or boot is taken for a remnant when it is this old: its
writer can't be asked, and no write takes that long."""

_NO_HARD_LINKS = frozenset(
    {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
)
_CANT_SYNC_FOLDERS = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF})


def create_file(path: Path, data: bytes, *, root: Path | None = None) -> None:
    """Make the file `path` with `data`: whole, or not at all.

    Folders on the way are made. With `root`, only those below it: a root that is gone (a disk that
    is not mounted) raises FileNotFoundError instead of growing a second vault. Raises
    FileExistsError when anything has that name, a broken link too, and OSError.
    """
    make_folders(path.parent, root=root)
    temp = _write_temp(path.parent, data)
    try:
        try:
            os.link(temp, path, follow_symlinks=False)
        except FileExistsError:
            # A network mount may repeat a request whose answer was lost: then the name is ours.
            if not _same_file(temp, path):
                raise
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            _rename_to_reserved(temp, path)
    finally:
        _remove(temp)
    sync_folder(path.parent)


def replace_file(
    path: Path,
    data: bytes,
    *,
    before_rename: Callable[[], None],
    on_temp: Callable[[Path], None] = lambda temp: None,
) -> None:
    """Put `data` in place of the file `path`, which keeps its mode (and its owner, where we may).

    `on_temp` hears the temp file's path as soon as its bytes are on the disk; `before_rename` is
    the last moment to object: what it raises leaves the old file as it was. Pass
    `Ownership.pledge` and a function that calls `Ownership.check` and compares the bytes once more.
    Raises OSError, FileNotFoundError too when someone took the temp file away.
    """
    temp = _write_temp(path.parent, data, like=path)
    try:
        on_temp(temp)
        before_rename()
        temp.replace(path)
    finally:
        _remove(temp)
    sync_folder(path.parent)


def make_folders(folder: Path, *, root: Path | None = None) -> None:
    """Make `folder` and those above it, each on the disk before the next.

    With `root`, nothing above or at it is made. Raises FileNotFoundError when the root is absent,
    NotADirectoryError where a file is in the way.
    """
    missing: list[Path] = []
    while not folder.is_dir():
        if folder == root or folder == folder.parent:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
        missing.append(folder)
        folder = folder.parent
    for folder in reversed(missing):
        try:
            folder.mkdir()
        except FileExistsError as error:
            if not folder.is_dir():
                raise NotADirectoryError(
                    errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)
                ) from error
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Have the folder's names on the disk, where the file system can promise that."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANT_SYNC_FOLDERS:
            raise
    finally:
        os.close(handle)


def sweep_temps(root: Path, *, now: float | None = None) -> int:
    """Remove the temp files below `root` whose writers are dead; returns how many.

    A living writer's file stays, and so does one whose writer can't be asked, for a day (`now` in
    seconds since the epoch). Folders whose name begins with a dot, and links, are not entered. What
    can't be listed or removed is left for the next time.
    """
    now = time.time() if now is None else now
    removed = 0
    pending = [str(root)]
    while pending:
        try:
            with os.scandir(pending.pop()) as listing:
                entries = list(listing)
        except OSError:
            continue
        for entry in entries:
            if not entry.name.startswith("."):
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
            elif _is_remnant(entry, now):
                with suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108 - the entry's path is text
                    removed += 1
    return removed


def _is_remnant(entry: os.DirEntry[str], now: float) -> bool:
    named = TEMP_NAME.fullmatch(entry.name)
    if named is None or not entry.is_file(follow_symlinks=False):
        return False
    lives = Process(named[1], int(named[2]), int(named[3])).lives()
    if lives is not None:
        return not lives
    try:
        return now - entry.stat(follow_symlinks=False).st_mtime > FOREIGN_REMAINS_SECONDS
    except OSError:
        return False


def _temp_path(folder: Path) -> Path:
    writer = this_process()
    unique = os.urandom(8).hex()
    return folder / f".agentm-{writer.origin}-{writer.pid}-{writer.start}-{unique}.tmp"


def _write_temp(folder: Path, data: bytes, *, like: Path | None = None) -> Path:
    temp = _temp_path(folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temp, flags, 0o666)  # the umask takes from it what it takes from any file
    try:
        if like is not None:
            _take_after(handle, like)
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    except BaseException:
        os.close(handle)
        _remove(temp)
        raise
    os.close(handle)
    return temp


def _take_after(handle: int, old: Path) -> None:
    """Give the temp file the old one's mode, and its owner where the system lets us."""
    try:
        wanted = old.lstat()
    except FileNotFoundError:
        return
    mine = os.fstat(handle)
    if (wanted.st_uid, wanted.st_gid) != (mine.st_uid, mine.st_gid):
        with suppress(PermissionError):
            os.fchown(handle, wanted.st_uid, wanted.st_gid)
    os.fchmod(handle, stat.S_IMODE(wanted.st_mode))


def _rename_to_reserved(temp: Path, path: Path) -> None:
    """Reserve the name where the file system has no hard links, then put the file there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    os.close(os.open(path, flags, 0o666))
    try:
        temp.replace(path)
    except BaseException:
        _remove(path)  # the empty file is our own reservation
        raise


def _same_file(temp: Path, path: Path) -> bool:
    try:
        return os.path.samestat(temp.lstat(), path.lstat())
    except OSError:
        return False


def _remove(path: Path) -> None:
    # The file is in place, or the error that is under way says more than this one would; what
    # stays is swept later.
    with suppress(OSError):
        path.unlink()
