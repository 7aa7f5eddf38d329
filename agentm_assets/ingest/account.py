"""What a session log tells, gathered record by record. The raw lines are let go."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from agentm_assets.contract.properties import parse_date

Record = Mapping[str, Any]

MOST_SAID: Final = 2_000
"""Messages of the operator that are kept of one reading; those after them are counted."""

MOST_SAID_CHARACTERS: Final = 4_000
"""A longer message is pasted material for the most part: its beginning is kept."""

MOST_ANSWER_CHARACTERS: Final = 20_000
MOST_TOUCHED: Final = 2_000
_MOST_UNKNOWN: Final = 200
_UNNAMED: Final = re.compile(r"[^\w./$-]+")


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the operator or the agent. `at`: ISO text as the log has it, "" when it has none."""

    text: str
    at: str


@dataclass(slots=True)
class Account:
    """`said` and `answers` are by the id of the record, in the order of their first telling.

    `title`: the name that the host gave the session. `is_subagent`: an agent started it, so nothing
    in it is the operator's word. `unknown`: records of types that the reader does not know.
    """

    session_id: str = ""
    title: str = ""
    first_prompt: str = ""
    started: str = ""
    ended: str = ""
    folder: str = ""
    is_subagent: bool = False
    prompts: int = 0
    said: dict[str, Said] = field(default_factory=dict)
    answers: dict[str, Said] = field(default_factory=dict)
    touched: dict[str, None] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)

    def moment(self, written: str) -> None:
        """A record's time: the first and the last one bound the session."""
        if written:
            self.started = self.started or written
            self.ended = written

    def says(self, key: str, text: str, at: str) -> None:
        """The operator wrote this. A second telling under one key takes the first one's place."""
        text = text.strip()
        if not text:
            return
        text = _beginning(text, MOST_SAID_CHARACTERS)
        self.first_prompt = self.first_prompt or text
        known = bool(key) and key in self.said
        self.prompts += not known
        if known or len(self.said) < MOST_SAID:
            self.said[key or f"#{self.prompts}"] = Said(text, at)

    def answers_with(self, key: str, text: str, at: str) -> None:
        """The agent wrote this. Of its words only the last ones are kept."""
        text = text.strip()
        if not text:
            return
        key = key or f"#{len(self.answers)}"
        self.answers[key] = Said(_beginning(text, MOST_ANSWER_CHARACTERS), at)
        while len(self.answers) > 4:
            del self.answers[next(iter(self.answers))]

    def touches(self, path: str) -> None:
        if path and len(self.touched) < MOST_TOUCHED:
            self.touched[path] = None

    def forgets_from(self, key: str) -> None:
        """The conversation was taken back to before this record (of it and what follows)."""
        for kept in (self.said, self.answers):
            keys = list(kept)
            if key in kept:
                for each in keys[keys.index(key) :]:
                    del kept[each]

    def does_not_know(self, kind: object) -> None:
        name = _UNNAMED.sub("_", str(kind))[:60] if isinstance(kind, str) and kind else "(no type)"
        if name in self.unknown or len(self.unknown) < _MOST_UNKNOWN:
            self.unknown[name] += 1

    @property
    def last_answer(self) -> Said | None:
        return next(reversed(self.answers.values()), None)


def _beginning(text: str, most: int) -> str:
    """Cut between words, so that no half of a secret is left that nobody knows as one."""
    if len(text) <= most:
        return text
    words = text[: most + 1].rsplit(None, 1)
    return words[0] if len(words) == 2 else ""


def names(text: str) -> frozenset[str]:
    """The words of a text, for tables of names."""
    return frozenset(text.split())


def text_of(record: object, *keys: str) -> str:
    """The text under nested keys, "" for anything else."""
    value = record
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""


def parts_of(value: object) -> Iterator[Record]:
    """The objects of a list."""
    for part in value if isinstance(value, list) else []:
        if isinstance(part, Mapping):
            yield part


def moment_of(written: str) -> datetime | None:
    """A time of a log as an aware moment; None for what is none."""
    found = parse_date(written.strip()) if written.strip() else None
    return found if isinstance(found, datetime) and found.tzinfo is not None else None
