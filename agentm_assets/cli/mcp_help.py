"""`agentm mcp` in the list of commands. The command itself starts before Typer (`entry`)."""

import typer


def command(context: typer.Context) -> None:
    """Serve the memory to coding agents over MCP: standard input and output, or loopback HTTP."""
    from agentm_assets.cli.mcp import main

    raise typer.Exit(main(context.args))
