"""The name of a new note's file: from its title, in whatever script that is."""

import re
import unicodedata
from collections.abc import Iterator

MAX_CHARACTERS = 72
MAX_BYTES = 180
"""With `.md` and a suffix under the 255 bytes that file systems allow, on sync clients too."""

NAMELESS = "untitled"
"""For a title and a text that hold no letter, digit or symbol with a name."""

_MOST_MARKS = 8  # on one base: more is decoration, and would make one grapheme of any length
_MOST_SYMBOLS = 5
_JOINERS = "\u200c\u200d"  # they spell words in Persian and in scripts of India
_WITHIN_WORD = "'\u2019\u02bc"
# Names that some file systems give to devices, and rules that no capture may write.
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]|conin|conout|storage-rules")
# Two characters of one Hangul syllable: leading and vowel, vowel and trailing, and so on
# (Unicode Standard Annex 29, GB6 to GB8).
_HANGUL = re.compile(
    "[\u1100-\u115f\ua960-\ua97c][\u1100-\u11a7\ua960-\ua97c\ud7b0-\ud7c6\uac00-\ud7a3]"
    "|[\u1160-\u11a7\ud7b0-\ud7c6\uac00-\ud7a3][\u1160-\u11ff\ud7b0-\ud7fb]"
    "|[\u11a8-\u11ff\ud7cb-\ud7fb][\u11a8-\u11ff\ud7cb-\ud7fb]"
)


def slugify(title: str) -> str:
    """A file name's stem for a title: lower-case, words joined by hyphens, scripts kept, NFC, at
    most MAX_CHARACTERS and MAX_BYTES long, no grapheme cut. A title of symbols alone is spelt by
    their names. "" when nothing in the title can stand in a name.
    """
    words = _words(title) or _symbol_names(title)
    slug = cut("-".join(words), MAX_CHARACTERS, MAX_BYTES)
    return f"note-{slug}" if _RESERVED.fullmatch(slug) else slug


def with_suffix(slug: str, suffix: str) -> str:
    """`slug-suffix`, within the limits."""
    room = len(suffix) + 1
    return f"{cut(slug, MAX_CHARACTERS - room, MAX_BYTES - room)}-{suffix}"


def cut(slug: str, characters: int, size: int) -> str:
    """The longest beginning of a slug within both limits, at a hyphen where one is near the end,
    else between graphemes."""
    if len(slug) <= characters and len(slug.encode()) <= size:
        return slug
    end = used = 0
    for cluster in _clusters(slug):
        used += len(cluster.encode())
        if end + len(cluster) > characters or used > size:
            break
        end += len(cluster)
    hyphen = slug.rfind("-", 0, end + 1)
    if hyphen * 3 > end * 2 > 0:
        end = hyphen
    return slug[:end].strip("-") or _hard_cut(slug, characters, size)


def _hard_cut(slug: str, characters: int, size: int) -> str:
    """For a first grapheme that alone is over the limit: between characters."""
    text = slug[:characters]
    while len(text.encode()) > size:
        text = text[:-1]
    return text


def _words(title: str) -> list[str]:
    """Runs of letters, digits and their marks, lower-case and composed."""
    text = unicodedata.normalize("NFC", title).lower()
    text = unicodedata.normalize("NFC", text)
    words: list[str] = []
    word: list[str] = []
    marks = 0
    for at, character in enumerate(text):
        kind = unicodedata.category(character)[0]
        if kind in "LN":
            word.append(character)
            marks = 0
        elif kind == "M" and word:
            marks += 1
            if marks <= _MOST_MARKS:
                word.append(character)
        elif _joins(text, at) and word:
            if character in _JOINERS:
                word.append(character)
        elif word:
            words.append("".join(word))
            word = []
    if word:
        words.append("".join(word))
    # Left-out marks may let others compose.
    return [unicodedata.normalize("NFC", each) for each in words]


def _joins(text: str, at: int) -> bool:
    """Whether an apostrophe or joiner stands inside a word."""
    character = text[at]
    after = text[at + 1] if at + 1 < len(text) else " "
    before = text[at - 1] if at else " "
    if character in _WITHIN_WORD:
        return after.isalpha() and before.isalpha()
    if character in _JOINERS:
        return not after.isascii() and unicodedata.category(after)[0] == "L"
    return False


def _symbol_names(title: str) -> list[str]:
    """What emoji and other symbols are called."""
    words: list[str] = []
    found = 0
    for character in title:
        if unicodedata.category(character) in ("So", "Sm", "Sc") and found < _MOST_SYMBOLS:
            words += _words(unicodedata.name(character, ""))
            found += 1
    return words


def _clusters(text: str) -> Iterator[str]:
    """The text in graphemes, as far as letters, digits, marks and joiners form them (Unicode
    Standard Annex 29)."""
    start = 0
    for at in range(1, len(text)):
        if not _sticks(text[at - 1], text[at]):
            yield text[start:at]
            start = at
    if start < len(text):
        yield text[start:]


def _sticks(before: str, after: str) -> bool:
    if unicodedata.category(after)[0] == "M" or after in _JOINERS or before in _JOINERS:
        return True
    if unicodedata.combining(before) == 9:  # a virama binds the next letter to it
        return unicodedata.category(after)[0] == "L"
    return _HANGUL.fullmatch(before + after) is not None
