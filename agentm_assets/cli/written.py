"""How the commands for projects and tasks tell what they wrote."""

from typing import TYPE_CHECKING

import typer

from agentm_assets.cli.opened import outcome_json, say_outcome
from agentm_assets.cli.output import note_to_operator, print_json, printable

if TYPE_CHECKING:
    from agentm_assets.projects.work import Done


def show_done(done: "Done", said: str, as_json: bool) -> None:
    """`said`, then the files; what was kept and what did not work out as remarks."""
    for path in done.kept:
        note_to_operator(f"{path} was there and is kept as it is")
    for remark in done.remarks:
        note_to_operator(remark)
    say_outcome(done.outcome)
    if as_json:
        print_json(
            {
                "slug": done.slug,
                "written": list(done.paths),
                "kept": list(done.kept),
                "remarks": list(done.remarks),
                "history": outcome_json(done.outcome),
            }
        )
        return
    typer.echo(printable(said))
    for path in done.paths:
        typer.echo(printable(f"  {path}"))
