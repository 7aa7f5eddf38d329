"""What the operator laid down in a session: decisions, preferences, corrections, reminders.

Cue words of English, and of German where they are plain. What says none of it is no memory.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from agentm_assets.ingest.prose import paragraphs, sentences

StatementType = Literal["preference", "convention", "reference"]

MOST_CHARACTERS: Final = 600
_READ: Final = 4 * MOST_CHARACTERS  # of a paragraph
_FEWEST_WORDS: Final = 4
_LONGEST_SENTENCE: Final = 400


def _cues(kind: StatementType, *phrases: str) -> tuple[StatementType, re.Pattern[str]]:
    return kind, re.compile("|".join(phrases), re.IGNORECASE)


_MAKES: Final = (
    r"(?:use|add|commit|push|write|run|call|touch|edit|change|delete|put|create|make|mock|import|"
    r"using|adding|check|ask|keep|start|test|set|prefer|include|name)\b"
)
_CUES: Final = (
    _cues(
        "preference",
        r"\bi(?:'d| would)? (?:prefer|rather)\b",
        r"\bi (?:really )?(?:like|love|hate|dislike) (?:it |to |when |that |how )",
        r"\bi (?:do not|don't|never) want\b",
        r"\bi (?:always )?want you to\b",
        r"\bmy preference\b|\bi can't stand\b",
        r"\bich (?:bevorzuge|mag|m\u00f6chte|will) (?:kein|lieber|immer|nie)",
    ),
    _cues(
        "convention",
        r"\b(?:from now on|going forward|in (?:the )?future,|henceforth|as a rule|by convention)",
        r"\bthe (?:rule|decision) is\b|\bdecision:",
        r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|settled|chose|chosen|standardi[sz]ed)\b",
        r"\blet's (?:go with|use|stick|keep|switch|not|drop|avoid)\b",
        r"\b(?:we|i)(?:'re| are|'m| am)? going with\b|\bstick (?:with|to)\b",
        r"\bwe (?:(?:always |never )?use|(?:do not|don't|never|always) \w+)\b",
        r"\b(?:you|we|it|they|tests?|commits?) (?:must|should) (?:always|never|not)\b",
        r"\bmust(?: not|n't| never| always)\b",
        rf"\b(?:do not|don't|never|stop) (?:ever )?{_MAKES}",
        rf"(?:\A|please |[,;:] |\band )always {_MAKES}",
        r"\buse \S+(?: \S+){0,3} (?:instead of|rather than|and not)\b",
        r"\binstead of \S+,? (?:use|call|run|write)\b",
        r"\b(?:ab jetzt|von nun an|in zukunft|k\u00fcnftig)\b",
        r"\bwir (?:nutzen|verwenden|benutzen|haben (?:uns )?(?:entschieden|beschlossen))\b",
    ),
    _cues(
        "convention",
        r"\A(?:no|nope|nein)[,.!] ",
        r"\A(?:actually|stop)[,:] ",
        r"\bthat(?:'s| is) (?:wrong|not (?:right|correct|what))\b",
        r"\bi meant\b|\bnot [`\w./-]+,? but\b",
        r"\byou (?:keep|should have|shouldn't have)\b",
    ),
    _cues(
        "reference",
        r"\bremember (?:that|to|this|:)|\b(?:keep|bear) in mind\b|\bnote that\b|\bfyi\b",
        r"\bfor (?:the record|future reference)\b",
        r"\bmerke? dir\b|\bzur info\b|\b(?:wichtig|important):",
    ),
)


@dataclass(frozen=True, slots=True)
class Statement:
    """`text` is the operator's own words, up to MOST_CHARACTERS."""

    text: str
    type: StatementType


def statements(said: str) -> list[Statement]:
    """What a message lays down, a statement a paragraph. Code, quotations and questions say
    nothing."""
    found: list[Statement] = []
    for paragraph in paragraphs(said):
        parts = sentences(paragraph[:_READ])
        if len(paragraph) > _READ:
            parts.pop()  # cut short
        hits = [(at, kind) for at, part in enumerate(parts) if (kind := _kind(part))]
        if not hits:
            continue
        first, kind = hits[0]
        last = hits[-1][0]
        text = " ".join(parts[first : last + 2])
        if len(text) > MOST_CHARACTERS:
            text = " ".join(parts[at] for at, _ in hits)
        while len(text) > MOST_CHARACTERS and len(hits) > 1:
            hits.pop()
            text = " ".join(parts[at] for at, _ in hits)
        found.append(Statement(text, kind))
    return found


def _kind(sentence: str) -> StatementType | None:
    if len(sentence) > _LONGEST_SENTENCE or len(sentence.split()) < _FEWEST_WORDS:
        return None
    if sentence.rstrip("\"')*_ ").endswith("?"):
        return None
    straight = sentence.replace("\u2019", "'")
    return next((kind for kind, cue in _CUES if cue.search(straight)), None)
