"""The Typer application: one module a command, registered here.

A command module imports Typer and light modules at its top and the rest inside the function, so
that `agentm recall` does not pay for what `agentm up` needs.
"""

from typing import Annotated

import typer

from agentm_assets import __version__
from agentm_assets.cli import (
    backfill,
    backlinks,
    capture_help,
    config,
    demo,
    doctor,
    door,
    dream,
    entity,
    evaluate,
    forget,
    get,
    history,
    hook_help,
    idea,
    index,
    ingest,
    init,
    install,
    ledger,
    mcp_help,
    migrate,
    probe,
    project,
    queue,
    recall,
    recent,
    report,
    repos,
    revert,
    review,
    rules,
    slop,
    sources,
    state,
    status,
    task,
    trace,
    up,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"agentm {__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """A memory for one operator and their AI agents."""


app = typer.Typer(
    name="agentm",
    callback=_main,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("init")(init.command)
app.command("index")(index.command)
app.command("backfill")(backfill.command)
app.command("recall")(recall.command)
app.command(
    "capture",
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(capture_help.command)
for name, help_only in (("hook", hook_help.command), ("mcp", mcp_help.command)):
    app.command(
        name,
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(help_only)
app.command("get")(get.command)
app.command("backlinks")(backlinks.command)
app.command("entity")(entity.command)
app.command("recent")(recent.command)
app.command("forget")(forget.command)
app.command("idea")(idea.command)
app.command("door")(door.command)
app.command("dream")(dream.command)
app.add_typer(ledger.app, name="ledger")
app.add_typer(queue.app, name="queue")
app.add_typer(slop.app, name="slop")
app.command("trace")(trace.command)
app.command("ingest")(ingest.command)
app.command("sources")(sources.command)
app.add_typer(project.app, name="project")
app.add_typer(task.app, name="task")
app.add_typer(state.app, name="state")
app.add_typer(repos.app, name="repos")
app.command("install")(install.command)
app.command("status")(status.command)
app.command("migrate")(migrate.command)
app.command("probe")(probe.command)
app.command("report")(report.command)
app.command("history")(history.command)
app.command("revert")(revert.command)
app.add_typer(review.app, name="review")
app.command("doctor")(doctor.command)
app.command("demo")(demo.command)
app.command("up")(up.command)
app.add_typer(evaluate.app, name="eval")
app.add_typer(config.app, name="config")
app.add_typer(rules.app, name="rules")
