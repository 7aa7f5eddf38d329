"""`agentm config`: what is configured, where it stands, and setting one key."""

import os
from typing import Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import failures_reported, note_to_operator, print_json, printable

app = typer.Typer(help="Show and change the configuration.", no_args_is_help=False)


@app.callback(invoke_without_command=True)
def default(
    context: typer.Context,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the configuration, unless a subcommand is named."""
    if context.invoked_subcommand is None:
        show(vault, profile, as_json)
    elif vault or profile or as_json:
        raise typer.BadParameter("give the options after the subcommand")


@app.command("show")
def show(
    vault: VaultOption = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """Show the configuration that commands run with, and who decided it."""
    from agentm_assets.config.settings import Settings, misspelt_variables

    with failures_reported():
        settings = Settings.load(os.environ, vault=vault, profile=profile)
    for name, meant in misspelt_variables(os.environ):
        note_to_operator(f"{name} is set but agentm does not read it; did you mean {meant}?")
    location = settings.location
    values = {
        "vault": location.store,
        "backend": location.backend,
        "vault_source": location.source,
        "profile": location.profile,
        "config_file": str(location.config_file),
        "state_dir": str(location.state_dir),
        "cache_dir": str(location.cache_dir),
        "embedder_model": settings.embedder_model,
        "reranker": settings.reranker,
    }
    if as_json:
        print_json(values)
        return
    width = max(map(len, values))
    for key, value in values.items():
        typer.echo(f"{key:<{width}}  {printable(value)}")


@app.command("path")
def path(as_json: JsonOption = False) -> None:
    """Print the path of agentm.toml, whether or not it is there yet."""
    from agentm_assets.config.directories import config_file

    with failures_reported():
        file = config_file(os.environ)
    if as_json:
        print_json({"config_file": str(file), "exists": file.exists()})
    else:
        typer.echo(printable(str(file)))


@app.command("set")
def set_key(
    key: Annotated[
        str,
        typer.Argument(help="storage.root, storage.backend, embedder.model or reranker.folder."),
    ],
    value: Annotated[str, typer.Argument(help="The new value.")],
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set one key of a profile in agentm.toml; everything else in the file stays as it is."""
    from agentm_assets.config.directories import config_file
    from agentm_assets.config.settings import read_file
    from agentm_assets.config.vault import DEFAULT_PROFILE
    from agentm_assets.config.writer import write_profile
    from agentm_assets.storage.selection import backend_class

    with failures_reported():
        if key == "storage.backend":
            backend_class(value)
        file = config_file(os.environ)
        current = os.environ.get("AGENTM_PROFILE") or read_file(file).profile
        name = profile or current or DEFAULT_PROFILE
        write_profile(file, name, {key: value})
    if as_json:
        print_json({"config_file": str(file), "profile": name, "key": key})
    else:
        typer.echo(f"{key} is set in profile {printable(name)} of {printable(str(file))}")
