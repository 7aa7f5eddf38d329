"""`agentm recent`: what was captured last."""

from typing import Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import note_to_operator, print_json, printable
from agentm_assets.cli.reading import library


def command(
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="Notes to show at most.")] = 10,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the newest captures, those of a moment ago included."""
    from agentm_assets.reading.recent import find_recent
    from agentm_assets.recall.shape import json_of

    with library(vault, profile) as opened:
        found = find_recent(opened, k)
    if as_json:
        print_json(json_of(found))
        return
    for note in found.notes:
        waiting = "" if note.indexed else "  (not yet indexed)"
        typer.echo(printable(f"{note.captured}  {note.path}  {note.title}{waiting}"))
    if found.why:
        note_to_operator(found.why)
