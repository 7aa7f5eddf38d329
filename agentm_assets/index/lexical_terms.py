"""How text becomes terms, the same when it is indexed and when it is asked for.

- Words: runs of letters, digits and underscores, lower-cased, folded to ASCII, stemmed.
- Scripts without blanks (Chinese, Japanese, Thai and their like, and Korean, whose words carry
  endings) are cut into pairs of characters; the pairs are words. A character that stands alone in
  a question is looked for among the characters of a text.
- Identifiers such as `python3.13t`, `py-bt`, `C++` or `owner/repo`, which words would tear apart,
  are terms as a whole too.
- Parts: `gin_trgm_ops` and `getHTTPResponse` are words as a whole; what they are made of are terms
  as well.

Everything here is linear in the length of the text. No term reaches over a blank, so what stands
between two blanks is taken apart once and looked up from then on: a text costs a look-up a word,
and is cut here alone, never by tantivy (docs/performance.md: a third of the time).
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import tantivy

LONGEST_TERM = 200  # bytes; longer runs are data: keys, hashes, encoded text

_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANKLESS = re.compile(
    "["
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u3041-\u3096\u3099-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df"  # Thai, Lao, Burmese, Khmer, Tai
    "]+"
)
# Possessive throughout, and only from the start of a word: no text makes these go back.
_IDENTIFIER = re.compile(r"(?<!\w)(?:\w++(?:[.:/@+#-]++\w++)++|[A-Za-z](?:\+\+|#)(?!\w))")
_STEP = re.compile(r"[:/@]++")
_WORD = re.compile(r"\w++")
_HUMP = re.compile(
    r"[A-Z]++(?![a-z])"  # HTTP, and all of MAX in MAX_SIZE
    r"|[A-Z]?[^\W\dA-Z_]++"  # Response, größe
    r"|[A-Z]+?(?=[A-Z][a-z])"  # HTTP in HTTPResponse
    r"|\d++"
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


_ROOM = 8_000_000
"""Characters of the runs between blanks that are remembered, each counted with 80 beside its own
(some 350 bytes a run, 35 MB in all); when they are full, all are forgotten."""
_BESIDE = 80

_EDGES = ".,;:!?()\"'"
"""Punctuation around a word that changes no term."""


@cache
def words_analyzer() -> tantivy.TextAnalyzer:
    """Cuts plain text into words and brings them into the form in which they are indexed."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(r"\w+"))
        .filter(tantivy.Filter.remove_long(LONGEST_TERM))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


@cache
def terms_analyzer() -> tantivy.TextAnalyzer:
    """Takes terms as they are, separated by blanks."""
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


@cache
def cut_analyzer() -> tantivy.TextAnalyzer:
    """Takes what was cut here already, separated by blanks, and folds its case."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        .filter(tantivy.Filter.remove_long(LONGEST_TERM))
        .filter(tantivy.Filter.lowercase())
        .build()
    )


def normal(text: str) -> str:
    """The text in one spelling: composed, compatibility forms resolved (full-width letters,
    ligatures), lone surrogates replaced. All other functions here expect it."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _SURROGATES.sub("\ufffd", text))


@dataclass(frozen=True, slots=True)
class TextTerms:
    """The terms of a text, those of each kind separated by blanks. Words are in order and with
    repeats; of the others the ones of a run between blanks come once, wherever it repeats."""

    words: str
    parts: str  # of compounds, in the form of terms
    identifiers: str


@lru_cache(maxsize=256)  # a chunk's text comes again in the windows of its neighbours
def text_terms(text: str) -> TextTerms:
    """Words, parts of compounds and identifiers of a text."""
    runs = [_RUNS[run] for run in _plain(text).split()]
    telling = dict.fromkeys([run for run in runs if run.parts or run.identifiers])
    return TextTerms(
        words=" ".join([*[run.words for run in runs], *_all_pairs(text)]),
        parts=" ".join([run.parts for run in telling]),
        identifiers=" ".join([run.identifiers for run in telling]),
    )


def words(text: str) -> list[str]:
    """The word terms of a text, with repeats."""
    return text_terms(text).words.split()


def identifiers(text: str) -> Iterator[str]:
    """Identifiers that contain other signs than letters, digits and underscores, and those
    between the slashes and colons of paths and URLs."""
    for match in _IDENTIFIER.finditer(_plain(text)):
        yield match[0].lower()
        steps = [step for step in _STEP.split(match[0]) if _IDENTIFIER.fullmatch(step)]
        if steps != [match[0]]:
            yield from (step.lower() for step in steps)


def parts(text: str) -> Iterator[str]:
    """The parts of the compound words in a text, not yet in the form of terms."""
    for word in _WORD.findall(_plain(text)):
        if word.isalpha() and (word.islower() or word.istitle()):
            continue  # most words
        pieces = _HUMP.findall(word)
        if len(pieces) > 1:
            yield from pieces


def characters(text: str) -> Iterator[str]:
    """The characters of blankless scripts."""
    if not text.isascii():
        for run in _BLANKLESS.findall(text):
            yield from run


def lone_characters(text: str) -> Iterator[str]:
    """Those that stand alone, and thus have no pair."""
    if not text.isascii():
        yield from (run for run in _BLANKLESS.findall(text) if len(run) == 1)


def _pairs(run: str) -> Iterator[str]:
    return (run[at : at + 2] for at in range(len(run) - 1))


def _plain(text: str) -> str:
    """Without runs of blankless scripts, so that `Docker入門` holds the word Docker."""
    return text if text.isascii() else _BLANKLESS.sub(" ", text)


def _all_pairs(text: str) -> list[str]:
    if text.isascii():
        return []
    pairs = " ".join([pair for run in _BLANKLESS.findall(text) for pair in _pairs(run)])
    return list(words_analyzer().analyze(pairs))


def _run_terms(run: str) -> TextTerms:
    def analysed(text: str) -> str:
        return " ".join(words_analyzer().analyze(text))

    if run.isalpha() and (run.islower() or run.istitle()):
        return TextTerms(analysed(run), "", "")  # most words
    return TextTerms(analysed(run), analysed(" ".join(parts(run))), " ".join(identifiers(run)))


class _Runs(dict[str, TextTerms]):
    """What stands between two blanks → its terms."""

    room = _ROOM

    def __missing__(self, run: str) -> TextTerms:
        core = run.strip(_EDGES)
        found = _run_terms(run) if core == run else self[core]
        self.room -= len(run) + _BESIDE
        if self.room < 0:
            self.clear()
            self.room = _ROOM
        self[run] = found
        return found


_RUNS = _Runs()
