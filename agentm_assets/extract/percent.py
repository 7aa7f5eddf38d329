"""Percent escapes in link targets."""

import re

_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_BROKEN = re.compile(r"[\x00\udc80-\udcff]")


def percent_decode(target: str) -> str:
    """`target` with its escapes decoded as UTF-8; what decodes to no text (`%FF`, `%00`) stays."""
    return _ESCAPES.sub(_decode, target) if "%" in target else target


def _decode(run: re.Match[str]) -> str:
    raw = bytes.fromhex(run[0].replace("%", ""))
    text = raw.decode("utf-8", "surrogateescape")
    return _BROKEN.sub(lambda char: f"%{ord(char[0]) & 0xFF:02X}", text)
