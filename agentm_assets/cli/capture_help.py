"""`agentm capture` in the list of commands. The command itself starts before Typer (`entry`)."""

import typer


def command(context: typer.Context) -> None:
    """Save a memory: the text given, or standard input."""
    from agentm_assets.cli.capture import main

    raise typer.Exit(main(context.args))
