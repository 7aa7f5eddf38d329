"""Writes that touched a note's footer alone: to everybody but themselves they did not happen.

A footer is no part of the body, so a run stays revertible, and a judgment what it was, when the
night has written references below the note since.
"""

from collections.abc import Iterable
from typing import Final

from agentm_assets.history.revert_log import Change

FOOTER_PASS: Final = "dream-reference-footers"


def same_but_for_footers(path: str, found: str, log: Iterable[Change]) -> frozenset[str]:
    """The content hash `found`, and those that the file had before footers were written on it."""
    before = {
        change.after: change.before
        for change in log
        if change.path == path and change.pass_name == FOOTER_PASS and change.before is not None
    }
    seen = {found}
    at = before.get(found)
    while at is not None and at not in seen:
        seen.add(at)
        at = before.get(at)
    return frozenset(seen)
