"""The runs that the revert log knows, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentm_assets.history.revert_log import Change


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """A run that changed files. `at`: of its first change, UTC, ISO 8601."""

    run: str
    pass_name: str
    at: str
    files: tuple[str, ...]


def recent_runs(changes: Sequence[Change], limit: int) -> list[LoggedRun]:
    """The `limit` newest runs of the log, newest first, each with the files that it changed."""
    found: dict[str, list[Change]] = {}
    for change in changes:
        found.setdefault(change.run, []).append(change)
    newest = list(found.items())[-limit:] if limit else []
    return [
        LoggedRun(
            run, of[0].pass_name, of[0].at, tuple(dict.fromkeys(change.path for change in of))
        )
        for run, of in reversed(newest)
    ]
