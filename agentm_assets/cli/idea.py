"""`agentm idea`: one more line on the shared page of ideas."""

from typing import Annotated

import typer

from agentm_assets.cli.opened import opened, outcome_json, say_outcome
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import BAD_INPUT, print_json, printable


def command(
    text: Annotated[str, typer.Argument(help="The idea; it is put on one line.")],
    agent: Annotated[
        bool, typer.Option("--agent", help="The agent had it: the line says so, and the reply too.")
    ] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add an idea to ideas.md. Nothing else on the page changes."""
    from agentm_assets.projects.add_idea import add_idea
    from agentm_assets.projects.ideas import IdeaRefused

    with opened(vault, profile, {IdeaRefused: BAD_INPUT}) as store:
        added = add_idea(
            store.location, store.backend, text, "agent" if agent else "operator", store.now
        )
    say_outcome(added.outcome)
    if as_json:
        print_json(
            {
                "path": added.idea.path,
                "line": added.idea.line,
                "text": added.idea.text,
                "announcement": added.announcement,
                "history": outcome_json(added.outcome),
            }
        )
    else:
        plain = f"added to {added.idea.path}, line {added.idea.line}"
        typer.echo(printable(added.announcement or plain))
