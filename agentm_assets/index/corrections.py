"""Words of a question that the index does not know, and the known ones that were probably meant.

One wrong, missing, doubled or swapped letter is forgiven in words of 4 letters, two from 8 on. A
word that any chunk has is never taken for another. The dictionary is searched among the words that
begin with the same two letters; other beginnings are tried one by one, one edit away
(docs/performance.md: a millisecond or two a word at 75,000 chunks).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from agentm_assets.index.lexical_terms import folded, words

SHORTEST = 4
"""Letters of a word that may be corrected: a shorter one is near to too many others."""

TWO_FROM = 8
"""Letters from which two edits are forgiven."""

MOST_UNKNOWN = 4
"""Unknown words of a question that are looked up; bounds the cost of a pasted page."""

_BEGINNING = 2
_LONGEST = 32

_ENDINGS = frozenset(
    """y ty ity er or ee al ial ic ish ist ism ive age ant ance ent ence ment ness less ful dom hood
    ship able ible ation ian ite ory ous ure ward wise""".split()  # noqa: SIM905 - as STOP_WORDS
)
"""Endings that make another English word of a stem. An inflected form has the stem's own term."""


@dataclass(frozen=True, slots=True)
class Correction:
    """`word` as it was asked, its `unknown` term, the word `meant`, and the `term` of that."""

    word: str
    unknown: str
    meant: str
    term: str


@dataclass(frozen=True, slots=True)
class Dictionary:
    """What the index knows: the number of chunks that have a word, and the words that begin with
    some letters, with their numbers. Folded, not stemmed."""

    seen: Callable[[str], int]
    beginning_with: Callable[[str], Iterable[tuple[str, int]]]


def corrections_of(unknown: Sequence[tuple[str, str]], known: Dictionary) -> list[Correction]:
    """Corrections of the first of some (word, term) pairs without a chunk; those without a near
    word are left out."""
    found: list[Correction] = []
    for word, term in unknown[:MOST_UNKNOWN]:
        spelled = folded(word)
        if spelled.isalpha() and SHORTEST <= len(spelled) <= _LONGEST:
            meant = _nearest(spelled, known)
            if meant is not None:
                found.append(Correction(word, term, meant, words(meant)[0]))
    return found


def nearer(one: Sequence[Correction], other: Sequence[Correction]) -> list[Correction]:
    """Of the corrections that two dictionaries make of the same words the nearer ones, equally near
    ones those of the first."""
    best = {each.unknown: each for each in one}
    for each in other:
        first = best.get(each.unknown)
        if first is None or _distance(each) < _distance(first):
            best[each.unknown] = each
    return list(best.values())


def _distance(correction: Correction) -> int:
    return edits(folded(correction.word), correction.meant, 2)


def _nearest(spelled: str, known: Dictionary) -> str | None:
    """The nearest word, of equally near ones the one of most chunks.

    A word derived from another is no slip of it: "warranty" is not "warrants".
    """
    most = 1 if len(spelled) < TWO_FROM else 2
    shortest, longest = max(SHORTEST, len(spelled) - most), len(spelled) + most
    letters = set(spelled)
    best: dict[str, tuple[int, int]] = {}
    for word, seen in known.beginning_with(spelled[:_BEGINNING]):
        if (
            shortest <= len(word) <= longest
            and len(letters.symmetric_difference(word)) <= 2 * most
            and (distance := edits(spelled, word, most)) <= most
            and word.isalpha()
            and not _is_derived(spelled, word)
        ):
            best[word] = min((distance, -seen), best.get(word, (distance, 0)))
    if not any(distance == 1 for distance, _seen in best.values()):
        for word in dict.fromkeys(_other_beginnings(spelled)):
            if len(word) >= SHORTEST and (seen := known.seen(word)):
                best[word] = (1, -seen)
    return min(best, key=lambda word: (best[word], word), default=None)


def _is_derived(spelled: str, word: str) -> bool:
    stem = words(word)[0]
    return spelled.startswith(stem) and spelled[len(stem) :] in _ENDINGS


def _other_beginnings(word: str) -> list[str]:
    """The words that one edit of the first letters makes of this one."""
    letters = "abcdefghijklmnopqrstuvwxyz" if word.isascii() else ""
    found: list[str] = []
    for at in range(_BEGINNING):
        before, here, after = word[:at], word[at], word[at + 1 :]
        found += [before + after, before + after[0] + here + after[1:]]
        found += [before + letter + after for letter in letters]
        found += [before + letter + here + after for letter in letters]
    return found


def edits(one: str, other: str, most: int) -> int:
    """Letters to insert, leave out, replace or swap with their neighbour to make one word of the
    other; `most` + 1 for more than `most`."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    same = 0
    for letter, its in zip(one, other, strict=False):
        if letter != its:
            break
        same += 1
    one, other = one[same:], other[same:]
    if not one or not other:
        return len(one) + len(other)
    if most == 0:
        return 1
    least = min(
        edits(one[1:], other[1:], most - 1),
        edits(one[1:], other, most - 1),
        edits(one, other[1:], most - 1),
    )
    if one[:2] == other[1::-1] and len(one) > 1:
        least = min(least, edits(one[2:], other[2:], most - 1))
    return least + 1
