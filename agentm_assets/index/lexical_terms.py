"""How text becomes terms, the same when it is indexed and when it is asked for.

Words are lower-cased, folded to ASCII and stemmed. An identifier such as `gin_trgm_ops` or
`getHTTPResponse` is a term as a whole, and its parts are terms of a field of their own. Scripts
without blanks (Chinese, Japanese, Thai and their like, Korean too, whose words carry endings) are
cut into pairs of characters.
"""

import re
from collections.abc import Iterator
from functools import cache

import tantivy

_COMPOUND = re.compile(r"\b\w*?(?:_|[a-z0-9](?=[A-Z])|[A-Za-z](?=\d)|\d(?=[A-Za-z]))\w*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_BLANKLESS = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u1100-\u11ff"
    "\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\U00020000-\U0002ffff]+"
)

STOP_WORDS = frozenset(
    """a about am an and any are as at be been being but by can could did do does doing done
    for from get got had has have having he her here him his how i if in into is it its itself just
    me my of off on or our out over own s she should so some such t than that the their them then
    there these they this those to too up us was we were what when where which while who whom why
    will with would you your""".split()  # noqa: SIM905 - a list of a hundred literals reads worse
)
"""Words that say nothing about which note is meant. They are indexed, and asked for only when a
question has no others."""


@cache
def words_analyzer() -> tantivy.TextAnalyzer:
    """Words of a text. One splits at what is neither letter, digit nor underscore."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(r"\w+"))
        .filter(tantivy.Filter.remove_long(200))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


@cache
def grams_analyzer() -> tantivy.TextAnalyzer:
    """Terms that were cut here already, separated by blanks."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        .filter(tantivy.Filter.lowercase())
        .build()
    )


def words(text: str) -> list[str]:
    """The word terms of a text, in order, with repeats."""
    return list(words_analyzer().analyze(_safe(text)))


def parts(text: str) -> Iterator[str]:
    """The parts of the compound identifiers in a text, not yet stemmed."""
    for compound in _COMPOUND.finditer(text):
        pieces = _PART.findall(compound[0])
        if len(pieces) > 1:
            yield from pieces


def grams(text: str) -> Iterator[str]:
    """Pairs of characters of the blankless scripts; a lone character stands for itself."""
    for run in _BLANKLESS.finditer(text):
        letters = run[0]
        if len(letters) == 1:
            yield letters
        for at in range(len(letters) - 1):
            yield letters[at : at + 2]


def _safe(text: str) -> str:
    """Lone surrogates have no UTF-8 and would raise."""
    return text.encode("utf-8", "replace").decode("utf-8")
