"""Reading the vault: the one module that walks and opens the operator's files.

Nothing here writes. Symbolic links are never followed, so nothing outside the vault is read and no
loop can form.
"""

import errno
import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agentm_assets.contract.findings import Finding

MAX_NOTE_BYTES = 16 * 1024 * 1024
"""Larger markdown files are exports, not notes; they are reported and left out."""

# Names that sync clients give to the losing side of a conflict: Syncthing, Dropbox, Nextcloud,
# Google Drive and OneDrive style.
_CONFLICT_COPY = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}"
    r"|\((?:[^()]* )?(?:conflicted copy|conflict copy|case conflict)[^()]*\)"
    r"|_conflict-\d{8}-\d{6}"
    r"|\(conflict(?: \d+| [^()]*)?\)",
    re.IGNORECASE,
)


class VaultError(Exception):
    """The vault as a whole can't be read; the text names the path and the cure."""


class NoteUnreadable(Exception):
    """One file can't be read as a note. `code` is the finding's code."""

    def __init__(self, code: str, message: str, cure: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.cure = cure


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A markdown file as the folder listing shows it. `path` is vault-relative, POSIX."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Scan:
    """One walk over the vault: what is there, and what was passed over and why."""

    notes: dict[str, FileEntry]
    attachments: frozenset[str]
    findings: tuple[Finding, ...]
    hidden: int  # markdown files whose own name begins with a dot: passed over, as other tools do
    unknown: tuple[str, ...]  # folders and files whose state can't be seen now: not deleted


def content_hash(data: bytes) -> str:
    """sha256 of a file's bytes, hex."""
    return hashlib.sha256(data).hexdigest()


class Vault:
    """The operator's folder of notes, read-only."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def scan(self, on_folder: Callable[[int], None] | None = None) -> Scan:
        """Walk the vault without following links. `on_folder` hears the count of files so far.

        Raises VaultError when the root is missing or can't be listed.
        """
        notes: dict[str, FileEntry] = {}
        attachments: set[str] = set()
        findings: list[Finding] = []
        unknown: list[str] = []
        hidden = 0
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(self.root / folder if folder else self.root) as listing:
                    entries = sorted(listing, key=lambda e: e.name)
            except OSError as error:
                if not folder:
                    raise VaultError(
                        f"The vault {self.root} can't be listed ({error.strerror}); "
                        "check that the folder exists and is mounted."
                    ) from error
                if not isinstance(error, FileNotFoundError):
                    findings.append(_folder_unreadable(folder))
                    unknown.append(folder)
                continue
            for entry in entries:
                if entry.name.startswith("."):
                    hidden += entry.name.lower().endswith(".md") and not entry.is_dir()
                    continue
                path = f"{folder}/{entry.name}" if folder else entry.name
                if not _is_utf8(path):
                    findings.append(_name_not_utf8(path))
                elif entry.is_symlink():
                    findings.append(_symlink(path))
                elif entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                elif not entry.name.lower().endswith(".md"):
                    attachments.add(path)
                elif not entry.is_file(follow_symlinks=False):
                    findings.append(_not_a_file(path))
                elif _CONFLICT_COPY.search(entry.name):
                    findings.append(_conflict_copy(path))
                else:
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # gone between listing and stat: the next pass sees it or not
                    except OSError as error:
                        findings.append(_no_status(path, error))
                        unknown.append(path)
                        continue
                    notes[path] = FileEntry(path, status.st_size, status.st_mtime_ns)
            if on_folder is not None:
                on_folder(len(notes))
        findings.extend(_case_collisions(notes))
        return Scan(notes, frozenset(attachments), tuple(findings), hidden, tuple(unknown))

    def read_bytes(self, path: str) -> bytes:
        """The bytes of one note.

        Raises NoteUnreadable for a link, a non-file, a file over MAX_NOTE_BYTES or one that the
        process may not read, and FileNotFoundError when it is gone.
        """
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or ".." in parts or "\0" in path:
            raise NoteUnreadable(
                "outside-vault",
                "the path leads out of the vault",
                "give a path relative to the vault, without '..'",
            )
        full = self.root.joinpath(*parts)
        if os.path.realpath(full.parent) != str(full.parent):
            raise NoteUnreadable("symlink-skipped", *_SYMLINK_TEXT)
        try:
            handle = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            raise
        except OSError as error:
            if error.errno == errno.ELOOP:  # what O_NOFOLLOW gives for a link
                raise NoteUnreadable("symlink-skipped", *_SYMLINK_TEXT) from error
            raise NoteUnreadable(
                "unreadable",
                f"the file can't be opened ({error.strerror})",
                "give the user that runs agentm read permission, or exclude the file",
            ) from error
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise NoteUnreadable("not-a-file", *_NOT_A_FILE_TEXT)
            if status.st_size > MAX_NOTE_BYTES:
                raise NoteUnreadable(
                    "too-large",
                    f"the file has {status.st_size} bytes, over the limit of {MAX_NOTE_BYTES}",
                    "split it, or keep it in the vault as it is: it will not be recalled",
                )
            with os.fdopen(handle, "rb", closefd=False) as file:
                return file.read()
        except OSError as error:
            raise NoteUnreadable(
                "unreadable",
                f"the file can't be read ({error.strerror})",
                "check the disk or the mount, then run agentm index again",
            ) from error
        finally:
            os.close(handle)


_SYMLINK_TEXT = (
    "a symbolic link, which agentm does not follow",
    "index the folder it points to as a vault of its own, or put the file here",
)
_NOT_A_FILE_TEXT = (
    "has a note's name but is a device, socket or pipe",
    "rename it if it is not a note",
)


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _name_not_utf8(path: str) -> Finding:
    shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Finding(
        shown, None, "name-not-utf8", "the file's name is not valid UTF-8", "rename the file"
    )


def _symlink(path: str) -> Finding:
    return Finding(path, None, "symlink-skipped", *_SYMLINK_TEXT)


def _not_a_file(path: str) -> Finding:
    return Finding(path, None, "not-a-file", *_NOT_A_FILE_TEXT)


def _folder_unreadable(path: str) -> Finding:
    return Finding(
        path,
        None,
        "folder-unreadable",
        "the folder can't be listed; the notes in it keep the state they had",
        "give the user that runs agentm permission to read and enter the folder",
    )


def _no_status(path: str, error: OSError) -> Finding:
    return Finding(
        path,
        None,
        "unreadable",
        f"the file's status can't be read ({error.strerror}); its note keeps the state it had",
        "check the disk or the mount, then run agentm index again",
    )


def _conflict_copy(path: str) -> Finding:
    return Finding(
        path,
        None,
        "sync-conflict-copy",
        "a copy that a sync client made of a conflict; it is not indexed",
        "merge what it holds into the original, then remove the copy",
    )


def _case_collisions(notes: dict[str, FileEntry]) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for path in sorted(notes):
        key = unicodedata.normalize("NFC", path).casefold()
        if key in first:
            yield Finding(
                path,
                None,
                "path-differs-by-case",
                "another note's path differs from this one only by case or accents' spelling",
                "rename one of the two: some disks can't hold both",
            )
        else:
            first[key] = path
