"""Private keys that stand in a text: PEM, OpenSSH, PGP, PuTTY and age."""

import re
from collections.abc import Iterator

from agentm_assets.privacy.found import Found

# RFC 7468 and what OpenSSH, PGP and SSH2 make of it; the label is anything that says private key.
_MARK = re.compile(
    r"-{4,5} ?(BEGIN|END) (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}", re.IGNORECASE
)
_MATERIAL = re.compile(r"[A-Za-z0-9+/=]{16,}")
_NEAR = 400
"""Characters behind a header, or before a footer, in which key material begins: headers such as
Proc-Type and DEK-Info stand between."""

_PUTTY = re.compile(r"Private-Lines:[ \t]*(\d{1,3})[ \t]*(?:\\r)?(?:\\n|\r\n?|\n)")
_LINE_END = re.compile(r"\\n|\r\n?|\n")
_PUTTY_MAC = re.compile(r"Private-MAC:[ \t]*([0-9a-fA-F]{8,128})")
_AGE = re.compile(r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{40,}", re.IGNORECASE)


def find_private_keys(text: str) -> Iterator[Found]:
    """Whole keys, from header to footer. Linear."""
    begun: int | None = None
    for mark in _MARK.finditer(text):
        if mark[1].upper() == "BEGIN":
            begun = mark.start()
        elif begun is not None:
            yield Found("private-key", begun, mark.end())
            begun = None
    if "Private-Lines:" in text:
        yield from _putty(text)
    for key in _AGE.finditer(text):
        yield Found("private-key", *key.span())


def has_broken_private_key(text: str) -> bool:
    """Whether key material follows a header that has no footer, or comes before a lone footer.

    Where such a key ends nobody knows, so that it can't be cut out. A header that is only spoken of
    has no material beside it.
    """
    begun: int | None = None
    last = 0
    for mark in _MARK.finditer(text):
        if mark[1].upper() == "BEGIN":
            if begun is not None and _MATERIAL.search(
                text, begun, min(mark.start(), begun + _NEAR)
            ):
                return True
            begun = mark.end()
        else:
            before = max(last, mark.start() - _NEAR)
            if begun is None and _MATERIAL.search(text, before, mark.start()):
                return True
            begun = None
        last = mark.end()
    if begun is not None and _MATERIAL.search(text, begun, begun + _NEAR):
        return True
    return any(_putty_end(text, found) is None for found in _PUTTY.finditer(text))


def _putty(text: str) -> Iterator[Found]:
    for found in _PUTTY.finditer(text):
        end = _putty_end(text, found)
        if end is not None and end > found.end():
            yield Found("private-key", found.end(), end)
    for mac in _PUTTY_MAC.finditer(text):
        yield Found("private-key", *mac.span(1))


def _putty_end(text: str, found: re.Match[str]) -> int | None:
    """Where the last of the announced lines ends, None when the text ends before."""
    at = found.end()
    for left in range(int(found[1]), 0, -1):
        end = _LINE_END.search(text, at)
        if end is None:
            return len(text) if left == 1 and at < len(text) else None
        at = end.end()
    return at
