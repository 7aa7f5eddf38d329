"""`agentm up`: the Dagster webserver and daemon of one vault, until Ctrl-C."""

import os
from typing import Annotated

import typer

from agentm_assets.cli.options import ProfileOption, VaultOption
from agentm_assets.cli.output import RED_STATE, failures_reported, printable


def command(
    host: Annotated[
        str, typer.Option(help="Address to listen on; loopback by default.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the UI; 0 takes a free one.")
    ] = 3000,
    vault: VaultOption = None,
    profile: ProfileOption = None,
) -> None:
    """Start the Dagster UI and the daemon: sensors, schedules and runs for this vault."""
    from agentm_assets.cli.servers import ServersError, serve
    from agentm_assets.cli.state_folder import StateUnusable
    from agentm_assets.config.vault import locate

    with failures_reported({ServersError: RED_STATE, StateUnusable: RED_STATE}):
        location = locate(os.environ, vault=vault, profile=profile)
        typer.echo(f"starting Dagster for {printable(str(location.root))} …", err=True)

        def ready(address: str) -> None:
            typer.echo(f"agentm is up: {address}  (Ctrl-C stops it)")

        serve(location, host, port, ready)
    typer.echo("stopped", err=True)
