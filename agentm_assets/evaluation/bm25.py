"""The floor: BM25 over lower-cased words, without stems, stop words or fields.

Every result stands beside it, measured in the same run on the same texts.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping

K1, B = 1.2, 0.75
"""The usual constants (Robertson and Zaragoza 2009, section 3.3)."""

_WORD = re.compile(r"\w+")


class PlainBm25:
    """An index of texts by a name each."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._names = list(texts)
        counts = [Counter(_words(text)) for text in texts.values()]
        lengths = [sum(words.values()) for words in counts]
        mean = sum(lengths) / max(1, len(lengths)) or 1.0
        self._norms = [K1 * (1 - B + B * length / mean) for length in lengths]
        self._holders: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, words in enumerate(counts):
            for word, count in words.items():
                self._holders[word].append((number, count))

    def rank(self, question: str, k: int) -> list[str]:
        """The names of at most k texts that share a word with the question, best first; equal
        scores in the order of the texts."""
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(set(_words(question))):
            holders = self._holders.get(word, [])
            rarity = math.log(1 + (len(self._names) - len(holders) + 0.5) / (len(holders) + 0.5))
            for number, count in holders:
                scores[number] += rarity * count * (K1 + 1) / (count + self._norms[number])
        best = sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))
        return [self._names[number] for number, _score in best[:k]]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
