"""The patterns of the storage rules that hide notes. Nothing else hides anything."""

import re
from collections.abc import Callable, Sequence


def compile_excludes(patterns: Sequence[str]) -> Callable[[str], bool]:
    """A test whether a vault-relative path is hidden.

    Patterns are globs over the whole path, case-sensitive: `*` and `?` stay inside one segment,
    `**` spans segments, `[…]` is a set. A pattern without `/` matches a name at any depth, and one
    that matches a folder hides all below it, as in a .gitignore.
    """
    if not patterns:
        return _hides_nothing
    hidden = re.compile("|".join(f"(?:{_regex(pattern)})" for pattern in patterns))
    return lambda path: hidden.match(path) is not None


def _hides_nothing(path: str) -> bool:
    return False


def _regex(pattern: str) -> str:
    try:
        re.compile(regex := _translated(pattern, sets=True))
    except re.error:  # a set whose range runs backwards: the brackets are plain characters
        regex = _translated(pattern, sets=False)
    return regex


def _translated(pattern: str, *, sets: bool) -> str:
    body = pattern.strip("/")
    prefix = "" if "/" in body or pattern.startswith("/") else "(?:.*/)?"
    return f"{prefix}{_segments(body, sets)}(?:/.*)?\\Z"


def _segments(body: str, sets: bool) -> str:
    pieces: list[str] = []
    at = 0
    while at < len(body):
        if body.startswith("**/", at):
            pieces.append("(?:.*/)?")
            at += 3
        elif body.startswith("**", at):
            pieces.append(".*")
            at += 2
        elif body[at] == "*":
            pieces.append("[^/]*")
            at += 1
        elif body[at] == "?":
            pieces.append("[^/]")
            at += 1
        elif sets and body[at] == "[" and (end := body.find("]", at + 2)) > 0:
            pieces.append(_set(body[at + 1 : end]))
            at = end + 1
        else:
            pieces.append(re.escape(body[at]))
            at += 1
    return "".join(pieces)


def _set(content: str) -> str:
    negated = content[0] in "!^"
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", content[1:] if negated else content)
    return f"(?!/)[{'^' if negated else ''}{inner}]"
