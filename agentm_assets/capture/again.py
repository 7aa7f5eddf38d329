"""A text that is in the vault already: it is counted there, unless that would lose something."""

from datetime import datetime

from agentm_assets.capture.known import KnownPaths
from agentm_assets.capture.live import LiveNote, live_notes
from agentm_assets.capture.moment import iso
from agentm_assets.capture.reinforcement import (
    MOST_AT_ONCE,
    Reinforcement,
    put_down,
    reinforced,
    work_off,
)
from agentm_assets.capture.request import Captured
from agentm_assets.capture.wording import Wording
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract import properties
from agentm_assets.contract.edit import EditRefused
from agentm_assets.storage.seam import StorageBackend

COUNTED = "this text is in the vault already; it was counted there, and no new note was made"
WILL_BE_COUNTED = (
    "this text is in the vault already, and no new note was made; the vault is being written, so "
    "it is counted there with the next capture or pass"
)


def capture_again(
    wording: Wording,
    body: str,
    known: KnownPaths,
    location: VaultLocation,
    backend: StorageBackend,
    now: datetime,
    *,
    standards: bool,
) -> Captured | None:
    """Reinforce the first live note with this body that can be edited and lacks nothing of what
    came with the text; None when there is no such note, and the text needs one of its own."""
    for twin in live_notes(backend, body, known, standards=standards):
        again = Reinforcement(twin.path, body, iso(now), wording.tags, wording.aliases)
        if not _would_lose(wording, twin) and _can_be_counted(twin, again):
            break
    else:
        return None
    try:
        kept = put_down(location, again)
    except OSError:
        return None  # a note of its own loses nothing
    work_off(location, backend, now, MOST_AT_ONCE)

    def text(key: str) -> str | None:
        return properties.text_of(twin.frontmatter, key)

    stem = twin.path.rpartition("/")[2].removesuffix(".md")
    captured = properties.captured(twin.frontmatter)
    return Captured(
        path=twin.path,
        slug=text("slug") or stem,
        type=text("type"),
        status=text("status"),
        captured=captured.text if captured else iso(now),
        indexed=twin.indexed,
        duplicate_of=twin.path,
        remarks=(WILL_BE_COUNTED if kept.exists() else COUNTED,),
    )


def _can_be_counted(twin: LiveNote, again: Reinforcement) -> bool:
    try:
        reinforced(twin.data, again)
    except EditRefused:
        return False
    return True


def _would_lose(wording: Wording, twin: LiveNote) -> bool:
    """Whether the note that is there lacks something that only a new note would keep."""
    return any(
        given is not None and given != properties.text_of(twin.frontmatter, key)
        for key, given in (("source", wording.source), ("instructions", wording.instructions))
    )
