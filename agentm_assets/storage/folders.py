"""Folders of this machine reached part by part, so that no symbolic link is ever followed.

Every step opens one name inside the folder opened before, with O_NOFOLLOW. A folder that is
swapped for a link meanwhile is refused, since nothing is looked up twice by its whole path.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agentm_assets.storage.seam import NoteUnreadable, StoreUnreachable

SYMLINK_TEXT = (
    "a symbolic link, which agentm does not follow",
    "index the folder it points to as a vault of its own, or put the file here",
)

# O_PATH passes through folders that may be entered but not listed. Only Linux has it.
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ROOT = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC  # the operator may reach the root by a link


@contextmanager
def opened(root: str, parts: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder `parts` below `root`; it can be listed and synced.

    `make` creates what lacks below the root, never the root itself. Raises StoreUnreachable,
    FileNotFoundError when a part is absent or no folder, NoteUnreadable for a link, OSError.
    """
    try:
        folder = os.open(root, _ROOT)
    except OSError as error:
        raise root_gone(root, error) from error
    try:
        for at, part in enumerate(parts):
            last = at == len(parts) - 1
            below = _step(folder, part, "/".join(parts[: at + 1]), make=make, last=last)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def root_gone(root: str, error: OSError) -> StoreUnreachable:
    return StoreUnreachable(
        f"The vault {root} can't be listed ({error.strerror}); check that the folder exists and "
        "is mounted."
    )


def is_link(name: str, folder: int) -> bool:
    """Is `name` in the open `folder` a symbolic link? False when there is nothing."""
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _step(folder: int, part: str, path: str, *, make: bool, last: bool) -> int:
    # Folders that something is made in are opened for syncing; in others only the last is listed.
    flags = _LIST if make or last else _PASS
    try:
        return _enter(folder, part, flags, make=make)
    except OSError as error:
        # A link in the place of a folder gives ENOTDIR or ELOOP, by the system.
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            if is_link(part, folder):
                raise NoteUnreadable("symlink-skipped", *SYMLINK_TEXT, path) from error
            if not make:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from error
        if error.errno == errno.EACCES and last and not make:
            return os.open(part, _PASS, dir_fd=folder)  # a known name in it may still be opened
        raise


def _enter(folder: int, part: str, flags: int, *, make: bool) -> int:
    try:
        return os.open(part, flags, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    try:
        os.mkdir(part, dir_fd=folder)
    except FileExistsError:
        pass  # another writer was quicker, or it is a link that leads nowhere: opening tells
    else:
        os.fsync(folder)
    return os.open(part, flags, dir_fd=folder)
