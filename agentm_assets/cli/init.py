"""`agentm init`: make a vault, or adopt a folder as it is."""

import os
from pathlib import Path
from typing import Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption
from agentm_assets.cli.output import BAD_INPUT, failures_reported, print_json, printable


def command(
    path: Annotated[Path, typer.Argument(help="Folder of the vault.")] = Path(),
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a vault at PATH, or adopt the folder there without changing a byte of it."""
    from agentm_assets.config.dagster_home import ensure_dagster_home
    from agentm_assets.config.directories import config_file, expand_home
    from agentm_assets.config.vault import DEFAULT_PROFILE, locate
    from agentm_assets.config.writer import write_profile
    from agentm_assets.contract.rules import default_rules_text
    from agentm_assets.storage.initialise import InitError, initialise

    root = Path(expand_home(os.environ, str(path))).absolute()
    name = profile or DEFAULT_PROFILE
    with failures_reported({InitError: BAD_INPUT}):
        done = initialise(root, default_rules_text())
        location = locate(os.environ, vault=str(root))
        values = {"storage.backend": "vault", "storage.root": str(location.root)}
        write_profile(config_file(os.environ), name, values, make_current=True)
        ensure_dagster_home(location.dagster_home)
    if as_json:
        print_json(
            {
                "root": str(location.root),
                "adopted": done.adopted,
                "written": list(done.written),
                "git": done.git,
                "profile": name,
                "config_file": str(location.config_file),
                "state_dir": str(location.state_dir),
            }
        )
        return
    verb = "Adopted, unchanged" if done.adopted else "Made"
    typer.echo(f"{verb}: {printable(str(location.root))}")
    typer.echo(f"git: {done.git}")
    typer.echo(f"index and logs: {printable(str(location.state_dir))}")
    typer.echo("Next: agentm index, then agentm recall QUESTION, or agentm up for the UI.")
