"""`agentm dream`: the night's work now, all of it or one stage."""

import dataclasses
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.in_process import streams_given_back
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import (
    BAD_INPUT,
    RED_STATE,
    failures_reported,
    note_to_operator,
    print_json,
    printable,
)
from agentm_assets.cli.progress import progress_bars

if TYPE_CHECKING:
    from agentm_assets.contract.rules import LoadedRules
    from agentm_assets.dreaming.assets.run import Dreamt
    from agentm_assets.dreaming.records import StageRecord
    from agentm_assets.dreaming.stage import Stage, StageReport
    from resources.workspace import WorkspaceResource

_SHOWN_NOTES = 20


def command(
    stage: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this stage; --list names them.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")
    ] = False,
    accept: Annotated[
        bool,
        typer.Option(help="With --stage: so many changes are right; the breaker lets them pass."),
    ] = False,
    list_stages: Annotated[bool, typer.Option("--list", help="Name the stages, in order.")] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Do the night's work over the whole vault: pages, links, meters, lessons.

    A stage that finds nothing to change writes nothing. Each is a run of its own in the history, so
    that agentm revert takes it back.
    """
    from agentm_assets.cli.state_folder import StateUnusable, dagster_failures_named
    from agentm_assets.config.settings import Settings
    from agentm_assets.contract.rules import RulesError
    from agentm_assets.dreaming.order import STAGES, stage_named

    if list_stages:
        _list(STAGES, as_json)
        return
    if stage is not None and stage_named(stage) is None:
        note_to_operator(f"there is no stage `{stage}`. agentm dream --list names them")
        raise typer.Exit(BAD_INPUT)
    if accept and stage is None:
        note_to_operator("--accept goes with --stage: say whose changes are right")
        raise typer.Exit(BAD_INPUT)
    with failures_reported():
        location = Settings.load(os.environ, vault=vault, profile=profile).location

    from resources.workspace import WorkspaceResource

    workspace = WorkspaceResource(
        vault=location.environment().get("AGENTM_VAULT"), profile=location.profile
    )
    with failures_reported({RulesError: RED_STATE}):
        rules = workspace.rules()
        if dry_run:
            chosen = [each for each in STAGES if stage in (None, each.name)]
            _show_plan(_planned(workspace, rules, chosen), as_json)
            return
    from agentm_assets.cli.server_lock import after_unclean_end
    from agentm_assets.definitions import build_defs
    from agentm_assets.dreaming.assets.run import dream_now
    from agentm_assets.index.assets.bury import bury
    from resources.progress import ProgressReporter

    with (
        failures_reported({StateUnusable: RED_STATE}),
        dagster_failures_named(location),
        streams_given_back(),
        progress_bars() as listener,
    ):
        after_unclean_end(
            location.dagster_home, lambda: bury(location.dagster_home, everything=True)
        )
        dreamt = dream_now(
            build_defs({"workspace": workspace, "progress": ProgressReporter(listener)}),
            workspace,
            stage,
            accept=accept,
            on_wait=lambda: note_to_operator("another agentm run is under way; waiting for it"),
        )
    _show(dreamt, as_json)


def _list(stages: "Sequence[Stage]", as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {
                    "name": each.name,
                    "version": each.version,
                    "needs_model": each.needs_model,
                    "description": each.description,
                }
                for each in stages
            ]
        )
        return
    for each in stages:
        typer.echo(f"{each.name:<20} {each.description}")


def _planned(
    workspace: "WorkspaceResource", rules: "LoadedRules", stages: "list[Stage]"
) -> "list[StageReport]":
    """By the index as it is: a dry run brings nothing in line, and asks no model."""
    from agentm_assets.dreaming.attempt import run_night
    from agentm_assets.dreaming.opened import open_night
    from resources.embedder import EmbedderResource

    night = open_night(
        workspace.settings(),
        workspace.store(),
        rules,
        night_id="dry-run",
        now=datetime.now(UTC),
        models=None,
        embedder=EmbedderResource(workspace=workspace).open,
    )
    return list(run_night(night, stages, dry_run=True))


def _show_plan(reports: "list[StageReport]", as_json: bool) -> None:
    if as_json:
        print_json([dataclasses.asdict(report) for report in reports])
        return
    for report in reports:
        if report.error is not None:
            typer.echo(printable(f"{report.stage:<20} can't be planned: {report.error}"))
            continue
        trips = "; an anomaly, nothing would be applied" if report.anomaly else ""
        typer.echo(f"{report.stage:<20} {report.planned:,} files would be written{trips}")
        for path in report.paths[:_SHOWN_NOTES]:
            typer.echo(printable(f"  {path}"))
        if len(report.paths) > _SHOWN_NOTES:
            typer.echo(f"  … {len(report.paths) - _SHOWN_NOTES:,} more")
    typer.echo("nothing was written (--dry-run)")


def _show(dreamt: "Dreamt", as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "run_id": dreamt.run_id,
                "error": dreamt.error,
                "stages": [dataclasses.asdict(each) for each in dreamt.stages],
            }
        )
    else:
        for each in dreamt.stages:
            typer.echo(printable(f"{each.stage:<20} {_line(each)}"))
            for note in each.notes[:_SHOWN_NOTES]:
                typer.echo(printable(f"  {note}"))
    for each in dreamt.stages:
        for letter in each.parked:
            note_to_operator(f"parked after three failures: {letter}")
    failed = [each.stage for each in dreamt.stages if each.error]
    if dreamt.error is not None:
        note_to_operator(f"the night ended early: {dreamt.error} (run {dreamt.run_id})")
    if dreamt.error is not None or failed:
        raise typer.Exit(RED_STATE)


def _line(record: "StageRecord") -> str:
    if record.error:
        return f"failed: {record.error}"
    if record.anomaly:
        return (
            f"nothing applied: {record.planned:,} changes are an anomaly (limit "
            f"{record.limit or 0:,.0f}). If they are right: agentm dream --stage {record.stage} "
            "--accept"
        )
    parts = [f"{record.applied:,} written"]
    if record.held:
        parts.append(f"{record.held:,} held for the next night")
    if record.waiting_for_model:
        parts.append(f"{record.waiting_for_model:,} wait for a model")
    parts += [f"{count:,} {reason}" for reason, count in record.skipped.items()]
    parts += [f"{name} {value}" for name, value in record.measured.items()]
    run = f"  [{record.run_id}]" if record.run_id else ""
    return f"{', '.join(parts)}  {record.seconds:.1f} s{run}"
