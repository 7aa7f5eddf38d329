"""The file of a gold set: a JSON list of questions, checked before anything is asked."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.personal import is_personal

RESERVED = frozenset({"all", "negatives"})
"""No names of strata: figures, bars and comparisons give them a meaning of their own."""


class QuestionsUnusable(Exception):
    """The question set can't be asked; the text says which entry, and the cure."""

    @property
    def for_the_record(self) -> str:
        """The text as it may be stored outside the vault: no path under personal/."""
        return str(self)


class PathsMissing(QuestionsUnusable):
    """The set names notes that the vault does not hold. The operator is told which; what is stored
    of it says no more of `personal/` than the question's id."""

    def __init__(self, store: str, missing: Sequence[tuple[str, str]]) -> None:
        """`missing`: id of the question, path."""
        self._store, self._missing = store, tuple(missing)
        super().__init__(self._text("holds no note", [repr(path) for _id, path in missing]))

    @property
    def for_the_record(self) -> str:
        private = {path for _id, path in self._missing if _may_be_personal(path)}
        if not private:
            return str(self)
        return self._text(
            "lacks",
            [
                "a note of personal/" if path in private else f"the note {path!r}"
                for _id, path in self._missing
            ],
        )

    def _text(self, lacks: str, paths: Sequence[str]) -> str:
        named = [
            f"{path} (question {id_})"
            for path, (id_, _path) in zip(paths[:3], self._missing, strict=False)
        ]
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        return (
            f"the vault {self._store} {lacks} {', '.join(named)}{more}. "
            "Nothing was asked: name the vault that the questions are about, or correct the paths."
        )


def _may_be_personal(path: str) -> bool:
    try:
        return is_personal(Locator(path))
    except LocatorInvalid:
        # "./personal/x.md" and the like are no places, but may name one.
        return "personal" in path.casefold()


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """Any of `expected_note_paths` (relative to the vault) answers it; none means that no note
    does. `stratum` groups questions of one kind."""

    id: str
    question: str
    expected_note_paths: tuple[str, ...]
    stratum: str


def read_questions(file: Path) -> tuple[GoldQuestion, ...]:
    """Raises QuestionsUnusable, OSError."""
    return parse_questions(file.read_bytes(), str(file))


def parse_questions(data: bytes, file: str) -> tuple[GoldQuestion, ...]:
    """Raises QuestionsUnusable, in whose words `file` is the name. Keys beyond the four are left
    alone."""
    try:
        entries = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise QuestionsUnusable(f"{file} is no JSON ({error}). Correct it.") from error
    if not isinstance(entries, list) or not entries:
        raise QuestionsUnusable(f"{file} holds no list of questions. See docs/evaluation.md.")
    questions = tuple(_question(file, number, each) for number, each in enumerate(entries, start=1))
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise QuestionsUnusable(f"{file}: two questions have the id {question.id!r}.")
        seen.add(question.id)
    return questions


def _question(file: str, number: int, entry: object) -> GoldQuestion:
    where = f"{file}, question {number}"
    if not isinstance(entry, dict):
        raise QuestionsUnusable(f"{where} is no object. See docs/evaluation.md.")
    paths = entry.get("expected_note_paths")
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise QuestionsUnusable(
            f"{where}: `expected_note_paths` must be a list of paths, an empty one for a question "
            "that no note answers."
        )
    texts = {}
    for key in ("id", "question", "stratum"):
        text = entry.get(key)
        if not isinstance(text, str) or not text.strip():
            raise QuestionsUnusable(f"{where}: `{key}` must be a text that is not empty.")
        texts[key] = text
    if texts["stratum"].strip() in RESERVED:
        raise QuestionsUnusable(
            f"{where}: `stratum` can't be {texts['stratum']!r}: results and bars call figures of "
            "their own so (every answerable question, those without an answer). Call it something "
            "else."
        )
    return GoldQuestion(expected_note_paths=tuple(paths), **texts)
