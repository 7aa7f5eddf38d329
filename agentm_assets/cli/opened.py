"""What the commands that write share: the store, the clock, and what git said of a write."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from agentm_assets.cli.output import RED_STATE, failures_reported, note_to_operator

if TYPE_CHECKING:
    from agentm_assets.config.vault import VaultLocation
    from agentm_assets.history.outcome import Outcome
    from agentm_assets.storage.seam import StorageBackend


@dataclass(frozen=True, slots=True)
class Opened:
    """A store, where it is, and the moment of the command in the operator's own time."""

    location: "VaultLocation"
    backend: "StorageBackend"
    now: datetime


@contextmanager
def opened(
    vault: str | None, profile: str | None, refusals: Mapping[type[Exception], int] | None = None
) -> Iterator[Opened]:
    """The configured store. What is raised inside becomes a sentence and an exit code; `refusals`
    adds a command's own."""
    from agentm_assets.config.vault import locate
    from agentm_assets.storage.seam import StorageError
    from agentm_assets.storage.selection import open_backend

    with failures_reported({**(refusals or {}), StorageError: RED_STATE}):
        location = locate(os.environ, vault=vault, profile=profile)
        yield Opened(location, open_backend(location), datetime.now().astimezone())


def say_outcome(outcome: "Outcome | None") -> None:
    """Tell the operator of a write that git does not hold."""
    from agentm_assets.history.outcome import is_worth_a_remark

    if outcome is not None and is_worth_a_remark(outcome):
        note_to_operator(outcome.text)


def outcome_json(outcome: "Outcome | None") -> dict[str, object] | None:
    """What git said, for a machine: `kind` is committed, no-repository or git-trouble."""
    from agentm_assets.history.outcome import Committed, NoRepository

    if outcome is None:
        return None
    if isinstance(outcome, Committed):
        return {"kind": "committed", "commit": outcome.commit, "text": outcome.text}
    kind = "no-repository" if isinstance(outcome, NoRepository) else "git-trouble"
    return {"kind": kind, "commit": None, "text": outcome.text}
