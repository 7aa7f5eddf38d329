"""Plain text in paragraphs and sentences, without code and quotations."""

import re
from collections.abc import Iterator
from typing import Final

from agentm_assets.contract.lines import split_lines

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM: Final = re.compile(r"[ \t]{0,12}(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+")
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+")
_RULE: Final = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}")
_END: Final = re.compile(
    r"(?<=[.!?\u2026])[\"'\u201d)*_]{0,3}\s+(?=[\"'\u201c(*_`\[]{0,3}[A-Z0-9\u00c0-\u00de`])"
)
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|etc|cf|approx|no|mr|mrs|ms|dr|st|fig|bzw|z\.b|ca|nr)|\b[A-Z])\.\Z",
    re.IGNORECASE,
)


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs and items of lists, each on one line and without its mark. Fenced code, quoted
    lines, rules, tables and headings are left out."""
    fence = ""
    held: list[str] = []
    for line in split_lines(text):
        line = line.rstrip("\r\n")
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            continue
        starts = _ITEM.match(line)
        passed = mark or _HEADING.match(line) or _RULE.fullmatch(line)
        if passed or starts or not line.strip() or line.lstrip()[:1] in (">", "|"):
            if held:
                yield " ".join(" ".join(held).split())
            held = []
            fence = mark[1] if mark else ""
            if starts and not passed:
                held = [line[starts.end() :]]
            continue
        held.append(line)
    if held:
        yield " ".join(" ".join(held).split())


def sentences(paragraph: str) -> list[str]:
    """The sentences of one paragraph, in order."""
    found: list[str] = []
    start = 0
    for end in _END.finditer(paragraph):
        if _ABBREVIATED.search(paragraph, max(start, end.start() - 12), end.start()):
            continue
        found.append(paragraph[start : end.start()].strip())
        start = end.end()
    found.append(paragraph[start:].strip())
    return [sentence for sentence in found if sentence]


def running(found: list[str]) -> str:
    """Sentences as running text; what does not end like one, such as an item of a list, ends its
    line."""
    parts = [
        each if each.endswith((".", "!", "?", "\u2026", ":")) else f"{each}\n" for each in found
    ]
    return " ".join(parts).replace("\n ", "\n").strip()


def shortened(text: str, most: int) -> str:
    """At most `most` characters on one line, cut between words, with an ellipsis."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    cut = text.rfind(" ", most // 2, most)
    return f"{text[: cut if cut > 0 else most - 1].rstrip(' ,;:-')}\u2026"
