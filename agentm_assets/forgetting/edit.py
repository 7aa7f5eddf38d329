"""What forgetting does to a note's bytes: its status, and why. The body stays as it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from agentm_assets.capture.moment import iso
from agentm_assets.contract import properties
from agentm_assets.contract.edit import set_key
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.projects.document import one_line

FadedStatus = Literal["expired", "superseded"]

FADED: Final[Mapping[str, FadedStatus]] = {"expired": "expired", "superseded": "superseded"}
"""The statuses of a forgotten note, which recall ranks lower and still finds."""

REASON_KEY = "status_reason"
MAX_REASON_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a note is to become: expired, or superseded by the note with the slug `by`."""

    reason: str
    by: str | None
    now: datetime

    @property
    def status(self) -> FadedStatus:
        return "superseded" if self.by is not None else "expired"


def faded_status(data: bytes) -> FadedStatus | None:
    """The status by which the note is forgotten already; None when it is not."""
    written = properties.text_of(read_frontmatter(data), "status")
    return FADED.get(written) if written is not None else None


def is_settled(data: bytes, wanted: Wanted) -> bool:
    """Is there nothing left to do? A note that is forgotten is not forgotten again for another
    reason, but one that expired can still get a successor."""
    status = faded_status(data)
    if wanted.by is None:
        return status is not None
    successor = properties.text_of(read_frontmatter(data), "superseded_by")
    return status == "superseded" and successor == wanted.by


def forgotten(data: bytes, wanted: Wanted) -> bytes:
    """The note with its new status and the reason; `data` itself when it is settled.

    Raises EditRefused where the properties can't be read or edited.
    """
    if is_settled(data, wanted):
        return data
    edited = set_key(data, "status", wanted.status)
    if wanted.by is not None:
        edited = set_key(edited, "superseded_by", wanted.by)
        edited = set_key(edited, "superseded_at", iso(wanted.now))
    reason = one_line(wanted.reason)[:MAX_REASON_CHARACTERS]
    return set_key(edited, REASON_KEY, reason) if reason else edited
