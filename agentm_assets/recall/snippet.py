"""A short extract of a section around the words of the question."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

SNIPPET_CHARS = 280
"""About three lines of a terminal: enough to judge a hit by."""

Analyse = Callable[[str], Sequence[str]]
"""The lexical index's own analyser: text -> terms as they are indexed."""

# What Python's \w leaves out of words: accents, points and vowel signs, unseen joiners.
_LETTER = (
    "[\\w\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0dff\u00ad\u200c\u200d]"
)
# A run of word characters, with the joints that identifiers, versions and paths have; an emoji or
# other sign.
_WORD = re.compile(rf"{_LETTER}+(?:[.\-/:@#+'\\]{_LETTER}+)*|[^\s\w`\"']+")
_PART = re.compile(f"{_LETTER}+")
# The scripts whose words the lexical index cuts into pairs of characters.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002ffff]"
)
_PLAIN = re.compile(r"[A-Za-z]?[a-z]*")  # no compound whose parts are terms
_KEPT = re.compile("[\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3]")  # as in its term
_BLANKS = re.compile(r"\s+")
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Snippet:
    """`text` on one line, white space folded; `matches` are its characters that match."""

    text: str
    matches: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A stretch of a text that holds terms of the question."""

    start: int
    end: int
    terms: frozenset[str]


def find_matches(text: str, terms: Mapping[str, float], analyse: Analyse) -> list[Match]:
    """Where `text` holds terms of the question, in order and disjoint."""
    found: list[Match] = []
    known: dict[str, frozenset[str]] = {}
    # Stemming keeps a word's first letter: most words of a text need no stemming to be told apart.
    firsts = {term[0] for term in terms}
    for start, end in _words(text):
        word = text[start:end]
        if word[0].lower() not in firsts and (_PLAIN.fullmatch(word) or _KEPT.match(word)):
            continue
        if word not in known:
            known[word] = frozenset(terms.keys() & set(analyse(word)))
        if not known[word]:
            continue
        if (
            found and start < found[-1].end
        ):  # the next pair of characters of a script without blanks
            start, previous = found[-1].start, found.pop()
            found.append(Match(start, end, previous.terms | known[word]))
        else:
            found.append(Match(start, end, known[word]))
    return found


def make_snippet(
    text: str, terms: Mapping[str, float], analyse: Analyse, limit: int = SNIPPET_CHARS
) -> Snippet:
    """The stretch of at most `limit` characters that holds the most of the question.

    `terms` gives each term of the question its weight (inverse document frequency). Without a match
    it is the beginning. Takes time linear in the length of `text`.
    """
    matches = find_matches(text, terms, analyse)
    first, last = _best_window(matches, terms, limit)
    if first == last:
        start, end = 0, min(len(text), limit)
    else:
        inner = matches[first:last]
        spare = max(0, limit - (inner[-1].end - inner[0].start))
        start = max(0, inner[0].start - spare // 2)
        end = min(len(text), start + limit)
        start = max(0, min(start, end - limit))
        end = max(end, inner[0].end if inner[0].end - inner[0].start > limit else end)
    start, end = _at_words(text, start, end)
    return _folded(text, start, end, matches)


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Words, then their parts; runs of scripts without blanks as overlapping pairs."""
    for word in _WORD.finditer(text):
        start, end = word.span()
        if _UNSPACED.search(word[0]):
            if end - start < 2:
                yield start, end
            for at in range(start, end - 1):
                yield at, at + 2
            continue
        parts = [part.span() for part in _PART.finditer(text, start, end)]
        yield from parts if len(parts) > 1 else [(start, end)]


def _best_window(
    matches: Sequence[Match], terms: Mapping[str, float], limit: int
) -> tuple[int, int]:
    """Indices of the run of matches within `limit` characters with the most distinct weight."""
    best, best_weight = (0, 0), 0.0
    counts: dict[str, int] = {}
    weight = 0.0
    first = 0
    for last, match in enumerate(matches):
        for term in match.terms:
            counts[term] = counts.get(term, 0) + 1
            weight += terms[term] if counts[term] == 1 else 0.0
        while first < last and match.end - matches[first].start > limit:
            for term in matches[first].terms:
                counts[term] -= 1
                weight -= terms[term] if counts[term] == 0 else 0.0
            first += 1
        if weight > best_weight + 1e-9:
            best, best_weight = (first, last + 1), weight
    return best


def _at_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Move cut ends that fall inside a word inwards, to its border, if one is near."""
    if 0 < start < len(text) and text[start - 1].isalnum() and text[start].isalnum():
        blank = _BLANKS.search(text, start, min(start + 40, end))
        start = blank.end() if blank else start
    if 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        blank_at = max(text.rfind(mark, max(start, end - 40), end) for mark in " \n\t")
        end = blank_at if blank_at > start else end
    return start, end


def _folded(text: str, start: int, end: int, matches: Sequence[Match]) -> Snippet:
    """The extract on one line; offsets of the matches follow the folding of white space."""
    pieces: list[str] = [ELLIPSIS] if start > 0 else []
    moved: list[tuple[int, int]] = []
    length = len(pieces)
    at = start
    inside = [m for m in matches if m.end > start and m.start < end]
    for match in inside:
        before = _BLANKS.sub(" ", text[at : max(at, match.start)])
        if length == len(ELLIPSIS) * (start > 0):
            before = before.lstrip(" ")
        word = text[max(at, match.start) : min(end, match.end)]
        pieces += [before, word]
        moved.append((length + len(before), length + len(before) + len(word)))
        length += len(before) + len(word)
        at = min(end, match.end)
    tail = _BLANKS.sub(" ", text[at:end]).rstrip(" ")
    if not inside:
        tail = tail.lstrip(" ")
    pieces.append(tail)
    if end < len(text):
        pieces.append(ELLIPSIS)
    return Snippet("".join(pieces), tuple(moved))
