"""The file of a gold set: a JSON list of questions, checked before anything is asked."""

import json
from dataclasses import dataclass
from pathlib import Path


class QuestionsUnusable(Exception):
    """The question set can't be asked; the text says which entry, and the cure."""


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
    return GoldQuestion(expected_note_paths=tuple(paths), **texts)
