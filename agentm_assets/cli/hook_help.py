"""`agentm hook` in the list of commands. The command itself starts before Typer (`entry`)."""

import typer


def command(context: typer.Context) -> None:
    """Recall before a prompt, and both ends of a session, for coding agents."""
    from agentm_assets.cli.hook import main

    main(context.args)
