"""Whether a slug or tag says anything that its note does not: nobody compares those with the source
again, and a file name is read as a fact."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

_WORD = re.compile(r"[^\W_]+")
_SHORT: Final = 3
"""Letters of words that say nothing: "of", "vs", "the"."""
_STEM: Final = 4
_ENDING: Final = 3
"""A word counts as held when one in the note has all its letters but the last three, and at least
four: "caching" and "cached"."""


class HeldWords:
    """The words of a note, and some that may always be used."""

    def __init__(self, text: str, always: Iterable[str]) -> None:
        self._text = _plain(text)
        self._words = set(_WORD.findall(self._text)) | {_plain(word) for word in always}
        self._stems = {word[:length] for word in self._words for length in range(_STEM, len(word))}
        self._stems |= {word for word in self._words if len(word) >= _STEM}

    def hold(self, name: str) -> bool:
        """Whether every word of a name such as `relay-on-board-7` is held; numbers as they are."""
        return all(self._holds(word) for word in _WORD.findall(_plain(name)))

    def _holds(self, word: str) -> bool:
        if word in self._words:
            return True
        if any(character.isdigit() for character in word):
            return False
        if len(word) <= _SHORT and word.isascii():
            return True
        if not word.isascii():
            return word in self._text  # scripts without blanks
        return word[: max(_STEM, len(word) - _ENDING)] in self._stems


def _plain(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text)
    return "".join(each for each in apart if not unicodedata.combining(each)).casefold()
