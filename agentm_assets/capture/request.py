"""What a capture is asked for, and what it answers. Standard library only."""

from dataclasses import dataclass
from typing import Literal

CapturedBy = Literal["operator", "agent", "scheduled"]

NOT_YET_INDEXED = "saved, not yet indexed; do not capture again"


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """One memory to be saved.

    `text` becomes the note's body byte for byte. `type` None: the rules' default. `status` None:
    active when the operator directed the capture, else unfiled. `instructions` is the only part of
    a capture that is kept as an instruction; nothing inside `text` ever is. `space` None or
    "memory", "standards" or "personal". `project`: slug of a declared project. `probe`: it is no
    memory but agentm's own round-trip probe, and says so with this word.
    """

    text: str
    title: str | None = None
    type: str | None = None
    status: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    source: str | None = None
    instructions: str | None = None
    space: str | None = None
    project: str | None = None
    captured_by: CapturedBy = "operator"
    probe: str | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    """A memory that is on the disk, whole.

    `path` is relative to the vault. `type` None: not judged, because the rules are broken or the
    space needs none. `captured` is an ISO datetime. `duplicate_of`: the text was there already, in
    this note, which was reinforced instead; then `path` is that note. `remarks` are sentences for
    whoever asked.
    """

    path: str
    slug: str
    type: str | None
    status: str | None
    captured: str
    indexed: bool
    duplicate_of: str | None
    remarks: tuple[str, ...]


class CaptureRefused(Exception):
    """Nothing was saved. `code` is stable; neither message nor cure quotes what was given."""

    def __init__(self, code: str, message: str, cure: str) -> None:
        super().__init__(f"{message.rstrip('.')}. {cure.rstrip('.')}.")
        self.code = code
        self.message = message
        self.cure = cure


class CaptureFailed(CaptureRefused):
    """Nothing was saved, though the request was in order: the vault or the rules can't be used."""
