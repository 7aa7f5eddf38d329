"""`agentm report`: the health scorecard, the morning note and the memory graph, when asked for."""

import dataclasses
import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.opened import opened, outcome_json, say_outcome
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import RED_STATE, note_to_operator, print_json, printable

if TYPE_CHECKING:
    from agentm_assets.reports.publish import GraphReport, HealthReport, MorningReport, Written


class Report(StrEnum):
    """What can be asked for."""

    HEALTH = "health"
    MORNING = "morning"
    GRAPH = "graph"


def command(
    report: Annotated[
        Report | None, typer.Argument(help="Which one; without it all three are made.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the report, and write nothing.")
    ] = False,
    mail: Annotated[
        bool, typer.Option("--mail", help="Mail the morning note, if it was not mailed today.")
    ] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the reports into Agent/diagnostics, dated and as the latest, and show them.

    What has not changed since the last one of the day is not written again, nor is a page that a
    person has edited.
    """
    import duckdb

    from agentm_assets.config.settings import Settings
    from agentm_assets.index.store import IndexBusy, IndexDamaged
    from agentm_assets.reports.publish import report_graph, report_health, report_morning

    failures: dict[type[Exception], int] = dict.fromkeys(
        (IndexBusy, IndexDamaged, duckdb.Error, OSError), RED_STATE
    )
    shown: dict[str, object] = {}
    with opened(vault, profile, failures) as store:
        settings = Settings.load(os.environ, vault=vault, profile=profile)
        given = (settings, store.backend, os.environ, store.now)
        if report in (None, Report.GRAPH):
            graph = report_graph(*given, dry_run=dry_run)
            shown["graph"] = _graph_json(graph)
            _say(graph.written)
            if not as_json:
                typer.echo(_graph_text(graph, dry_run))
        if report in (None, Report.HEALTH):
            health = report_health(*given, dry_run=dry_run)
            shown["health"] = _health_json(health)
            _say(health.written)
            if not as_json:
                _show(health.text)
        if report in (None, Report.MORNING):
            morning = report_morning(*given, dry_run=dry_run, with_mail=mail)
            shown["morning"] = _morning_json(morning)
            _say(morning.written)
            if not as_json:
                _show(morning.text)
            if morning.mailed:
                note_to_operator(f"the morning note was {morning.mailed}")
    if as_json:
        print_json({**shown, "dry_run": dry_run})


def _say(written: "Written") -> None:
    say_outcome(written.outcome)
    for path in written.edited:
        note_to_operator(f"{path} was edited by hand and stays; remove it to have it written again")


def _show(text: str) -> None:
    """As Markdown on a terminal, as it stands elsewhere."""
    from rich.console import Console

    console = Console(highlight=False)
    lines = [printable(line) for line in text.split("\n---\n", 1)[-1].split("\n")]
    if console.is_terminal:
        from rich.markdown import Markdown

        console.print(Markdown("\n".join(lines)))
    else:
        typer.echo("\n".join(lines))


def _graph_text(graph: "GraphReport", dry_run: bool) -> str:
    from agentm_assets.reports.graph.svg import said

    place = ", ".join(graph.written.paths) or (
        "nothing was written (--dry-run)" if dry_run else "it is drawn already"
    )
    return printable(f"memory graph: {said(graph.graph)}; {place}\n")


def _graph_json(graph: "GraphReport") -> dict[str, object]:
    return {
        "notes": len(graph.graph.nodes),
        "links": len(graph.graph.edges),
        "left_out": graph.graph.left_out,
        "unlinked": graph.graph.unlinked,
        "hubs": [dataclasses.asdict(node) for node in graph.graph.hubs[:20]],
        **_written_json(graph.written),
    }


def _health_json(health: "HealthReport") -> dict[str, object]:
    return {
        "ok": not health.health.failed,
        "day": health.health.day.model_dump(mode="json"),
        **_written_json(health.written),
    }


def _morning_json(morning: "MorningReport") -> dict[str, object]:
    return {
        **morning.morning.block(),
        "text": morning.text,
        "mailed": morning.mailed,
        **_written_json(morning.written),
    }


def _written_json(written: "Written") -> dict[str, object]:
    return {
        "written": list(written.paths),
        "edited": list(written.edited),
        "run": written.run,
        "history": outcome_json(written.outcome),
    }
