"""`agentm task`: the workbench for what is no project."""

from typing import Annotated

import typer

from agentm_assets.cli.opened import opened
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import BAD_INPUT, print_json, printable
from agentm_assets.cli.written import show_done

app = typer.Typer(help="Start, close and list tasks.", no_args_is_help=True)


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(metavar="SLUG|TITLE", help="What the task is called.")],
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start a task: a folder with a progress log under Agent/desk/tasks."""
    from agentm_assets.projects.tasks import TaskRefused
    from agentm_assets.projects.work import start_task

    with opened(vault, profile, {TaskRefused: BAD_INPUT}) as store:
        done = start_task(store.location, store.backend, name, store.now)
    show_done(done, f"the task {done.slug} is started", as_json)


@app.command("done")
def done(
    slug: Annotated[str, typer.Argument(help="The task.")],
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close a task: its log says done, and everything stays where it is."""
    from agentm_assets.projects.tasks import TaskRefused
    from agentm_assets.projects.work import close_task

    with opened(vault, profile, {TaskRefused: BAD_INPUT}) as store:
        closed = close_task(store.location, store.backend, slug, store.now)
    show_done(closed, f"the task {closed.slug} is done", as_json)


@app.command("list")
def list_(
    everything: Annotated[bool, typer.Option("--all", help="The closed ones too.")] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the active tasks with what is open in them."""
    from agentm_assets.projects.tasks import all_tasks

    with opened(vault, profile) as store:
        tasks = [task for task in all_tasks(store.backend) if everything or task.is_active]
    if as_json:
        print_json(
            [
                {
                    "slug": task.slug,
                    "title": task.title,
                    "status": task.status,
                    "path": task.folder.key,
                    "log": task.log.key if task.log is not None else None,
                    "open": list(task.open),
                }
                for task in tasks
            ]
        )
        return
    for task in tasks:
        closed = "" if task.is_active else f"  [{task.status}]"
        typer.echo(printable(f"{task.slug}  {task.title}{closed}"))
        for item in task.open:
            typer.echo(printable(f"  - {item}"))


@app.command("moc")
def moc(
    vault: VaultOption = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """Renew the generated part of the map of tasks; what you wrote around it stays."""
    from agentm_assets.projects.work import renew_task_map

    with opened(vault, profile) as store:
        written = renew_task_map(store.location, store.backend, store.now)
    show_done(written, "the map is renewed" if written.paths else "the map is as it was", as_json)
