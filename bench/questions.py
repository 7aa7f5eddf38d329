"""Known-item questions of a vault: a line of four to twelve words that stands in one note alone.

Headings, list items and quotes count. The right answer is the note that holds the line.
"""

import random
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

_MARKED = re.compile(r"^ {0,3}(?:#{1,6}|[-*>])[ \t]+(.+)$", re.MULTILINE)
_MARKS = re.compile(r"[^\w' -]+|\s+")


@dataclass(frozen=True, slots=True)
class KnownItem:
    question: str
    path: str  # relative to the vault


def known_items(vault: Path, count: int, *, seed: int = 7) -> list[KnownItem]:
    """`count` questions, fewer if there are no more; the same for the same vault and seed."""
    holders: dict[str, set[str]] = defaultdict(set)
    for note in sorted(vault.rglob("*.md")):
        for line in _MARKED.findall(note.read_text("utf-8", errors="replace")):
            words = _MARKS.sub(" ", line).split()
            if 4 <= len(words) <= 12:
                holders[" ".join(words)].add(str(note.relative_to(vault)))
    unique = sorted((text, *paths) for text, paths in holders.items() if len(paths) == 1)
    random.Random(seed).shuffle(unique)
    return [KnownItem(text, path) for text, path in unique[:count]]
