"""`agentm repos`: which checkouts of this machine belong to which project."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import BAD_INPUT, RED_STATE, failures_reported, print_json, printable

if TYPE_CHECKING:
    from agentm_assets.storage.seam import StorageBackend

app = typer.Typer(help="The checkouts of this machine.", no_args_is_help=False)


@app.callback(invoke_without_command=True)
def default(
    context: typer.Context,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the registered checkouts, unless a subcommand is named."""
    if context.invoked_subcommand is None:
        list_(vault, profile, as_json)
    elif vault or profile or as_json:
        raise typer.BadParameter("give the options after the subcommand")


@app.command("list")
def list_(
    vault: VaultOption = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """List the registered checkouts."""
    from agentm_assets.routing.repos import list_repos

    with _store(vault, profile) as backend:
        repos = list_repos(backend, os.environ)
    if as_json:
        print_json([{"slug": repo.slug, "root_path": repo.root_path} for repo in repos])
        return
    for repo in repos:
        gone = "" if Path(repo.root_path).is_dir() else "  (not there)"
        typer.echo(printable(f"{repo.slug}  {repo.root_path}{gone}"))


@app.command("add")
def add(
    slug: Annotated[str, typer.Argument(help="The project.")],
    path: Annotated[Path, typer.Argument(help="The checkout.")] = Path(),
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Register a checkout for a project; one that is registered goes over to it."""
    from agentm_assets.routing.repos import add_repo

    with _store(vault, profile) as backend:
        repo = add_repo(backend, slug, path, os.environ)
    if as_json:
        print_json({"slug": repo.slug, "root_path": repo.root_path})
    else:
        typer.echo(printable(f"{repo.root_path} belongs to {repo.slug}"))


@app.command("remove")
def remove(
    path: Annotated[Path, typer.Argument(help="The checkout; it need not be there any more.")],
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a checkout out of the register. The folder itself is not touched."""
    from agentm_assets.routing.repos import remove_repo

    with _store(vault, profile) as backend:
        repo = remove_repo(backend, path, os.environ)
    if as_json:
        print_json({"removed": repo is not None, "slug": repo.slug if repo is not None else None})
    else:
        typer.echo("removed" if repo is not None else "it was not registered")


@contextmanager
def _store(vault: str | None, profile: str | None) -> "Iterator[StorageBackend]":
    from agentm_assets.routing.repos import RegistryRefused
    from agentm_assets.storage.seam import StorageError
    from agentm_assets.storage.selection import select_backend

    with failures_reported({RegistryRefused: BAD_INPUT, StorageError: RED_STATE}):
        yield select_backend(os.environ, vault=vault, profile=profile)
