"""`agentm history`: the automated runs that changed files, and captures, newest first."""

import dataclasses
import os
from typing import Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import (
    RED_STATE,
    failures_reported,
    note_to_operator,
    print_json,
    printable,
)


def command(
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many runs to show.")] = 20,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the latest automated runs that changed files; `agentm revert` takes their ids.

    Commits of captures are listed among them by their commit: the undo of a capture is `agentm
    forget`.
    """
    from agentm_assets.config.vault import locate
    from agentm_assets.history.revert_log import LOG, read_log
    from agentm_assets.history.runs import recent_captures, recent_runs
    from agentm_assets.storage.seam import StorageError
    from agentm_assets.storage.selection import open_backend

    with failures_reported({StorageError: RED_STATE}):
        location = locate(os.environ, vault=vault, profile=profile)
        changes, broken = read_log(open_backend(location))
        captures = recent_captures(location, limit)
    if broken:
        note_to_operator(f"{broken} lines of {LOG} can't be understood; they are left as they are")
    runs = sorted([*recent_runs(changes, limit), *captures], key=lambda run: run.at, reverse=True)[
        :limit
    ]
    if as_json:
        print_json([dataclasses.asdict(run) for run in runs])
        return
    if not runs:
        typer.echo("no automated run has changed a file of this vault yet")
    for run in runs:
        files = run.files[0] if len(run.files) == 1 else f"{len(run.files):,} files"
        name = f"commit {run.commit[:12]}" if run.commit else run.run
        typer.echo(printable(f"{run.at}  {run.pass_name:<10} {name}  {files}"))
