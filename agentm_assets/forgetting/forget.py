"""Forgetting a note softly: it keeps its place, its text and its links, and ranks lower."""

from dataclasses import dataclass
from datetime import datetime

from agentm_assets.capture.journal import FORGETTING, JournalEntry, append
from agentm_assets.capture.live import body_fingerprint
from agentm_assets.capture.moment import iso
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.edit import EditRefused
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.forgetting.allowed import ForgetRefused, forgettable, successor_name
from agentm_assets.forgetting.edit import (
    MAX_REASON_CHARACTERS,
    FadedStatus,
    Wanted,
    faded_status,
    forgotten,
    is_settled,
)
from agentm_assets.history.outcome import Outcome
from agentm_assets.history.run import begin
from agentm_assets.projects.document import one_line
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend, StorageError, content_hash

PASS = "forget"

_NOT_JOURNALED = (
    "the capture log can't be written, so recall ranks this note lower only after the next index "
    "pass"
)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What became of the note. `already`: it was forgotten before and nothing was written.
    `outcome` is what git said, None when nothing was written (`dry_run` too), `run` the id by which
    it is taken back. `remark`: a sentence for whoever asked."""

    path: str
    status: FadedStatus
    already: bool
    outcome: Outcome | None
    remark: str | None = None
    run: str | None = None


def forget(
    location: VaultLocation,
    backend: StorageBackend,
    path: str,
    reason: str,
    now: datetime,
    *,
    by: str | None = None,
    dry_run: bool = False,
    pass_name: str = PASS,
) -> Forgotten:
    """Set the status of the note at `path` to expired, or to superseded by the note at `by`.

    The reason stands in the note as `status_reason`, and in the commit. Twice is once: a note that
    is forgotten stays as it is. Nothing is ever unlinked or moved. `dry_run` checks all that and
    writes nothing. `pass_name`: whose run it is.

    Raises ForgetRefused (also for properties that can't be edited: the file is byte-identical
    then) and StorageError.
    """
    place, data = forgettable(backend, path)
    if not reason.strip():
        raise ForgetRefused("no-reason", "there is no reason given", "Say why: --reason TEXT")
    successor = successor_name(backend, by, place, data) if by is not None else None
    wanted = Wanted(reason, successor, now)
    try:
        if is_settled(data, wanted):
            return Forgotten(place.key, faded_status(data) or wanted.status, True, None)
        forgotten(data, wanted)  # refused before a run is begun
        if dry_run:
            return Forgotten(place.key, wanted.status, False, None)
        subject = f"Forget {place}: {one_line(reason)[:MAX_REASON_CHARACTERS]}"
        with begin(location, backend, pass_name=pass_name, subject=subject) as run:
            written = run.rewrite(place, lambda old: forgotten(old, wanted))
    except EditRefused as error:
        raise ForgetRefused(
            "unreadable-properties",
            f"{place}: {error}",
            "Mend the properties by hand, then forget it again",
        ) from error
    journaled = not written.changed or _journaled(location, backend, place, now)
    return Forgotten(
        path=place.key,
        status=wanted.status,
        already=not written.changed,
        outcome=run.outcome,
        remark=None if journaled else _NOT_JOURNALED,
        run=run.run_id,
    )


def _journaled(
    location: VaultLocation, backend: StorageBackend, place: Locator, now: datetime
) -> bool:
    """Let recall know, which then reads the note and not what the index has of it."""
    try:
        data = backend.read_bytes(place)
        body = body_fingerprint(data, read_frontmatter(data))
        append(location, JournalEntry(place.key, content_hash(data), body, iso(now), FORGETTING))
    except FileNotFoundError:
        return True  # moved away a moment ago: nothing is left to rank
    except (OSError, StorageError):
        return False
    return True
