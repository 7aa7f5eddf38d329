"""`agentm get`: one note, or one section of it, as it stands in the vault."""

from typing import Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import note_to_operator, print_json, printable
from agentm_assets.cli.reading import library


def command(
    path: Annotated[str, typer.Argument(help="Path of the note, relative to the vault.")],
    section: Annotated[
        str | None,
        typer.Option(metavar="HEADING", help="Only this section, by heading or header path."),
    ] = None,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a note, or one section of it."""
    from agentm_assets.reading.notes import get_note
    from agentm_assets.recall.shape import json_of

    with library(vault, profile) as opened:
        note = get_note(opened, path, section)
    if as_json:
        print_json(json_of(note))
        return
    typer.echo(printable(note.text), nl=not note.text.endswith("\n"))
    if note.truncated:
        note_to_operator(f"{note.path} is longer; open the file for the rest, or name a section")
