"""The file that a run writes on the operator's word: looked at before the first question, written
whole after the last.

Nothing is overwritten but an earlier result, and nothing is put into the vault that is measured:
that would change what is measured, and personal/ is never written by a program.
"""

import errno
import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentm_assets.evaluation.saved import ResultUnusable, parse_result
from agentm_assets.storage.atomic import create_file, replace_file

_CURE = "Name a file in a folder that you can write, outside the vault."


class DestinationRefused(Exception):
    """A file may not or can't be written; the text says which option, why, and the cure."""


@dataclass(frozen=True, slots=True)
class Destination:
    """`file`: absolute, its folder without symlinks. `earlier`: the bytes of the result that
    stands there and may be replaced, None where there is nothing."""

    file: Path
    earlier: bytes | None

    def write(self, text: str) -> None:
        """Whole or not at all. Raises OSError; FileExistsError when someone else has written the
        file since it was looked at."""
        data = text.encode("utf-8", "replace")
        if self.earlier is None:
            create_file(self.file, data, root=self.file.parent)
        else:
            replace_file(self.file, data, before_rename=self._require_unchanged)

    def _require_unchanged(self) -> None:
        if self.file.is_symlink() or self.file.read_bytes() != self.earlier:
            raise FileExistsError(
                errno.EEXIST, "someone else has changed it meanwhile", str(self.file)
            )


def destination(
    option: Literal["--out", "--write-questions"],
    file: Path,
    *,
    vault: Path | None,
    asked: Path | None = None,
) -> Destination:
    """Where `option` will write. `vault`: the folder that is measured; `asked`: the file that the
    questions come from.

    An existing file is refused, but for an earlier result with --out. The folder is tried with a
    file that has no name, or has it for a moment. Raises DestinationRefused.
    """
    place = Path(os.path.realpath(file.parent)) / file.name
    where = f"{option} {file}"
    if vault is not None and _lies_in(place, vault):
        raise DestinationRefused(
            f"{where} lies in the vault {vault}, which is only read here. Name a file outside it."
        )
    try:
        found = place.lstat()
    except FileNotFoundError:
        found = None
    except OSError as error:
        raise DestinationRefused(f"{where} can't be written: {error.strerror}. {_CURE}") from error
    earlier = None if found is None else _earlier(option, where, place, found, asked)
    try:
        with tempfile.TemporaryFile(dir=place.parent):
            pass
    except FileNotFoundError as error:
        raise DestinationRefused(
            f"{where} can't be written: there is no folder {place.parent}. Make it first, or name "
            "another."
        ) from error
    except OSError as error:
        raise DestinationRefused(f"{where} can't be written: {error.strerror}. {_CURE}") from error
    return Destination(place, earlier)


def _earlier(
    option: str, where: str, place: Path, found: os.stat_result, asked: Path | None
) -> bytes:
    """The bytes of a result that may be replaced."""
    if stat.S_ISLNK(found.st_mode):
        raise DestinationRefused(f"{where} is a symlink. Name the file itself, or a new one.")
    if asked is not None and os.path.samestat(found, asked.stat()):
        raise DestinationRefused(f"{where} is the file that is asked. Name another.")
    if option != "--out" or not stat.S_ISREG(found.st_mode):
        raise DestinationRefused(f"{where} exists and is not overwritten. Name a new file.")
    try:
        data = place.read_bytes()
        parse_result(data, str(place))
    except OSError as error:
        raise DestinationRefused(f"{where} can't be read: {error.strerror}. {_CURE}") from error
    except ResultUnusable as error:
        raise DestinationRefused(
            f"{where} exists and is no earlier result of `agentm eval`, so it is not overwritten. "
            "Name a new file."
        ) from error
    return data


def _lies_in(place: Path, vault: Path) -> bool:
    """By name or by identity: a file system may know a folder under other names, too."""
    if place.is_relative_to(os.path.realpath(vault)):
        return True
    for folder in place.parents:
        # A folder that is absent or closed is told apart by what tries to write there.
        with suppress(OSError):
            if folder.samefile(vault):
                return True
    return False
