"""The third arm: notes that a question names, by an entity or by a name of theirs."""

import re
import unicodedata
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from math import isclose, log, sqrt

from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical_terms import STOP_WORDS
from agentm_assets.recall.arms import LexicalArm

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
_ENTITY_MARK = re.compile(r"[#@/:]|\d")  # every form of an entity has one of these
_PART = re.compile(r"\w+")
_SENTENCE_START = re.compile(r"(?:\A|[.!?]\s)[\s\W]*\Z")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]")
_MOST_CAPITALS = 0.6  # share of capitalised words from which capitals tell nothing (headlines)
_MOST_NAMES = 16
_EDGE_MARKS = "\"'`“”‘’«»()[]{}<>.,;:!?*_"


@dataclass(frozen=True, slots=True)
class Named:
    """A note that the question names.

    `start` is the byte of the mention, None for an alias. `specific`: it mentions the one thing
    that is asked about (an issue, a commit, a page), not only a project or a person.
    """

    bonus: float
    start: int | None
    specific: bool = False


def entities_of(question: str, context: EntityContext) -> tuple[str, ...]:
    """Keys of the entities that a question names."""
    if _ENTITY_MARK.search(question) is None:
        return ()  # and the grammar is not even imported: 10 ms in a cold process
    from agentm_assets.extract.entities import entities_in_question

    return entities_in_question(question, context)


def notes_with_entities(keys: Sequence[str], facts: FactsReader) -> dict[str, Named]:
    """The notes that mention an entity of the question. The more notes do, the less each gains."""
    found: dict[str, Named] = {}
    for key in keys:
        is_commit = key.startswith("commit:")
        mentions = facts.notes_with_commit(key) if is_commit else facts.notes_with_entity(key)
        bonus = ENTITY_BONUS / sqrt(max(1, len({mention.path for mention in mentions})))
        for mention in mentions:
            if mention.path not in found or bonus > found[mention.path].bonus:
                found[mention.path] = Named(bonus, mention.start, _is_specific(key))
    return found


def names_unknown_thing(keys: Sequence[str], found: Mapping[str, Named]) -> bool:
    """Whether the question is about one issue, commit or page that no note mentions."""
    return not found and any(_is_specific(key) for key in keys)


def _is_specific(key: str) -> bool:
    """Whether a key names one thing for certain: `#1` and a bare hash are guesses."""
    guessed = key.startswith("issue:#") or (key.startswith("commit:") and "@" not in key)
    return key.startswith(_SPECIFIC) and not guessed


def notes_called(question: str, facts: FactsReader) -> dict[str, Named]:
    """The notes that the question calls by a name: a given one, or an extracted one of two words
    or more."""
    words = [word.strip(_EDGE_MARKS) for word in _WORD.findall(question)[:_MOST_WORDS]]
    keys = {
        _key(" ".join(words[at : at + size]))
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


def _key(name: str) -> str:
    # `AliasRow.alias_key` says what a key is; importing its builder costs a cold process 15 ms.
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def unseen_share(
    terms: Mapping[str, float], lexical: LexicalArm, known: Set[str] = frozenset()
) -> float:
    """Share (0..1) of the weight of a question's terms that no section holds. `known`: terms that
    one holds in another spelling."""
    whole = sum(terms.values())
    never_seen = _never_seen(lexical)
    unseen = (each for term, each in terms.items() if term not in known)
    return sum(each for each in unseen if isclose(each, never_seen)) / (whole or 1.0)


def _never_seen(lexical: LexicalArm) -> float:
    return log(1 + (lexical.count + 0.5) / 0.5)  # BM25's idf of a term without a document


def unknown_names(
    question: str,
    ignored: Sequence[tuple[int, int]],
    lexical: LexicalArm,
    known: Set[str] = frozenset(),
) -> tuple[str, ...]:
    """Names and identifiers in a question that no note holds at all.

    Measured: 58 of 100 questions that were asked of the wrong vault have one, 2 of 100 that the
    vault answers. A name begins with a capital inside a sentence; an identifier mixes letters with
    digits, underscores or inner capitals. `ignored` are spans of other meaning (time phrases),
    `known` terms that a note holds in another spelling.
    """
    words = list(_PART.finditer(question))
    capitals = sum(1 for word in words if word[0][0].isupper())
    trust_capitals = capitals <= _MOST_CAPITALS * len(words)
    never_seen = _never_seen(lexical)
    found: list[str] = []
    for word in words:
        if any(start <= word.start() < end for start, end in ignored) or word[0].isdigit():
            continue
        if len(word[0]) < 2 or word[0].lower() in STOP_WORDS:
            continue
        before = question[max(0, word.start() - 8) : word.start()]
        is_capital = word[0][0].isupper() and not _SENTENCE_START.search(before)
        if not (trust_capitals and is_capital) and not _is_identifier(word[0]):
            continue
        terms = lexical.question_terms(word[0])
        if terms and all(
            term not in known and isclose(weight, never_seen) for term, weight in terms
        ):
            found.append(word[0])
            if len(found) == _MOST_NAMES:
                break
    return tuple(found)


def _is_identifier(word: str) -> bool:
    letters, digits = any(c.isalpha() for c in word), any(c.isdigit() for c in word)
    return (letters and digits) or "_" in word or _INNER_CAPITAL.search(word) is not None
