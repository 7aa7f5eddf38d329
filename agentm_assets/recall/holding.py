"""Which terms of a question a text holds, without cutting all of the text into terms.

Only words that begin like a term are brought into the form of terms: for a question's sections that
is a few milliseconds instead of twenty.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from agentm_assets.index.lexical_terms import normal, words
from agentm_assets.index.word_forms import other_forms

_TELLING_START = 3
"""Letters of a term that the stemmer leaves as they were, but for a `y` that became an `i`."""

_UNSURE = re.compile(r"[iy]")
_LETTER = r"[\w\u0300-\u036f]"  # marks too: the small form of a dotted capital I is two signs
_WORD = re.compile(f"{_LETTER}+")
_FOLDED = re.compile(rf"(?<!{_LETTER}){_LETTER}{{0,2}}(?![\x00-\x7f]){_LETTER}+")


class Holding:
    """The terms of one question, ready to be looked for in many texts."""

    def __init__(self, terms: Mapping[str, float]) -> None:
        self._weights = terms
        self._whole = sum(terms.values())
        self._known: dict[str, frozenset[str]] = {}  # the same words stand in many sections
        spelled = {form: term for term in terms for form in other_forms(term)}
        self._term_of = {**spelled, **{term: term for term in terms}}
        plain = [term for term in self._term_of if term.isascii()]
        # Pairs of characters of scripts without blanks are terms as they stand in the text.
        self._elsewhere = [term for term in terms if not term.isascii()]
        self._starts = sorted({_start(term) for term in plain})

    def held(self, text: str) -> frozenset[str]:
        """The terms that `text` holds, in any of their forms."""
        text = normal(text).lower()
        found = {term for word in self._alike(text) for term in self._terms_in(word)}
        found.update(term for term in self._elsewhere if term in text)
        return frozenset(found)

    def _alike(self, text: str) -> Iterator[str]:
        """The words that may be one of the terms."""
        for start in self._starts:
            at = text.find(start)
            while at >= 0:
                word = _WORD.match(text, at)
                end = word.end() if word else at + 1
                if at == 0 or _WORD.match(text, at - 1) is None:
                    yield text[at:end]
                at = text.find(start, end)
        if self._starts and not text.isascii():
            yield from _FOLDED.findall(text)  # their terms begin with other letters

    def _terms_in(self, word: str) -> frozenset[str]:
        known = self._known.get(word)
        if known is None:
            terms = words(word)
            known = frozenset(self._term_of[each] for each in terms if each in self._term_of)
            self._known[word] = known
        return known

    def share(self, held: Iterable[str]) -> float:
        """What these terms weigh of all, 0..1; 0 for a question without terms."""
        return sum(self._weights[term] for term in held) / self._whole if self._whole > 0 else 0.0


def _start(term: str) -> str:
    start = term[:_TELLING_START]
    unsure = _UNSURE.search(start, 1)
    return start[: unsure.start()] if unsure else start
