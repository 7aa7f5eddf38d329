"""`agentm doctor`: is everything in place? Looks, changes nothing, never raises."""

import os
from typing import Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import RED_STATE, failures_reported, print_json, printable

_MARKS = {"ok": "ok  ", "warn": "WARN", "fail": "FAIL"}


def command(
    vault: VaultOption = None,
    profile: ProfileOption = None,
    requires: Annotated[
        str | None,
        typer.Option(help="What the store has to promise, comma-separated: sync, …"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check configuration, vault, rules, index, model and Dagster; exit 3 when one fails."""
    from agentm_assets.index.diagnosis import diagnose
    from agentm_assets.storage.selection import capabilities_named

    with failures_reported():
        required = None if requires is None else capabilities_named(requires.split(","))
    results = diagnose(os.environ, vault=vault, profile=profile, required=required)
    failed = any(result.outcome == "fail" for result in results)
    if as_json:
        print_json(
            {
                "ok": not failed,
                "checks": [
                    {
                        "name": result.name,
                        "outcome": result.outcome,
                        "message": result.message,
                        "cure": result.cure,
                    }
                    for result in results
                ],
            }
        )
    else:
        for result in results:
            typer.echo(printable(f"{_MARKS[result.outcome]}  {result.name:<10} {result.message}"))
            if result.cure:
                typer.echo(printable(f"                  cure: {result.cure}"))
    if failed:
        raise typer.Exit(RED_STATE)
