"""`agentm probe`: does the memory give back what it was told? Captures, asks, finds, retires."""

import dataclasses
import os

import typer

from agentm_assets.cli.opened import opened
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import RED_STATE, note_to_operator, print_json, printable


def command(
    vault: VaultOption = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """Save a synthetic fact, ask for it from a fresh process, and retire it when it is found.

    Exit 3 when it is not among the first five hits within ten seconds; its note is kept then.
    """
    from agentm_assets.reports.probe import round_trip

    with opened(vault, profile) as store:
        result = round_trip(store.location, store.backend, os.environ, store.now)
    if result.remark:
        note_to_operator(result.remark)
    if as_json:
        print_json(dataclasses.asdict(result))
    else:
        typer.echo(printable(result.text))
    if not result.passed:
        raise typer.Exit(RED_STATE)
