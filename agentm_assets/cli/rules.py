"""`agentm rules`: whether the storage rules hold, what they say, and their hashes."""

import os
from typing import TYPE_CHECKING

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import (
    RED_STATE,
    failures_reported,
    note_to_operator,
    print_json,
    printable,
)

if TYPE_CHECKING:
    from agentm_assets.contract.rules import LoadedRules

app = typer.Typer(help="Check and show the storage rules.", no_args_is_help=True)


@app.command("check")
def check(
    vault: VaultOption = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """Validate the rules in force; every violation is named with its line."""
    from agentm_assets.contract.rules import RulesError

    try:
        loaded = _load(vault, profile)
    except RulesError as error:
        if as_json:
            found = [
                {"line": v.line, "code": v.code, "message": v.message, "cure": v.cure}
                for v in error.violations
            ]
            print_json({"valid": False, "path": str(error.path), "violations": found})
        else:
            for violation in error.violations:
                place = f"{error.path}:{violation.line}"
                typer.echo(printable(f"{place}: {violation.message}; {violation.cure}"))
        raise typer.Exit(RED_STATE) from error
    if as_json:
        print_json({"valid": True, "path": str(loaded.path), "violations": []})
    else:
        typer.echo(f"the rules hold: {printable(str(loaded.path))} ({loaded.source})")


@app.command("show")
def show(
    vault: VaultOption = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """Show the rules in force, as they were read."""
    loaded = _loaded_or_exit(vault, profile)
    rules = loaded.rules.model_dump(mode="json")
    if as_json:
        print_json({"path": str(loaded.path), "source": loaded.source, "rules": rules})
        return
    import json

    typer.echo(f"{printable(str(loaded.path))} ({loaded.source})")
    for key, value in rules.items():
        typer.echo(f"{key}: {printable(json.dumps(value, ensure_ascii=False))}")


@app.command("hash")
def hashes(
    vault: VaultOption = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """Print the hash that notes are stamped with, and those of the ranking and of the file."""
    loaded = _loaded_or_exit(vault, profile)
    values = {
        "rules_hash": loaded.rules_hash,
        "ranking_hash": loaded.ranking_hash,
        "text_hash": loaded.text_hash,
    }
    if as_json:
        print_json(values)
    else:
        for key, value in values.items():
            typer.echo(f"{key:<12}  {value}")


def _loaded_or_exit(vault: str | None, profile: str | None) -> "LoadedRules":
    from agentm_assets.contract.rules import RulesError

    try:
        return _load(vault, profile)
    except RulesError as error:
        first = error.violations[0]
        note_to_operator(
            f"{error.path}:{first.line}: {first.message}; {first.cure}. "
            f"`agentm rules check` lists all {len(error.violations)}"
        )
        raise typer.Exit(RED_STATE) from error


def _load(vault: str | None, profile: str | None) -> "LoadedRules":
    from agentm_assets.config.vault import locate
    from agentm_assets.contract.rules import load_rules
    from agentm_assets.storage.selection import open_vault

    with failures_reported():
        opened = open_vault(locate(os.environ, vault=vault, profile=profile))
    return load_rules(opened, os.environ)
