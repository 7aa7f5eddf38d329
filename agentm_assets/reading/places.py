"""Paths that operators and agents name, checked before anything is opened."""

from collections.abc import Sequence

from agentm_assets.contract.excludes import is_excluded
from agentm_assets.reading.errors import ReadingRefused
from agentm_assets.storage.locator import Locator, LocatorInvalid

_LONGEST_PATH = 4_096  # bytes, PATH_MAX of Linux
_LONGEST_NAME = 255  # bytes, what common file systems allow
_SHOWN = 80  # characters of a path repeated in an error


def note_path(path: str, excludes: Sequence[str]) -> str:
    """The vault-relative path of a note as it may be read. Raises ReadingRefused.

    Hidden files hold what is no note (a repository's configuration), and what the rules exclude
    stays hidden here too.
    """
    try:
        locator = Locator(path)
        size = len(path.encode("utf-8"))
    except LocatorInvalid as error:
        raise ReadingRefused(
            f"the path {shown(path)} can't be used: {error}. Give it as a hit shows it, "
            "for instance Agent/memory/semantic/2026/08/kettle.md."
        ) from error
    except UnicodeEncodeError as error:
        raise ReadingRefused("the path is not valid UTF-8. Give it as a hit shows it.") from error
    if not locator.parts:
        raise ReadingRefused("the path is empty. Give the path of a note, as a hit shows it.")
    longest = max(len(part.encode("utf-8")) for part in locator.parts)
    if size > _LONGEST_PATH or longest > _LONGEST_NAME:
        raise ReadingRefused(f"the path {shown(path)} is longer than any note's. Shorten it.")
    if any(part.startswith(".") for part in locator.parts):
        raise ReadingRefused(f"{shown(path)} is hidden by a dot, so it is no note.")
    if is_excluded(locator.key, excludes):
        raise ReadingRefused(
            f"{shown(path)} is hidden by `excludes` in the storage rules. Take the pattern out "
            "there to read it."
        )
    return locator.key


def shown(path: str) -> str:
    """A path for an error: quoted, without control characters, cut when it is long."""
    cut = path if len(path) <= _SHOWN else path[:_SHOWN] + "…"
    return repr("".join(c if c.isprintable() else "\ufffd" for c in cut))
