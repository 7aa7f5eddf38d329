"""How much of a note is more than its template.

A line is template when it is a heading, a label without a value, a placeholder, or a line that many
notes have. What stands behind a label that many notes have counts, unless it is a placeholder.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agentm_assets.contract.lines import split_lines
from agentm_assets.dreaming.meters.corpus import WORD
from agentm_assets.dreaming.meters.generic_words import GENERIC, says_something

COMMON_IN: Final = 4
"""Notes that have the same line, from which on it is template: three may say the same by chance."""

_MARKER = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])(?=[ \t]|\Z))?[ \t]*(?:\[[ xX]\][ \t]*)?")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}(?:[ \t]|\Z)")
_RULE = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}\Z|[ \t]*\|?[ \t:|-]*\Z")
_LABEL = re.compile(r"[*_]{0,2}([^\W\d_][^:\r\n]{0,39}?)[*_]{0,2}[ \t]*:[*_]{0,2}(?:[ \t]+|\Z)")
_DIGITS = re.compile(r"\d+")
_PLACEHOLDER = re.compile(
    r"(?:tbd|tba|tbc|todo|fixme|n/?a|none|null|nil|nothing|unknown|not applicable|not specified"
    r"|not yet|to be (?:determined|added|filled(?: in)?|done|decided|defined|confirmed)"
    r"|fill (?:this )?in(?: later)?|add (?:more )?(?:details?|notes?|content|text)(?: here)?"
    r"|(?:details?|content|text|description|summary|notes?) (?:goes|go|to go) here"
    r"|(?:write|describe|enter|insert)\b[^.]{0,40}\bhere|lorem ipsum\b.*|see above|same as above"
    r"|placeholder|coming soon|pending|empty|xxx+|-+|\.{2,}|…|\?+|<[^>]*>|\[[^\]]*\]|\{[^}]*\})"
    r"[.!]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Residual:
    """`words`: all words of the body. `own`: those beyond the template, in order."""

    words: int
    own: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """0 for a bare skeleton, 1 for a note without any template."""
        return len(self.own) / self.words if self.words else 0.0


def common_lines(bodies: Sequence[str]) -> frozenset[str]:
    """The lines, and the labels, that COMMON_IN notes or more have, as `_form` gives them."""
    counts: Counter[str] = Counter()
    for body in bodies:
        forms: set[str] = set()
        for line in _lines(body):
            forms.add(_form(line))
            label = _LABEL.match(line)
            if label is not None:
                forms.add(f"{_form(label[1])}:")
        counts.update(forms - {""})
    return frozenset(form for form, count in counts.items() if count >= COMMON_IN)


def residual(body: str, common: frozenset[str]) -> Residual:
    """What the body says beyond its template. Linear."""
    words = 0
    own: list[str] = []
    for line in _lines(body, headings=True):
        found = [word.casefold() for word in WORD.findall(line)]
        words += len(found)
        text = _said(line, common)
        own += [word.casefold() for word in WORD.findall(text)]
    return Residual(words, tuple(own))


def _said(line: str, common: frozenset[str]) -> str:
    if _HEADING.match(line) or _form(line) in common:
        return ""
    text = line
    label = _LABEL.match(line)
    if label is not None:
        rest = line[label.end() :].strip()
        if not rest or _is_placeholder(rest):
            return ""
        if f"{_form(label[1])}:" in common:
            text = rest
    return "" if _is_placeholder(text) else text


def _is_placeholder(text: str) -> bool:
    bare = text.strip(" \t*_")
    return _PLACEHOLDER.fullmatch(bare) is not None


def _lines(body: str, *, headings: bool = False) -> list[str]:
    found: list[str] = []
    for raw in split_lines(body.encode("utf-8", "replace")):
        line = raw.decode("utf-8").strip(" \t\r\n")
        marker = _MARKER.match(line)
        text = line[marker.end() :] if marker is not None else line
        if not text or _RULE.match(text):
            continue
        if headings or not _HEADING.match(text):
            found.append(text)
    return found


def _form(line: str) -> str:
    """A line as templates are compared: case, digits, blanks and emphasis say nothing."""
    return _DIGITS.sub("#", " ".join(line.casefold().replace("*", "").split())).rstrip(" .:")


def rare_words(own: Sequence[str], spread: Mapping[str, int], documents: int) -> int:
    """How many different words beyond the template are no filler and few other notes have: what the
    note is about."""
    most = max(3, documents // 20)
    return sum(1 for word in set(own) if says_something(word) and spread.get(word, 0) <= most)


def filler_words(own: Sequence[str]) -> int:
    """How many words beyond the template a note about anything may have."""
    return sum(1 for word in own if word in GENERIC)
