"""A title for a note whose own says nothing."""

import re

from agentm_assets.contract.block import safe_text
from agentm_assets.contract.lines import split_lines
from agentm_assets.extract.headings import find_headings

MOST_CHARACTERS = 100
"""As long as the titles that a capture gives."""

_NOTHING = re.compile(
    r"(?:untitled|unnamed|no[ _-]title|new[ _-](?:note|file|document)|notes?|memo|memory|draft|"
    r"document|text|todo|misc|title|test|ohne titel|unbenannt|neue notiz)?"
    r"(?:[ _-]*+\(?\d++\)?)*+",
    re.IGNORECASE,
)
_MARKS = re.compile(r"\A[ \t]{0,12}(?:(?:[-*+>]|\d{1,3}[.)])[ \t]+)*(?:\[[ xX]\][ \t]+)?")
_CLAUSE_END = re.compile(r"(?<=\w)[.!?;](?=\s|\Z)|[\u3002\uff01\uff1f\uff1b]")
_SHORTEST_CLAUSE = 12


def is_meaningless(title: str) -> bool:
    """Whether a title names nothing: empty, no letter in it, or the name that a program gives a
    file nobody has named yet."""
    stripped = title.strip()
    if not any(character.isalpha() for character in stripped):
        return True
    return _NOTHING.fullmatch(stripped[:80]) is not None


def title_from(text: str, prose: str) -> str | None:
    """The first heading that says something, else the first clause of the prose (`text` without
    code, as long as it); None where there is neither."""
    for heading in find_headings(text):
        if not is_meaningless(heading.text):
            return _shortened(" ".join(heading.text.split()))
    for line in split_lines(prose):
        words = " ".join(_MARKS.sub("", line[: 8 * MOST_CHARACTERS], count=1).split())
        words = words.replace("**", "").strip("*_#|=~ ")
        if not is_meaningless(words):
            ends = (match.start() for match in _CLAUSE_END.finditer(words))
            end = next((at for at in ends if at >= _SHORTEST_CLAUSE or words[at] > "\x7f"), None)
            return _shortened(words[:end])
    return None


def _shortened(title: str) -> str:
    title = safe_text(title)
    if len(title) <= MOST_CHARACTERS:
        return title
    cut = title.rfind(" ", 0, MOST_CHARACTERS)
    return title[: cut if cut > MOST_CHARACTERS // 2 else MOST_CHARACTERS].rstrip(" ,;:-")
