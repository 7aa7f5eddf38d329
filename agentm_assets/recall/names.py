"""The third arm: notes that a question names, by an entity or by a name of theirs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from agentm_assets.index.build import name_key
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical_terms import STOP_WORDS

ENTITY_BONUS = 1.0
"""A note that mentions the very thing that was named goes before all that do not, when few do."""

OWN_NAME_BONUS = 0.4
DERIVED_NAME_BONUS = 0.1
"""A name is weaker evidence than a reference, since words of a question form names by chance, and
one that was extracted is weaker than one that was given."""

_MOST_WORDS = 64
_LONGEST_NAME = 6  # words
_MOST_NOTES = 8
"""A name that more notes bear tells nothing."""

_SPECIFIC = ("issue:", "commit:", "url:", "gist:", "mr:", "gerrit:", "jira:", "cve:")
_WORD = re.compile(r"\S+")
_EDGE_MARKS = "\"'`“”‘’«»()[]{}<>.,;:!?*_"


@dataclass(frozen=True, slots=True)
class Named:
    """A note that the question names. `start` is the byte of the mention, None for an alias."""

    bonus: float
    start: int | None


def notes_with_entities(keys: Sequence[str], facts: FactsReader) -> dict[str, Named]:
    """The notes that mention an entity of the question. The more notes do, the less each gains."""
    found: dict[str, Named] = {}
    for key in keys:
        is_commit = key.startswith("commit:")
        mentions = facts.notes_with_commit(key) if is_commit else facts.notes_with_entity(key)
        bonus = ENTITY_BONUS / sqrt(max(1, len({mention.path for mention in mentions})))
        for mention in mentions:
            if mention.path not in found or bonus > found[mention.path].bonus:
                found[mention.path] = Named(bonus, mention.start)
    return found


def names_unknown_thing(keys: Sequence[str], found: Mapping[str, Named]) -> bool:
    """Whether the question is about one issue, commit or page that no note mentions."""
    return not found and any(key.startswith(_SPECIFIC) for key in keys)


def notes_called(question: str, facts: FactsReader) -> dict[str, Named]:
    """The notes that the question calls by a name: a given one, or an extracted one of two words
    or more."""
    words = [word.strip(_EDGE_MARKS) for word in _WORD.findall(question)[:_MOST_WORDS]]
    keys = {
        name_key(" ".join(words[at : at + size]))
        for size in range(1, _LONGEST_NAME + 1)
        for at in range(len(words) - size + 1)
    }
    found: dict[str, Named] = {}
    for key, names in facts.aliases(sorted(keys - STOP_WORDS)).items():
        if len({name.path for name in names}) > _MOST_NOTES:
            continue
        for name in names:
            if name.origin == "own":
                found[name.path] = Named(OWN_NAME_BONUS, None)
            elif " " in key:
                found.setdefault(name.path, Named(DERIVED_NAME_BONUS, None))
    return found
