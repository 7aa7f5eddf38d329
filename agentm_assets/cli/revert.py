"""`agentm revert`: take an automated run back where nobody has touched its result since."""

import dataclasses
import os
from typing import Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import (
    BAD_INPUT,
    RED_STATE,
    failures_reported,
    note_to_operator,
    print_json,
    printable,
)

_SAID = {
    "restored": "restored",
    "expired": "marked expired",
    "left": "left",
    "done": "nothing to do",
    "conflict": "CONFLICT",
}


def command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run: agentm history.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and write nothing.")
    ] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give the files that a run changed their old bytes back; exit 3 when conflicts remain.

    A file that was changed after the run is a conflict and is not touched. The revert is a run of
    its own and can be taken back by its id.
    """
    from datetime import UTC, datetime

    from agentm_assets.config.vault import locate
    from agentm_assets.history.outcome import is_worth_a_remark
    from agentm_assets.history.revert import UnknownRun, revert
    from agentm_assets.history.revert_log import LOG
    from agentm_assets.storage.seam import StorageError
    from agentm_assets.storage.selection import open_backend

    with failures_reported({UnknownRun: BAD_INPUT, StorageError: RED_STATE}):
        location = locate(os.environ, vault=vault, profile=profile)
        backend = open_backend(location)
        done = revert(location, backend, run, now=lambda: datetime.now(UTC), dry_run=dry_run)
    if done.outcome is not None and is_worth_a_remark(done.outcome):
        note_to_operator(done.outcome.text)
    if done.unreadable:
        note_to_operator(
            f"{done.unreadable} lines of {LOG} may be of this run and can't be understood, so "
            f"files of it may be missing here. Mend them from git: git log -p -- {LOG}"
        )
    if as_json:
        print_json(
            {
                "run": done.run,
                "by": done.by,
                "dry_run": dry_run,
                "files": [dataclasses.asdict(file) for file in done.files],
                "conflicts": len(done.conflicts),
                "unreadable_lines": done.unreadable,
                "commit": getattr(done.outcome, "commit", None),
            }
        )
    else:
        for file in done.files:
            reason = f": {file.reason}" if file.reason else ""
            typer.echo(printable(f"{_SAID[file.fate]:<14} {file.path}{reason}"))
        if dry_run:
            typer.echo("nothing was written (--dry-run)")
        elif done.by is None:
            typer.echo("nothing was written")
        else:
            typer.echo(f"this was run {done.by}; agentm revert {done.by} undoes it")
    if done.conflicts or done.unreadable:
        raise typer.Exit(RED_STATE)
