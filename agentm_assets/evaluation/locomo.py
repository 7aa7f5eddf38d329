"""LoCoMo: long conversations and questions about them, each with the turns that answer it.

A conversation becomes a vault: a note a session, with its date, and a section a turn. Questions are
asked of their own conversation alone and scored by the turns that come back, as others publish it:
fractional recall@k over categories 1 to 4 with at least one well-formed piece of evidence.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from pathlib import Path

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "unanswerable"}

_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D0*(\d+):0*(\d+)")


class NotLocomo(Exception):
    """The file is not in LoCoMo's form; the text says where."""


@dataclass(frozen=True, slots=True)
class Question:
    """`evidence`: ids of turns ("D1:3") that answer it; empty when nothing does."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """`notes`: vault-relative path -> text. `turns`: path -> (byte at which a turn begins, its id),
    in the order of the file."""

    name: str
    notes: dict[str, str]
    turns: dict[str, list[tuple[int, str]]]
    questions: tuple[Question, ...]

    def turn_at(self, path: str, start: int) -> str | None:
        """The turn that a section of a note begins in; None for what stands before the first."""
        turns = self.turns[path]
        at = bisect_right(turns, start, key=itemgetter(0)) - 1
        return turns[at][1] if at >= 0 else None

    def turn_texts(self) -> dict[str, str]:
        """Each turn as the vault holds it, its heading (the speaker) included."""
        found: dict[str, str] = {}
        for path, turns in self.turns.items():
            note = self.notes[path].encode()
            ends = [start for start, _turn in turns[1:]] + [len(note)]
            for (start, turn), end in zip(turns, ends, strict=True):
                found[turn] = note[start:end].decode()
        return found


def read_locomo(file: Path) -> list[Conversation]:
    """The conversations of `locomo10.json` or a file of its form. Raises NotLocomo, OSError."""
    try:
        samples = json.loads(file.read_bytes())
        found = [_conversation(sample) for sample in samples]
        if not found:
            raise ValueError("it holds no conversation")
        if len({each.name for each in found}) < len(found):
            raise ValueError("two conversations have the same sample_id")
        return found
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotLocomo(
            f"{file} is not in LoCoMo's form ({type(error).__name__}: {error}). Give the published "
            "locomo10.json, or a file of its form."
        ) from error


def _conversation(sample: dict[str, object]) -> Conversation:
    talk = sample["conversation"]
    questions = sample["qa"]
    if not isinstance(talk, dict) or not isinstance(questions, list):
        raise TypeError("no conversation or no questions")
    sessions = list(_sessions(talk))
    return Conversation(
        name=str(sample["sample_id"]),
        notes={path: text for path, text, _turns in sessions},
        turns={path: turns for path, _text, turns in sessions},
        questions=tuple(_question(each) for each in questions),
    )


def _sessions(
    talk: dict[str, object],
) -> Iterator[tuple[str, str, list[tuple[int, str]]]]:
    people = f"{talk['speaker_a']} and {talk['speaker_b']}"
    for key, turns in talk.items():
        numbered = _SESSION.fullmatch(key)
        if numbered is None or not isinstance(turns, list):
            continue
        when = str(talk.get(f"{key}_date_time", ""))
        moment = _moment(when)
        lines = ["---", "kind: conversation"]
        lines += [f"captured: {moment.isoformat()}"] if moment else []
        lines += ["---", f"# {people} on {when}", ""]
        text = "\n".join(lines) + "\n"
        begins: list[tuple[int, str]] = []
        for turn in turns:
            begins.append((len(text.encode()), _turn_id(turn["dia_id"])))
            text += f"## {turn['speaker']}\n\n{turn.get('text', '')}\n"
            if turn.get("blip_caption"):
                text += f"[photo: {turn['blip_caption']}]\n"
            text += "\n"
        yield f"session-{int(numbered[1]):02}.md", text, begins


def _moment(when: str) -> datetime | None:
    """Such as "1:56 pm on 8 May, 2023"."""
    try:
        return datetime.strptime(when, "%I:%M %p on %d %B, %Y")  # noqa: DTZ007 - it names no zone
    except ValueError:
        return None


def _turn_id(written: str) -> str:
    found = _EVIDENCE.fullmatch(written.strip())
    if found is None:
        raise ValueError(f"{written[:20]!r} is no id of a turn")
    return f"D{found[1]}:{found[2]}"


def _question(entry: dict[str, object]) -> Question:
    evidence = entry.get("evidence") or []
    if not isinstance(evidence, list):
        raise TypeError("evidence is no list")
    pieces = [piece.strip() for each in evidence for piece in str(each).split(";")]
    turns = frozenset(_turn_id(piece) for piece in pieces if _EVIDENCE.fullmatch(piece))
    category = int(str(entry["category"]))
    if category not in CATEGORIES:
        raise ValueError(f"{category} is no category")
    return Question(str(entry["question"]), category, turns)
