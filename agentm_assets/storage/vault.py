"""The vault as the index and recall read it: notes, attachments, and what is passed over.

A face over a storage backend, which does the walking and the opening. Nothing here writes.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentm_assets.contract.findings import Finding
from agentm_assets.storage.folders import SYMLINK_TEXT
from agentm_assets.storage.locator import ROOT, Locator, LocatorInvalid
from agentm_assets.storage.rules_file import RulesFile, find_rules_file
from agentm_assets.storage.seam import (
    Entry,
    NoteUnreadable,
    StorageBackend,
    content_hash,
)

__all__ = [
    "MAX_NOTE_BYTES",
    "FileEntry",
    "NoteUnreadable",
    "Scan",
    "Vault",
    "content_hash",
]

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


class Vault:
    """The operator's notes, read-only."""

    def __init__(self, store: StorageBackend) -> None:
        self.store = store

    def scan(self, on_folder: Callable[[int], None] | None = None) -> Scan:
        """Walk the vault without following links. `on_folder` hears the count of notes so far.

        Raises StoreUnreachable when the root is missing or can't be listed.
        """
        notes: dict[str, FileEntry] = {}
        attachments: set[str] = set()
        findings: list[Finding] = []
        unknown: list[str] = []
        hidden = 0

        def counted(files: int) -> None:
            if on_folder is not None:
                on_folder(len(notes))

        for entry in self.store.walk(ROOT, counted):
            path, kind = entry.path, entry.kind
            is_note = path[-3:].lower() == ".md"
            if kind == "file" and is_note:
                if _CONFLICT_COPY.search(path, path.rfind("/") + 1):
                    findings.append(_finding(entry, "sync-conflict-copy"))
                else:
                    notes[path] = FileEntry(path, entry.size, entry.mtime_ns)
            elif kind == "hidden":
                hidden += is_note
            elif not is_note and kind in _WHATEVER_IT_IS:
                attachments.add(path)
            else:
                findings.append(_finding(entry, _CODES[kind]))
                if kind in ("unlistable", "unseen"):
                    unknown.append(path)
        findings.extend(_case_collisions(notes))
        return Scan(notes, frozenset(attachments), tuple(findings), hidden, tuple(unknown))

    def rules_file(self, name: str, *, limit: int) -> RulesFile | None:
        """The vault's rules file of that name, None where there is surely none."""
        return find_rules_file(self.store, name, limit=limit)

    def read_bytes(self, path: str) -> bytes:
        """The bytes of one note.

        Raises NoteUnreadable for a link, a non-file, a file over MAX_NOTE_BYTES or one that the
        process may not read, and FileNotFoundError when it is gone.
        """
        try:
            locator = Locator(path)
        except LocatorInvalid as error:
            raise NoteUnreadable("outside-vault", *_OUTSIDE_TEXT) from error
        if locator == ROOT:
            raise NoteUnreadable("outside-vault", *_OUTSIDE_TEXT)
        return self.store.read_bytes(locator, limit=MAX_NOTE_BYTES)


_WHATEVER_IT_IS = ("file", "other", "unseen")
"""What is no note is only known by its name, so its state does not matter."""

_OUTSIDE_TEXT = (
    "the path leads out of the vault",
    "give a path relative to the vault, without '..'",
)
_CODES = {
    "link": "symlink-skipped",
    "other": "not-a-file",
    "unlistable": "folder-unreadable",
    "unseen": "unreadable",
    "nameless": "name-not-utf8",
}
_TEXTS = {
    "symlink-skipped": SYMLINK_TEXT,
    "not-a-file": (
        "has a note's name but is a device, socket or pipe",
        "rename it if it is not a note",
    ),
    "folder-unreadable": (
        "the folder can't be listed; the notes in it keep the state they had",
        "give the user that runs agentm permission to read and enter the folder",
    ),
    "unreadable": (
        "the file's status can't be read ({reason}); its note keeps the state it had",
        "check the disk or the mount, then run agentm index again",
    ),
    "name-not-utf8": ("the file's name is not valid UTF-8", "rename the file"),
    "name-unusable": (
        "the file's name holds a backslash or is a drive's, which other systems take for a path",
        "rename the file",
    ),
    "sync-conflict-copy": (
        "a copy that a sync client made of a conflict; it is not indexed",
        "merge what it holds into the original, then remove the copy",
    ),
}


def _finding(entry: Entry, code: str) -> Finding:
    if entry.kind == "nameless" and "\ufffd" not in entry.path:
        code = "name-unusable"
    message, cure = _TEXTS[code]
    return Finding(entry.path, None, code, message.format(reason=entry.reason), cure)


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
