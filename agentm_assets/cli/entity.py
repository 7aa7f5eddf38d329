"""`agentm entity`: which notes mention an issue, a commit, a repository, a person or a page."""

from typing import Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import note_to_operator, print_json, printable
from agentm_assets.cli.reading import library


def command(
    uri: Annotated[str, typer.Argument(help="acme/kettle#12, a URL, @login, issue:acme/kettle#12")],
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the notes that mention a thing outside the vault, newest capture first."""
    from agentm_assets.reading.entities import find_entity
    from agentm_assets.recall.shape import json_of

    with library(vault, profile) as opened:
        found = find_entity(opened, uri)
    if as_json:
        print_json(json_of(found))
        return
    for note in found.notes:
        captured = f"  {note.captured}" if note.captured else ""
        typer.echo(printable(f"{note.path}  {note.title}{captured}"))
    if found.total > len(found.notes):
        note_to_operator(f"{found.total:,} notes in all; the newest {len(found.notes):,} are shown")
    elif not found.total:
        note_to_operator(f"no note mentions {', '.join(found.entities)}")
