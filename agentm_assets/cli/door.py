"""`agentm door`: may an agent write at a path without asking?"""

from typing import Annotated

import typer

from agentm_assets.cli.opened import opened
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import print_json, printable


def command(
    path: Annotated[str, typer.Argument(help="Path relative to the vault; it need not exist.")],
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether an agent may write at PATH: standing, alignment (ask first) or outside."""
    from agentm_assets.projects.door import door

    with opened(vault, profile) as store:
        answer = door(store.backend, path)
    if as_json:
        print_json({"path": printable(path), "verdict": answer.verdict, "reason": answer.reason})
    else:
        typer.echo(f"{answer.verdict}: {printable(answer.reason)}")
