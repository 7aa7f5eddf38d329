"""How text becomes terms, the same when it is indexed and when it is asked for.

- Words: runs of letters, digits and underscores, lower-cased, folded to ASCII, stemmed.
- Scripts without blanks (Chinese, Japanese, Thai and their like, and Korean, whose words carry
  endings) are cut into pairs of characters; the pairs are words. A character that stands alone in
  a question is looked for among the characters of a text.
- Signs: an emoji, and a run of punctuation that stands for itself (`%`, `[[`, `&&`), are looked for
  among the characters of a text too.
- Identifiers such as `python3.13t`, `py-bt`, `C++`, `owner/repo` or `C:\\Temp\\a.txt`, which words
  would tear apart, are terms as a whole too, and the version numbers in them.
- Parts: `gin_trgm_ops` and `getHTTPResponse` are words as a whole; what they are made of are terms
  as well.

Everything here is linear in the length of the text. No term reaches over a blank, so what stands
between two blanks is taken apart once and looked up from then on: a text costs a look-up a word,
and is cut here alone, never by tantivy (docs/performance.md: a third of the time).
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
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
_IDENTIFIER = re.compile(r"(?<!\w)(?:\w++(?:[.:/\\@+#-]++\w++)++|[A-Za-z](?:\+\+|#)(?!\w))")
_STEP = re.compile(r"[:/@]++")
_BACKSLASHES = re.compile(r"\\++")
_VERSION = re.compile(r"(?<![\d.])\d++(?:\.\d++)++")
_WORD = re.compile(r"\w++")
_UNSEEN = re.compile(
    "[\u00ad\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"  # joiners, directions
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"  # Arabic marks
    "\U0001f3fb-\U0001f3ff\U000e0000-\U000e01ef]+"  # skin tones, tags, variation selectors
)
_ARABIC_LETTERS = str.maketrans(
    "\u0622\u0623\u0625\u0671\u0649\u06cc\u0629\u06c1\u06d5\u06a9",
    "\u0627\u0627\u0627\u0627\u064a\u064a\u0647\u0647\u0647\u0643",
)  # as Lucene's Arabic and Persian normalisers: alef, yeh, heh and keheh in one form each
_ARABIC = re.compile("[\u0621-\u06d5]")
_EMOJI = re.compile(
    "[\U0001f1e6-\U0001f1ff]{2}"  # a flag
    "|[\u20a0-\u20cf\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\U0001f000-\U0001faff]"
)
# A run of punctuation by itself: between blanks, quotes or backticks.
_SIGNS = re.compile(r"""(?<![^\s`"'])[!#$%&()*+,\-./:;<=>?@\[\\\]^{|}~]{1,8}(?![^\s`"'])""")
_JOINT = "\x1f"  # no blank to tantivy, and in no title
_PUNCTUATION = frozenset(".,:;!?-()/&")  # what a sentence is written with
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
def _folding() -> tantivy.TextAnalyzer:
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(r"\w+"))
        .filter(tantivy.Filter.remove_long(LONGEST_TERM))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
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
    ligatures), without marks that are not seen or that Hebrew and Arabic leave out at will, lone
    surrogates replaced. All other functions here expect it."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", _SURROGATES.sub("\ufffd", text))
    seen = _UNSEEN.sub("", text)
    if _ARABIC.search(seen):
        seen = seen.translate(_ARABIC_LETTERS)
    # What stood on both sides of a mark may compose now.
    return text if seen == text else normal(seen)


@dataclass(frozen=True, slots=True)
class TextTerms:
    """The terms of a text, those of each kind separated by blanks. Words are in order and with
    repeats; compounds of a run between blanks come once, wherever it repeats."""

    words: str
    parts: str  # of compounds, in the form of terms
    identifiers: str
    spelled: str  # folded words that stemming changes
    characters: str


@lru_cache(maxsize=32)  # title and names come again with each chunk of a note
def text_terms(text: str) -> TextTerms:
    """All terms of a text."""
    runs = [_RUNS[run] for run in _plain(text).split()]
    telling = dict.fromkeys([run for run in runs if run.parts or run.identifiers])
    if text.isascii():
        alone = [run.characters for run in runs if run.characters]
    else:
        alone = list(characters(text))
    return TextTerms(
        words=_joined(text, runs),
        parts=" ".join([run.parts for run in telling]),
        identifiers=" ".join([run.identifiers for run in telling]),
        spelled=" ".join(dict.fromkeys([run.spelled for run in runs if run.spelled])),
        characters=" ".join(alone),
    )


@lru_cache(maxsize=64)  # what a chunk gives to a window it gives to that of the next chunk too
def text_words(text: str) -> str:
    """The word terms of a text, in order and with repeats, separated by blanks."""
    return _joined(text, [_RUNS[run] for run in _plain(text).split()])


def _joined(text: str, runs: Sequence[TextTerms]) -> str:
    return " ".join([*[run.words for run in runs], *_all_pairs(text)])


def words(text: str) -> list[str]:
    """The word terms of a text, with repeats."""
    return text_words(text).split()


def folded(word: str) -> str:
    """A word as its term would be without stemming."""
    return "".join(_folding().analyze(word))


def plain_words(text: str) -> list[str]:
    """The words of a text as they are written, without those of blankless scripts."""
    return _WORD.findall(_plain(text))


def identifiers(text: str) -> Iterator[str]:
    """Identifiers that contain other signs than letters, digits and underscores, and those
    between the slashes and colons of paths and URLs."""
    for match in _IDENTIFIER.finditer(_plain(text)):
        whole = _BACKSLASHES.sub("/", match[0]).lower()
        yield whole
        steps = [step for step in _STEP.split(whole) if _IDENTIFIER.fullmatch(step)]
        if steps != [whole]:
            yield from steps
        yield from (version for version in _VERSION.findall(whole) if version != whole)


def parts(text: str) -> Iterator[str]:
    """The parts of the compound words in a text, not yet in the form of terms."""
    for word in _WORD.findall(_plain(text)):
        if word.isalpha() and (word.islower() or word.istitle()):
            continue  # most words
        pieces = _HUMP.findall(word)
        if len(pieces) > 1:
            yield from pieces


def compounds(text: str) -> dict[str, frozenset[str]]:
    """The compound words of a text as terms, with the terms of their parts: two names at least, so
    `boilDetect` and `boil_detect`, and not `python3`."""
    found: dict[str, frozenset[str]] = {}
    for word in _WORD.findall(_plain(text)):
        if sum(piece.isalpha() for piece in parts(word)) > 1:
            terms = _RUNS[word]
            if terms.words:  # data longer than a term has none
                found[terms.words] = frozenset(terms.parts.split())
    return found


def characters(text: str) -> Iterator[str]:
    """The characters of blankless scripts, emoji and signs."""
    if not text.isascii():
        for run in _BLANKLESS.findall(text):
            yield from run
        yield from _EMOJI.findall(text)
    yield from _SIGNS.findall(text)


def lone_characters(text: str) -> Iterator[str]:
    """Those that stand alone, and thus have no pair; of signs, what is no mere punctuation unless
    there is nothing else."""
    if not text.isascii():
        yield from (run for run in _BLANKLESS.findall(text) if len(run) == 1)
        yield from _EMOJI.findall(text)
    bare = _WORD.search(text) is None
    yield from (sign for sign in _SIGNS.findall(text) if bare or not _PUNCTUATION.issuperset(sign))


def title_term(title: str) -> str:
    """The term that a question is asked by which is a title, letter by letter but for case and
    blanks. Words would not do: `%` has none, and `at` is one that says nothing."""
    return f"={_JOINT.join(title.lower().split())}"


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

    terms = words_analyzer().analyze(run)
    spelled = zip(_folding().analyze(run), terms, strict=True)
    changed = " ".join([word for word, term in spelled if word != term])
    if run.isalpha() and (run.islower() or run.istitle()):
        return TextTerms(" ".join(terms), "", "", changed, "")  # most words
    return TextTerms(
        words=" ".join(terms),
        parts=analysed(" ".join(parts(run))),
        identifiers=" ".join(identifiers(run)),
        spelled=changed,
        characters=" ".join(_SIGNS.findall(run)),
    )


class _Runs(dict[str, TextTerms]):
    """What stands between two blanks → its terms."""

    room = _ROOM

    def __missing__(self, run: str) -> TextTerms:
        core = run.strip(_EDGES)
        # Of `%.` the edge belongs to the sign; a word alone has none.
        found = self[core] if core != run and core.isalnum() else _run_terms(run)
        self.room -= len(run) + _BESIDE
        if self.room < 0:
            self.clear()
            self.room = _ROOM
        self[run] = found
        return found


_RUNS = _Runs()
