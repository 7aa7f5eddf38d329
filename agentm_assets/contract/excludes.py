"""The patterns of the rules file that hide notes. Nothing else hides anything.

A pattern is a glob over the whole vault-relative path, case-sensitive. `*` and `?` stay inside one
segment, `[…]` is a set of characters (`[!…]` its complement), `**` stands for any number of
segments. A pattern without a `/` inside matches a name at any depth, a leading `/` ties it to the
root, and a pattern that matches a folder hides all below it, as in a .gitignore. There is no
negation and no escape character.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache


def is_excluded(path: str, patterns: Sequence[str]) -> bool:
    """Whether one of `patterns` hides the vault-relative `path`."""
    return _compiled(tuple(patterns))(path)


def fault_of(pattern: str) -> str | None:
    """Why a pattern can't stand in the rules; None when it can."""
    if not pattern.strip("/"):
        return "is empty"
    if pattern != pattern.strip() or "\0" in pattern or "\n" in pattern or "\r" in pattern:
        return "has blanks at its ends or holds control characters"
    if "\\" in pattern:
        return "holds a backslash; segments are separated by / and nothing is escaped"
    if pattern.startswith("!"):
        return "starts with !; a pattern can't bring back what another one hides"
    segments = pattern.strip("/").split("/")
    if "" in segments or "." in segments or ".." in segments:
        return "holds an empty segment, . or .."
    if any("**" in segment and segment != "**" for segment in segments):
        return "has ** beside other characters; it stands for whole segments"
    if all(set(segment) == {"*"} for segment in segments):
        return "hides every note"
    return None


@lru_cache(maxsize=8)
def _compiled(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    if not patterns:
        return lambda path: False
    hidden = re.compile("|".join(f"(?:{_regex(pattern)})" for pattern in patterns))
    return lambda path: hidden.match(path) is not None


def _regex(pattern: str) -> str:
    segments = pattern.strip("/").split("/")
    if len(segments) == 1 and not pattern.startswith("/"):
        segments = ["**", *segments]
    pieces: list[str] = []
    for segment in segments:
        if segment != "**":
            pieces.append(_segment(segment) + "/")
        elif not pieces or pieces[-1] != _ANY:  # runs of ** are one, so that matching stays quick
            pieces.append(_ANY)
    if pieces[-1] == _ANY:
        return "".join(pieces[:-1]) + r".+\Z"
    return "".join(pieces).removesuffix("/") + r"(?:/.*)?\Z"


_ANY = "(?:[^/]+/)*"


def _segment(segment: str) -> str:
    pieces: list[str] = []
    at = 0
    while at < len(segment):
        character = segment[at]
        end = segment.find("]", at + 2) if character == "[" else -1
        if character == "*":
            if pieces[-1:] != ["[^/]*"]:
                pieces.append("[^/]*")
        elif character == "?":
            pieces.append("[^/]")
        elif end > 0 and (character_set := _set(segment[at + 1 : end])) is not None:
            pieces.append(character_set)
            at = end
        else:
            pieces.append(re.escape(character))
        at += 1
    return "".join(pieces)


def _set(content: str) -> str | None:
    """A set of characters as a regular expression; None when a range in it runs backwards."""
    negated = content[0] in "!^" and len(content) > 1
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", content[1:] if negated else content)
    try:
        re.compile(f"[{inner}]")
    except re.error:
        return None
    return f"(?!/)[{'^' if negated else ''}{inner}]"
