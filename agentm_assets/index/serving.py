"""What every serving file has in common: it is a cache, and it can fail to be readable."""

import contextlib
from pathlib import Path

_DAMAGED = "damaged"


class ServingUnreadable(Exception):
    """A serving file is missing, damaged, of another version, or busy.

    The text says which and why. Nothing is lost with it: `agentm index` writes it anew.
    """


def report_damage(folder: Path) -> None:
    """Leave word for the publisher that a reader met damage which opening does not show.

    A folder that can't be written keeps its damage: the reader has said so to the operator.
    """
    with contextlib.suppress(OSError):
        (folder / _DAMAGED).touch()


def is_reported(folder: Path) -> bool:
    """Whether a reader met damage here; publishing in full clears that with all other files."""
    return (folder / _DAMAGED).exists()
