"""What the transcript of a Claude Code session tells without a model: when, about what, on what."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_BYTES = 64 * 1024 * 1024
"""A longer transcript is read up to here."""

_LONGEST_TITLE = 120
_WRITING_TOOLS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})


@dataclass(frozen=True, slots=True)
class Transcript:
    """`prompts` counts what the operator wrote. Times are ISO texts, "" when none is told."""

    prompts: int
    title: str
    started: str
    ended: str
    touched: tuple[str, ...]


def read_transcript(file: Path) -> Transcript | None:
    """The facts of a transcript; None when there is no such file. Raises OSError."""
    if not file.is_file():
        return None
    prompts, named, first = 0, "", ""
    started = ended = ""
    touched: dict[str, None] = {}
    for entry in _entries(file):
        moment = _text(entry, "timestamp")
        started, ended = started or moment, moment or ended
        if entry.get("type") == "summary":
            named = _text(entry, "summary") or named
        said = _prompt(entry)
        if said:
            prompts += 1
            first = first or said
        touched.update(dict.fromkeys(_written_files(entry)))
    title = " ".join((named or first).split())
    return Transcript(prompts, title[:_LONGEST_TITLE], started, ended, tuple(touched))


def _entries(file: Path) -> Iterator[dict[str, Any]]:
    read = 0
    with file.open("rb") as lines:
        for line in lines:
            read += len(line)
            if read > MOST_BYTES:
                return
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue  # the host was still writing it
            if isinstance(entry, dict):
                yield entry


def _prompt(entry: dict[str, Any]) -> str:
    """What the operator wrote, "" for what the host or a tool put in their name."""
    if entry.get("type") != "user" or entry.get("isMeta"):
        return ""
    content = _content(entry)
    if isinstance(content, str):
        return "" if content.lstrip().startswith("<") else content.strip()
    texts = [
        _text(part, "text")
        for part in (content if isinstance(content, list) else [])
        if isinstance(part, dict) and part.get("type") == "text"
    ]
    return "\n".join(text for text in texts if not text.lstrip().startswith("<")).strip()


def _written_files(entry: dict[str, Any]) -> Iterator[str]:
    content = _content(entry)
    for part in content if isinstance(content, list) else []:
        if not isinstance(part, dict) or part.get("type") != "tool_use":
            continue
        given = part.get("input")
        if part.get("name") in _WRITING_TOOLS and isinstance(given, dict):
            path = _text(given, "file_path") or _text(given, "notebook_path")
            if path:
                yield path


def _content(entry: dict[str, Any]) -> object:
    message = entry.get("message")
    return message.get("content") if isinstance(message, dict) else None


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""
