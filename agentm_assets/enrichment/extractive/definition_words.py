"""Cue words for a type that nobody made a list for: the words of its definition."""

import re
from collections.abc import Mapping

from agentm_assets.enrichment.extractive.cue_words import FUNCTION_WORDS
from agentm_assets.enrichment.extractive.features import CUED_TYPES

_WORD = re.compile(r"[^\W\d_]{3,40}")


def words_of_new_types(
    definitions: Mapping[str, str], names: tuple[str, ...]
) -> dict[str, frozenset[str]]:
    """For each of `names` without a list: its name and the words that its definition alone has, in
    singular and plural."""
    words = {name: frozenset(_WORD.findall(text.casefold())) for name, text in definitions.items()}
    found: dict[str, frozenset[str]] = {}
    for name in names:
        if name in CUED_TYPES:
            continue
        common = frozenset().union(*(words[other] for other in words if other != name))
        own = {*name.split("-"), *words.get(name, frozenset())} - common - FUNCTION_WORDS
        found[name] = frozenset(form for word in own for form in _forms(word))
    return found


def _forms(word: str) -> tuple[str, ...]:
    return (word, word[:-1]) if word.endswith("s") and len(word) > 3 else (word, f"{word}s")
