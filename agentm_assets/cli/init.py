"""`agentm init`: make a vault, or adopt a folder as it is."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption
from agentm_assets.cli.output import (
    BAD_INPUT,
    RED_STATE,
    failures_reported,
    print_json,
    printable,
)


def command(
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="Folder of the vault.")] = ".",
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a vault at PATH, or adopt the folder there without changing a byte of it."""
    from agentm_assets.cli.state_folder import StateUnusable, disk_failures_named
    from agentm_assets.config.dagster_home import ensure_dagster_home
    from agentm_assets.config.directories import cache_dir, config_file
    from agentm_assets.config.settings import read_file
    from agentm_assets.config.vault import DEFAULT_PROFILE, locate
    from agentm_assets.config.writer import write_profile
    from agentm_assets.contract.rules import default_rules_text
    from agentm_assets.storage.initialise import InitError, initialise

    name = DEFAULT_PROFILE if profile is None else profile
    with failures_reported({InitError: BAD_INPUT, StateUnusable: RED_STATE}):
        root = _root(os.environ, path)
        # Refused before anything is made.
        before = read_file(config_file(os.environ))
        done = initialise(root, default_rules_text(), cache_dir(os.environ) / "locks")
        location = locate(os.environ, vault=str(root))
        values = {"storage.backend": "vault", "storage.root": str(location.root)}
        write_profile(config_file(os.environ), name, values, make_current=True)
        with disk_failures_named(location.state_dir):
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
    old = before.profiles.get(before.profile or DEFAULT_PROFILE)
    was = "" if old is None or old.storage is None else old.storage.root
    if was and was != str(location.root):
        typer.echo(
            printable(
                f"It is the vault of every command from now on; it was {was}. That one is asked "
                f"with --vault, or --profile where it has a name of its own."
            )
        )
    typer.echo("Next: agentm index, then agentm recall QUESTION, or agentm up for the UI.")


def _root(env: Mapping[str, str], path: str) -> Path:
    """The folder that is meant. Raises InitError while nothing is made yet."""
    from agentm_assets.config.directories import expand_home, state_dir
    from agentm_assets.storage.initialise import InitError

    if not path.strip():
        raise InitError("the path of the vault is empty. Name its folder, or . for this one.")
    root = Path(expand_home(env, path)).absolute()
    state = state_dir(env, root)
    if Path(os.path.realpath(state)).is_relative_to(os.path.realpath(root)):
        raise InitError(
            f"the state directory {state} would lie inside the vault {root}, where it would be "
            "synced and committed. Choose another folder, or set XDG_STATE_HOME outside of it."
        )
    return root
