"""A result as it is kept: the figures, and every question with where its answer stood."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentm_assets.evaluation.metrics import place_of
from agentm_assets.evaluation.report import DEPTH, Ranked
from agentm_assets.recall.answer import Verdict

VERSION = 1
Kind = Literal["gold", "known", "locomo"]


class ResultUnusable(Exception):
    """A file holds no result that can be compared; the text says why."""


class SavedQuestion(BaseModel):
    """One question of a run.

    `asked` tells the question with what answers it from another of the same id. `place`: of the
    first right item among the first ten. `right`: how many items are right, 1 where any one of
    several does, 0 for a question that nothing answers; `found_5` and `found_10` are how many of
    them stand among the first five and ten.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    id: str
    asked: str
    group: str
    verdict: Verdict
    place: int | None = Field(ge=1, le=DEPTH)
    right: int = Field(ge=0)
    found_5: int = Field(alias="found@5", ge=0)
    found_10: int = Field(alias="found@10", ge=0)

    @property
    def answerable(self) -> bool:
        return self.right > 0


class SavedResult(BaseModel):
    """A run, as far as it is compared. `name`: of the question set, "set" in the file. `at`: when
    it was asked, ISO 8601."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    v: Literal[1]
    kind: Kind
    name: str = Field(alias="set")
    at: str
    corpus_sha256: str = Field(min_length=1)
    seed: int
    mode: str
    model: str | None
    versions: dict[str, str]
    questions: tuple[SavedQuestion, ...]


def question_of(
    ranked: Ranked, verdict: Verdict, asked: str, *, any_of: bool = False
) -> SavedQuestion:
    """`any_of`: one right item is all that is wanted."""
    found = ranked.found[:DEPTH]
    right = ranked.right
    within = {k: len(set(found[:k]) & right) for k in (5, 10)}
    most = 1 if any_of else len(right)
    return SavedQuestion.model_validate(
        {
            "id": ranked.id,
            "asked": asked_digest(asked, right),
            "group": ranked.group,
            "verdict": verdict,
            "place": place_of(found, right),
            "right": most,
            "found@5": min(most, within[5]),
            "found@10": min(most, within[10]),
        }
    )


def asked_digest(question: str, right: Iterable[str]) -> str:
    """Of a question and what answers it."""
    text = "\0".join((question, *sorted(right)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def saved_text(
    kind: Kind,
    name: str,
    at: str,
    payload: Mapping[str, object],
    questions: Sequence[SavedQuestion],
) -> str:
    """The file: the payload as `--json` prints it, its head before and its questions after, one a
    line, so that git shows which changed."""
    head = {"v": VERSION, "kind": kind, "set": name, "at": at, **payload}
    lines = ",\n".join(_line(question) for question in questions)
    body = json.dumps(head, ensure_ascii=False, indent=1)
    return f'{body.removesuffix("}").rstrip()},\n "questions": [\n{lines}\n]}}\n'


def parse_result(data: bytes, where: str) -> SavedResult:
    """Raises ResultUnusable. `where` names the file in its words."""
    try:
        found = SavedResult.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ResultUnusable(
            f"{where} is no result of `agentm eval --out` ({place}: {first['msg']}). Name a file "
            "that --out or --accept wrote."
        ) from error
    if len({question.id for question in found.questions}) < len(found.questions):
        raise ResultUnusable(f"{where}: two of its questions have the same id. Make it anew.")
    return found


def read_result(file: Path) -> SavedResult:
    """Raises ResultUnusable, OSError."""
    return parse_result(file.read_bytes(), str(file))


def _line(question: SavedQuestion) -> str:
    return json.dumps(question.model_dump(by_alias=True), ensure_ascii=False)
