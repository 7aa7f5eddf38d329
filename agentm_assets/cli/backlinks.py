"""`agentm backlinks`: what links to a note."""

from typing import Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import note_to_operator, print_json, printable
from agentm_assets.cli.reading import library


def command(
    path: Annotated[str, typer.Argument(help="Path of the note, relative to the vault.")],
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the links of other notes that lead to a note."""
    from agentm_assets.reading.backlinks import find_backlinks
    from agentm_assets.recall.shape import json_of

    with library(vault, profile) as opened:
        found = find_backlinks(opened, path)
    if as_json:
        print_json(json_of(found))
        return
    for link in found.links:
        target = f"  #{link.anchor}" if link.anchor else ""
        typer.echo(printable(f"{link.path}:{link.line}  {link.title}{target}"))
    if found.total > len(found.links):
        note_to_operator(f"{found.total:,} links in all; the first {len(found.links):,} are shown")
    elif not found.total:
        note_to_operator("nothing links here")
