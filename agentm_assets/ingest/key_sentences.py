"""The sentences of a text that say most of it, by how often its own words occur (Luhn 1958).

No word is added, and the order stays.
"""

import math
import re
from collections import Counter
from typing import Final

from agentm_assets.ingest.account import names
from agentm_assets.ingest.prose import paragraphs, sentences

_WORD: Final = re.compile(r"[^\W_][\w.'/-]*[^\W_]|[^\W_]")
_TELLING: Final = re.compile(
    r"\d|\b(?:decid|agree|conclu|because|must|should|will|deadline|due|approv|result|cause|fix|"
    r"recommend|default|require|instead|means)",
    re.IGNORECASE,
)
_EMPTY: Final = names("""
    a about above after again all also am an and any are as at be because been before being
    below between both but by can could did do does doing down during each few for from further
    had has have having he her here hers him his how i if in into is it its just me more most my
    no nor not now of off on once only or other our out over own same she should so some such
    than that the their them then there these they this those through to too under until up very
    was we were what when where which while who whom why will with would you your der die das
    und ist ein eine nicht mit auf für von zu den dem des im in sich auch es wir ich sie
""")
MOST_SENTENCES_READ: Final = 2_000
_LONGEST: Final = 500
_FEWEST_WORDS: Final = 4


def key_sentences(text: str, most: int, *, count: int = 8) -> list[str]:
    """Up to `count` sentences, of `most` characters together; all of them where they fit."""
    found: list[str] = []
    for paragraph in paragraphs(text):
        found += (each for each in sentences(paragraph) if len(each) <= _LONGEST)
        if len(found) >= MOST_SENTENCES_READ:
            break
    found = [each for each in dict.fromkeys(found) if len(each.split()) >= _FEWEST_WORDS]
    words = [[w for w in _words(each) if w not in _EMPTY] for each in found]
    seen = Counter(word for each in words for word in set(each))
    scores = [
        sum(math.log1p(seen[word]) for word in set(own)) / (4 + len(own))
        + (0.4 if _TELLING.search(sentence) else 0)
        + 0.6 / (1 + at)
        for at, (sentence, own) in enumerate(zip(found, words, strict=True))
    ]
    chosen: list[int] = []
    room = most
    for at in sorted(range(len(found)), key=lambda at: (-scores[at], at)):
        if len(chosen) < count and len(found[at]) <= room:
            chosen.append(at)
            room -= len(found[at]) + 1
    return [found[at] for at in sorted(chosen)]


def _words(sentence: str) -> list[str]:
    return [match[0].casefold() for match in _WORD.finditer(sentence)]
