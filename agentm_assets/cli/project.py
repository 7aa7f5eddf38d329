"""`agentm project`: making a project (the operator's own act), listing them, renewing a map."""

from typing import Annotated

import typer

from agentm_assets.cli.opened import opened
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import BAD_INPUT, print_json, printable
from agentm_assets.cli.written import show_done

app = typer.Typer(help="Make and list projects.", no_args_is_help=True)


@app.command("new")
def new(
    slug: Annotated[str, typer.Argument(help="Name of the folder, as in quiet-boil.")],
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the project.")] = None,
    from_task: Annotated[
        str | None,
        typer.Option(metavar="SLUG", help="The task it grows out of; its folder stays as a log."),
    ] = None,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Declare a project: project.yaml, charter, blueprint, tracker and a map. Only you do this."""
    from agentm_assets.projects.founding import FoundingRefused
    from agentm_assets.projects.tasks import TaskRefused
    from agentm_assets.projects.work import found_project

    refusals = {FoundingRefused: BAD_INPUT, TaskRefused: BAD_INPUT}
    with opened(vault, profile, refusals) as store:
        done = found_project(
            store.location, store.backend, slug, store.now, title=title, from_task=from_task
        )
    show_done(done, f"the project {done.slug} is declared", as_json)


@app.command("list")
def list_(
    vault: VaultOption = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """List the declared projects."""
    from agentm_assets.projects.declared import declared_projects

    with opened(vault, profile) as store:
        projects = declared_projects(store.backend)
    if as_json:
        print_json([{"slug": each.slug, "path": each.folder.key} for each in projects])
        return
    for project in projects:
        typer.echo(printable(project.slug))


@app.command("moc")
def moc(
    slug: Annotated[str, typer.Argument(help="The project.")],
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Renew the generated part of a project's map; what you wrote around it stays."""
    from agentm_assets.projects.founding import FoundingRefused
    from agentm_assets.projects.work import renew_map

    with opened(vault, profile, {FoundingRefused: BAD_INPUT}) as store:
        done = renew_map(store.location, store.backend, slug, store.now)
    show_done(done, "the map is renewed" if done.paths else "the map is as it was", as_json)
