"""`agentm forget`: a note's status becomes expired or superseded; the note stays where it is."""

from typing import Annotated

import typer

from agentm_assets.cli.opened import opened, outcome_json, say_outcome
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import BAD_INPUT, note_to_operator, print_json, printable


def command(
    path: Annotated[str, typer.Argument(help="Path of the note, relative to the vault.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept in the note.")],
    by: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="The note that is valid instead: superseded by it."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")
    ] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget a note softly: it ranks lower from now on, and nothing is removed."""
    from agentm_assets.forgetting.allowed import ForgetRefused
    from agentm_assets.forgetting.forget import forget

    with opened(vault, profile, {ForgetRefused: BAD_INPUT}) as store:
        done = forget(
            store.location, store.backend, path, reason, store.now, by=by, dry_run=dry_run
        )
    say_outcome(done.outcome)
    if done.remark:
        note_to_operator(done.remark)
    if as_json:
        print_json(
            {
                "path": done.path,
                "status": done.status,
                "already": done.already,
                "dry_run": dry_run,
                "history": outcome_json(done.outcome),
            }
        )
    elif done.already:
        typer.echo(printable(f"{done.path} was {done.status} already"))
    else:
        would = "would be" if dry_run else "is"
        typer.echo(printable(f"{done.path} {would} {done.status}"))
