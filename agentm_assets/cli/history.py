"""`agentm history`: the automated runs that changed files, newest first."""

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
    """List the latest automated runs that changed files; `agentm revert` takes their ids."""
    from agentm_assets.config.vault import locate
    from agentm_assets.history.revert_log import LOG, read_log
    from agentm_assets.history.runs import recent_runs
    from agentm_assets.storage.seam import StorageError
    from agentm_assets.storage.selection import open_backend

    with failures_reported({StorageError: RED_STATE}):
        backend = open_backend(locate(os.environ, vault=vault, profile=profile))
        changes, broken = read_log(backend)
    if broken:
        note_to_operator(f"{broken} lines of {LOG} can't be understood; they are left as they are")
    runs = recent_runs(changes, limit)
    if as_json:
        print_json([dataclasses.asdict(run) for run in runs])
        return
    if not runs:
        typer.echo("no automated run has changed a file of this vault yet")
    for run in runs:
        files = run.files[0] if len(run.files) == 1 else f"{len(run.files):,} files"
        typer.echo(printable(f"{run.at}  {run.pass_name:<10} {run.run}  {files}"))
