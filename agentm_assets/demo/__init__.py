"""A small vault to try agentm on, and questions that it can and can't answer.

The notes are the memory of an imaginary workshop that builds a kettle. They hold every type,
status, altitude, record kind and space, links of every sort, and one note whose properties can't be
read.
"""

import json
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question in other words than the notes.

    Any of `expected_note_paths` (relative to the vault) answers it; none means that no note does.
    `stratum`: paraphrase, distinctive-token, temporal-entity or negative.
    """

    id: str
    question: str
    expected_note_paths: tuple[str, ...]
    stratum: str


def sample_vault() -> Path:
    """The folder of the bundled vault. Copy it before use; nothing may write into the package.

    It has no `standards/storage-rules.md`: a new vault is given the default rules.
    """
    return _HERE / "vault"


def questions_file() -> Path:
    """The question set as a file in the form that the evaluation of a gold set reads."""
    return _HERE / "questions.json"


def demo_questions() -> tuple[DemoQuestion, ...]:
    """The questions for the sample vault, in order."""
    entries = json.loads(questions_file().read_text(encoding="utf-8"))
    return tuple(
        DemoQuestion(
            id=entry["id"],
            question=entry["question"],
            expected_note_paths=tuple(entry["expected_note_paths"]),
            stratum=entry["stratum"],
        )
        for entry in entries
    )
