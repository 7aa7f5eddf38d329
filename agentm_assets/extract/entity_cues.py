"""What stands directly before a bare number or hash: the words that say what it counts."""

import re
from dataclasses import dataclass

_WINDOW = 48  # characters looked back; three words and their blanks fit
_OPENERS = "([<\"'`*"
_MAX_BLANKS = 3  # a wider gap is blanked code, or a column of a table

_LIST_JOINT = re.compile(
    r"[)\]*\"'`]{0,3}"
    r"(?:[ \t]{0,3},[ \t]{0,3}|,?[ \t]{1,3}(?:and|or|to|&|\+|/)[ \t]{1,3})"
    r"[(\[<\"'`*]{0,3}\Z"
)
_JOINT_WINDOW = 20


@dataclass(frozen=True, slots=True)
class Before:
    """`words`: up to three on the same line, lower-case, the nearest last; `()` where something
    else than a word stands there. `colon`: one follows them. `line_start`: nothing but up to three
    blanks stands between the start of the line and the place.
    """

    words: tuple[str, ...]
    colon: bool
    line_start: bool

    @property
    def last(self) -> str:
        return self.words[-1] if self.words else ""


def before(bare: str, start: int) -> Before:
    """What stands before `start`; opening brackets and quotes beside the place are skipped."""
    floor = max(0, start - _WINDOW)
    window = bare[floor:start]
    line = window[max(window.rfind("\n"), window.rfind("\r")) + 1 :]
    whole_line = len(line) < len(window) or floor == 0
    if whole_line and len(line) <= 3 and not line.strip(" \t"):
        return Before((), False, True)
    line = line.rstrip(_OPENERS)
    core = line.rstrip(" \t")
    if len(line) - len(core) > _MAX_BLANKS:
        return Before((), False, False)
    colon = core.endswith((":", "="))
    if colon:
        core = core[:-1].rstrip(" \t")
    words = core.lower().split()
    if not whole_line and words and not core[:1].isspace():
        words = words[1:]  # cut by the window
    return Before(tuple(word.lstrip(_OPENERS) for word in words[-3:]), colon, False)


def joined_to(bare: str, start: int, ends: set[int]) -> bool:
    """Whether `start` goes on a list (`#713, #721 and #738`) whose last item ended in `ends`."""
    if not ends:
        return False
    joint = _LIST_JOINT.search(bare, max(0, start - _JOINT_WINDOW), start)
    return joint is not None and joint.start() in ends
