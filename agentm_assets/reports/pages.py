"""A report as a page of the vault: dated, with a copy of the newest under a name that stays.

The last line of a page is a comment with what it says for a machine, and a digest of the text. By
the digest a page tells whether a person has changed it: then it is theirs, and is left as it is.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from agentm_assets.history.run import Run
from agentm_assets.projects.declared import space_folder
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import ABSENT, StorageBackend, content_hash

Kind = Literal["health", "morning"]
DATED: Final[dict[Kind, str]] = {
    "health": "{date}-health-scorecard.md",
    "morning": "{date}.md",
}
LATEST: Final[dict[Kind, str]] = {
    "health": "latest_health_scorecard.md",
    "morning": "latest_morning_note.md",
}
PICTURE: Final = "latest_memory_graph.svg"
PAGE: Final = "latest_memory_graph.html"

_BLOCK = re.compile(rb"<!-- agentm:report (\{.*\}) -->\n?\Z")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)")


@dataclass(frozen=True, slots=True)
class Held:
    """What a page that is there says. `is_ours`: nobody has changed it since it was written."""

    block: dict[str, Any] | None
    is_ours: bool


def folder(backend: StorageBackend, kind: Kind) -> Locator:
    """Where reports of the kind lie, with the name of the agent's space as it is on disk."""
    agent = space_folder(backend, "Agent") or Locator("Agent")
    return agent.child("diagnostics").child(kind)


def dated(backend: StorageBackend, kind: Kind, date: str) -> Locator:
    return folder(backend, kind).child(DATED[kind].format(date=date))


def latest(backend: StorageBackend, kind: Kind) -> Locator:
    return folder(backend, kind).child(LATEST[kind])


def framed(text: str, block: dict[str, Any]) -> bytes:
    """The page: the text, and its block."""
    body = text.encode("utf-8", "replace")
    said = json.dumps(
        {"page": _digest(body), **block}, ensure_ascii=True, separators=(",", ":"), sort_keys=True
    )
    for sign in ("<", ">", "--"):  # these stand in strings alone, and could end the comment
        said = said.replace(sign, "".join(f"\\u{ord(character):04x}" for character in sign))
    return body + f"\n<!-- agentm:report {said} -->\n".encode()


def read_page(data: bytes) -> Held:
    """What stands on a page of the vault, whoever wrote it."""
    found = _BLOCK.search(data)
    if found is None:
        return Held(None, False)
    try:
        block = json.loads(found[1])
    except (ValueError, RecursionError):
        return Held(None, False)
    if not isinstance(block, dict):
        return Held(None, False)
    text = data[: found.start()].removesuffix(b"\n")
    return Held(block, block.pop("page", "") == _digest(text))


def text_of(data: bytes) -> str:
    """The page without its block, as a person reads it."""
    found = _BLOCK.search(data)
    text = data if found is None else data[: found.start()]
    return text.decode("utf-8", "replace")


def blocks(backend: StorageBackend, kind: Kind) -> dict[str, dict[str, Any]]:
    """The blocks of the dated pages, by date, oldest first; pages without one are left out.
    Raises StorageError."""
    place = folder(backend, kind)
    found: dict[str, dict[str, Any]] = {}
    for page in sorted(backend.list(place), key=lambda each: each.name):
        date = _DATE.match(page.name)
        if date is None or page.name != DATED[kind].format(date=date[1]):
            continue
        try:
            held = read_page(backend.read_bytes(page))
        except FileNotFoundError:
            continue
        if held.block is not None:
            found[date[1]] = held.block
    return found


def put(run: Run, backend: StorageBackend, place: Locator, data: bytes) -> Literal["", "edited"]:
    """Write a page, unless it says so already or a person has changed it ("edited").

    Raises StorageError.
    """
    try:
        old = backend.read_bytes(place)
    except FileNotFoundError:
        run.write(place, data, expect=ABSENT)
        return ""
    if old == data:
        return ""
    if place.name.endswith(".md") and not read_page(old).is_ours:
        return "edited"
    run.write(place, data, expect=content_hash(old))
    return ""


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]
