"""The form in which names of entities are compared: exactly, once they are normalised."""

import re
import unicodedata
from typing import Final

_NOT_NAME = re.compile(r"[^\w@/#.:+-]+")
_TITLES: Final = frozenset({"dr", "prof", "mr", "mrs", "ms", "mx", "herr", "frau", "sir"})
_SHARED: Final = frozenset(
    [
        "admin",
        "administrator",
        "bot",
        "build",
        "ci",
        "deploy",
        "dev",
        "everyone",
        "github",
        "gitlab",
        "hello",
        "help",
        "info",
        "it",
        "jenkins",
        "mail",
        "me",
        "news",
        "no-reply",
        "noreply",
        "office",
        "ops",
        "postmaster",
        "root",
        "sales",
        "security",
        "service",
        "support",
        "team",
        "test",
        "the",
        "user",
        "webmaster",
        "you",
    ]
)
"""Names that many have."""


_NAMED: Final = frozenset({"person", "team", "repo"})


def name_key(name: str) -> str:
    """`Kern, Dr. Anna` and `Anna Kern` are one name, and so are those that differ in case, accents,
    width, punctuation around words or blanks. Nothing else is: no initial, no nickname."""
    if name.count(",") == 1 and "@" not in name:
        last, first = name.split(",")
        name = f"{first} {last}" if first.strip() and last.strip() else name
    apart = unicodedata.normalize("NFKD", name)
    folded = "".join(c for c in apart if not unicodedata.combining(c)).casefold()
    words = [word.strip(".:-+#") for word in _NOT_NAME.sub(" ", folded).split()]
    while len(words) > 1 and words[0] in _TITLES:
        words = words[1:]
    return " ".join(word for word in words if word)


def tells_who(kind: str, name: str) -> bool:
    """Whether a name is one thing's alone, so that equal names mean the same thing. For a person it
    takes a first and a last name: of Annas there are many. Issues are told by their keys alone."""
    key = name_key(name)
    if not key or key in _SHARED or kind not in _NAMED:
        return False
    if kind != "person":
        return True
    words = key.split()
    if any(word in _SHARED for word in words):
        return False
    if len(words) == 1:
        return not key.isascii() and len(key) > 1 and key.isalpha() and _is_unspaced(key)
    return sum(len(word) > 1 for word in words) > 1


def _is_unspaced(key: str) -> bool:
    """A name in a script that puts no blank between first and last."""
    return all(
        unicodedata.name(char, "").startswith(("CJK", "HIRAGANA", "KATAKANA", "HANGUL"))
        for char in key
    )
