"""The durable record of refused answers: `Agent/_meta/refusals.jsonl`, one line a refusal.

A refusal leaves no stamp in its note, so without this record the note would be asked about at full
price every night. Only what was judged and failed is kept; that a judge could not answer says
nothing of the note.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Final

from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend

RECORD: Final = Locator("Agent/_meta/refusals.jsonl")
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class RefusedBefore:
    """A refusal under its key: path of the note, fingerprint of its body, stamp of the judge, and
    hash of the rules and version of the gates. `at`: UTC, ISO 8601."""

    path: str
    fingerprint: str
    stamp: str
    rules_hash: str
    gate_version: str
    code: str
    detail: str
    at: str

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        return self.path, self.fingerprint, self.stamp, self.rules_hash, self.gate_version

    def line(self) -> bytes:
        """As it stands in the record, without a line end."""
        written = {"v": VERSION, **asdict(self)}
        text = json.dumps(written, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


class Refusals:
    """What the record holds, and what this run adds to it."""

    def __init__(self, known: Iterable[RefusedBefore] = ()) -> None:
        self._codes = {each.key: each.code for each in known}

    @classmethod
    def read(cls, backend: StorageBackend) -> "Refusals":
        """Lines of a later version, and torn ones, are left out: at worst a note is asked about
        again. Raises StorageError."""
        return cls(read_refusals(backend))

    def code_of(
        self, path: str, fingerprint: str, stamp: str, rules_hash: str, gate_version: str
    ) -> str | None:
        return self._codes.get((path, fingerprint, stamp, rules_hash, gate_version))

    def add(self, refused: RefusedBefore) -> None:
        self._codes[refused.key] = refused.code


def read_refusals(backend: StorageBackend) -> list[RefusedBefore]:
    """All of the record, oldest first. Raises StorageError."""
    try:
        data = backend.read_bytes(RECORD)
    except FileNotFoundError:
        return []
    return [each for each in map(_parsed, data.split(b"\n")) if each is not None]


def _parsed(line: bytes) -> RefusedBefore | None:
    try:
        written = json.loads(line)
        if written.pop("v") != VERSION:
            return None
        refused = RefusedBefore(**written)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return refused if all(isinstance(value, str) for value in asdict(refused).values()) else None
