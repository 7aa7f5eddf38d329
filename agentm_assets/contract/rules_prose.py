"""What the prose of the rules says about each type: the text that a note is compared with."""

import re
from collections.abc import Collection

from agentm_assets.contract.lines import split_lines

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r"[-*+][ \t]+(?:\*\*|__|`)([^*_`]+)(?:\*\*|__|`)[ \t]*(?::|\u2013|\u2014|-)(.*)")
_MARKS = str.maketrans("", "", "*_`#")


def type_definitions(prose: str, names: Collection[str]) -> dict[str, str]:
    """Each name with its definition, on one line; names that the prose does not define are absent.

    A definition is the section under a heading that is just the name, or a list item that starts
    with the name set off (`- **fix**: …`) up to the next item or blank line. The first one counts.
    """
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    level = 0  # of the heading whose section we are in; 0 inside a list item
    for line in split_lines(prose):
        text = line.rstrip("\r\n")
        heading = _HEADING.match(text)
        item = _ITEM.match(text)
        if heading:
            name = heading[2].translate(_MARKS).strip().casefold()
            if current is None or not level or len(heading[1]) <= level:
                current, level = _open(found, name, names), len(heading[1])
        elif item and item[1].strip().casefold() in names:
            current, level = _open(found, item[1].strip().casefold(), names), 0
            if current is not None:
                current.append(item[2])
        elif not level and (not text.strip() or text.lstrip()[:2] in ("- ", "* ", "+ ")):
            current = None
        elif current is not None:
            current.append(text)
    joined = {name: " ".join(" ".join(lines).split()) for name, lines in found.items()}
    return {name: text for name, text in joined.items() if text}


def _open(found: dict[str, list[str]], name: str, names: Collection[str]) -> list[str] | None:
    """Start collecting for `name`; None when it is none of `names` or has its definition."""
    if name not in names or name in found:
        return None
    return found.setdefault(name, [])
