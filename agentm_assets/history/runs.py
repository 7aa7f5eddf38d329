"""What automated writes happened, newest first: the runs of the revert log, and captures."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agentm_assets.config.vault import VaultLocation
from agentm_assets.history.git import Repository
from agentm_assets.history.revert_log import Change, stamp
from agentm_assets.history.run import open_repository

CAPTURE = "capture"


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """A run that changed files. `at`: of its first change, UTC, ISO 8601. `commit`: of one that the
    revert log does not know, since it only committed what captures had written; it has no undo but
    `agentm forget`."""

    run: str
    pass_name: str
    at: str
    files: tuple[str, ...]
    commit: str | None = None


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


def recent_captures(location: VaultLocation, limit: int) -> list[LoggedRun]:
    """The `limit` newest commits of captures, newest first; none without a repository."""
    repository = open_repository(location)
    if not isinstance(repository, Repository):
        return []
    patterns = ("^Capture ", f"^Agentm-Pass: {CAPTURE}$")
    return [
        LoggedRun(
            each.run,
            CAPTURE,
            stamp(datetime.fromtimestamp(each.seconds, UTC)),
            tuple(each.files),
            each.commit,
        )
        for each in repository.log(patterns, f"agentm-{CAPTURE}", limit)
    ]
