"""The files of a folder that may be session logs, mails or pages."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.personal import is_personal

_SUFFIXES: Final = frozenset({".jsonl", ".json", ".eml", ".mbox", ".html", ".htm", ".xhtml"})
_MAIL_FOLDERS: Final = frozenset({"cur", "new"})
"""Of a Maildir, whose mails have no suffix."""

_PASSED_OVER: Final = frozenset(
    {".git", "node_modules", "__pycache__", "subagents", "tool-results", "workflows"}
)
"""Folders that hold no sessions of their own, those beside a log of Claude Code among them."""

_FULL, _SHORT = "transcript_full.jsonl", "transcript.jsonl"


def files_in(folder: Path, vault: Path) -> Iterator[Path]:
    """Candidates below a folder, by path. No symbolic link is followed, and the vault is no source
    of its own."""
    for parent, folders, names in os.walk(folder):
        if Path(parent).is_relative_to(vault):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
        for name in sorted(names):
            suffix = Path(name).suffix.lower()
            if suffix not in _SUFFIXES and Path(parent).name not in _MAIL_FOLDERS:
                continue
            if name == _FULL and _SHORT in names:
                continue  # the same session once more
            if suffix == ".json" and f"{name}l" in names:
                continue  # what it was before the log beside it took over
            file = Path(parent, name)
            if file.is_file() and not file.is_symlink():
                yield file


def is_private(root: Path, path: str) -> bool:
    """Does an absolute path lead into the operator's own space of the vault at `root`?"""
    if not path.startswith("/") or "\0" in path:
        return False
    real = Path(os.path.realpath(path))
    for candidate in (real, Path(os.path.normpath(path))):
        try:
            inside = candidate.relative_to(root)
            if is_personal(Locator(inside.as_posix() if inside.parts else "")):
                return True
        except (ValueError, LocatorInvalid):
            continue
    return False
