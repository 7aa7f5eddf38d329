"""The verdict over a pass: is a note found by what it says?

A sentence of the body, without the words of the title, is asked as a question; the note must come
among the first five. Asked of the index on this machine: no model and no network.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from agentm_assets.contract import properties
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.enrichment.report import Answerability
from agentm_assets.extract.mask import ALL, blank, find_regions
from agentm_assets.index.lexical_terms import STOP_WORDS
from agentm_assets.recall.errors import QuestionRefused
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions
from agentm_assets.recall.sources import Sources
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import NoteUnreadable, StorageBackend

WITHIN: Final = 5
_FEWEST_WORDS: Final = 4
"""That say something, and that the title does not say: a shorter sentence could be of any note."""

_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+|[ \t]*(?:\r\n?|\n)[ \t]*(?:[-*+>#]|\d+[.)])?[ \t]*")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")


def answerability(
    paths: Sequence[str],
    backend: StorageBackend,
    sources: Sources,
    *,
    now: datetime,
    clock: Callable[[], float],
    seconds: float,
) -> Answerability:
    """Ask for as many of these notes as `seconds` allow, in an order of no meaning that is always
    the same. Notes without a sentence to ask by are passed over. `sources`: of an index that holds
    the notes as they are. Raises ServingUnreadable."""
    deadline = clock() + seconds
    asked = found = 0
    missed: list[str] = []
    for path in sorted(paths, key=_shuffled):
        if clock() >= deadline:
            break
        try:
            question = question_of(path, backend.read_bytes(Locator(path)))
        except (FileNotFoundError, NoteUnreadable):
            continue
        if question is None:
            continue
        try:
            answer = recall(question, RecallOptions(now=now, k=WITHIN), sources)
        except QuestionRefused:
            continue
        asked += 1
        if any(path == hit.path or path in hit.duplicates for hit in answer.hits):
            found += 1
        else:
            missed.append(path)
    return Answerability(asked, found, tuple(sorted(missed)))


def question_of(path: str, data: bytes) -> str | None:
    """A sentence of the note without the words of its title; None where no sentence says enough
    beside them. Which one depends on the path alone."""
    frontmatter = read_frontmatter(data)
    body = data[frontmatter.body_start :].decode("utf-8", "replace")
    title = properties.title(frontmatter) or ""
    named = {word.casefold() for word in _WORD.findall(title)}
    prose = blank(body, find_regions(body), ALL - {"code"})
    questions = [
        shown
        for sentence in _SENTENCE.split(prose)
        if (shown := _without(sentence, named)) is not None
    ]
    return questions[_number(path) % len(questions)] if questions else None


def _without(sentence: str, named: set[str]) -> str | None:
    words = [word for word in _WORD.findall(sentence) if word.casefold() not in named]
    telling = {word.casefold() for word in words} - STOP_WORDS
    return " ".join(words) if len(telling) >= _FEWEST_WORDS else None


def _number(path: str) -> int:
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).digest()
    return int.from_bytes(digest[:8], "big")


def _shuffled(path: str) -> tuple[int, str]:
    return _number(path), path
