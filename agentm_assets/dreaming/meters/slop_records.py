"""What the operator said of notes that say nothing: `Agent/_meta/slop.jsonl`, a line an answer."""

import json
from dataclasses import dataclass
from typing import Final

from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend

RECORD: Final = Locator("Agent/_meta/slop.jsonl")
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Answers:
    """`confirmed`: the narrow band may expire notes. `kept`: fingerprints of bodies that stay."""

    confirmed: bool
    kept: frozenset[str]


def read_answers(backend: StorageBackend) -> Answers:
    """What was answered so far. Raises StorageError."""
    try:
        data = backend.read_bytes(RECORD)
    except FileNotFoundError:
        return Answers(False, frozenset())
    confirmed, kept = False, set()
    for line in data.split(b"\n"):
        try:
            written = json.loads(line)
            if written["v"] != VERSION:
                continue
            if written["said"] == "confirm":
                confirmed = True
            elif written["said"] == "keep":
                kept.add(str(written["fingerprint"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return Answers(confirmed, frozenset(kept))


def confirm_line(at: str) -> bytes:
    return _line({"said": "confirm", "at": at})


def keep_line(path: str, fingerprint: str, at: str) -> bytes:
    return _line({"said": "keep", "path": path, "fingerprint": fingerprint, "at": at})


def _line(written: dict[str, str]) -> bytes:
    text = json.dumps({"v": VERSION, **written}, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
