"""What of captures is under way or was turned down, for the status."""

from collections.abc import Mapping
from dataclasses import dataclass

from agentm_assets.capture.journal import not_indexed
from agentm_assets.capture.refusals import refusals
from agentm_assets.capture.waiting import files_waiting
from agentm_assets.config.vault import VaultLocation


@dataclass(frozen=True, slots=True)
class CaptureState:
    """`captures_waiting`: captured and not indexed yet. `reinforcements_waiting`: texts captured
    again whose count waits for the vault's lock. `refusals`: how often each code was refused on
    this machine."""

    captures_waiting: int
    reinforcements_waiting: int
    refusals: Mapping[str, int]


def capture_state(location: VaultLocation) -> CaptureState:
    """Read it from the logs. Raises OSError."""
    waiting = not_indexed(location)
    return CaptureState(
        captures_waiting=len(waiting.entries) + waiting.older,
        reinforcements_waiting=len(files_waiting(location)),
        refusals=dict(sorted(refusals(location).items())),
    )
