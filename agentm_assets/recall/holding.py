"""Which terms of a question a text holds, without cutting all of the text into terms.

Only words that begin like a term are brought into the form of terms: for some thirty sections that
is a millisecond instead of ten.
"""

import re
from collections.abc import Iterable, Mapping

from agentm_assets.index.lexical_terms import normal, words
from agentm_assets.index.word_forms import other_forms

_TELLING_START = 3
"""Letters of a term that the stemmer leaves as they were, but for a `y` that became an `i`."""

_UNSURE = re.compile(r"[iy]")


class Holding:
    """The terms of one question, ready to be looked for in many texts."""

    def __init__(self, terms: Mapping[str, float]) -> None:
        self._weights = terms
        self._whole = sum(terms.values())
        spelled = {form: term for term in terms for form in other_forms(term)}
        self._term_of = {**spelled, **{term: term for term in terms}}
        plain = [term for term in self._term_of if term.isascii()]
        # Pairs of characters of scripts without blanks are terms as they stand in the text.
        self._elsewhere = [term for term in terms if not term.isascii()]
        starts = sorted({_start(term) for term in plain})
        self._words = re.compile(
            rf"(?<!\w)(?:(?:{'|'.join(map(re.escape, starts))})\w*|\w{{0,2}}[^\x00-\x7f]\w*)"
            if starts
            else r"(?!)"
        )

    def held(self, text: str) -> frozenset[str]:
        """The terms that `text` holds, in any of their forms."""
        text = normal(text).lower()
        alike = set(self._words.findall(text))
        found = {self._term_of[each] for each in words("\n".join(alike)) if each in self._term_of}
        found.update(term for term in self._elsewhere if term in text)
        return frozenset(found)

    def share(self, held: Iterable[str]) -> float:
        """What these terms weigh of all, 0..1; 0 for a question without terms."""
        return sum(self._weights[term] for term in held) / self._whole if self._whole > 0 else 0.0


def _start(term: str) -> str:
    start = term[:_TELLING_START]
    unsure = _UNSURE.search(start, 1)
    return start[: unsure.start()] if unsure else start
