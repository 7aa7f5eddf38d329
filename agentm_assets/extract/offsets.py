"""From offsets in a decoded text to offsets in its bytes."""

from collections.abc import Sequence


def byte_offsets(text: str, offsets: Sequence[int]) -> list[int]:
    """The byte offset of each of the ascending character `offsets` of `text`.

    `text` was decoded as UTF-8 with `surrogateescape`, so that every byte has its place.
    """
    if text.isascii():
        return list(offsets)
    found: list[int] = []
    at = size = 0
    for offset in offsets:
        size += len(text[at:offset].encode("utf-8", "surrogateescape"))
        found.append(size)
        at = offset
    return found
