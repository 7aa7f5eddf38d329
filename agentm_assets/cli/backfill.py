"""`agentm backfill`: judge what nobody has judged, and again what has become stale."""

import os
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
    from agentm_assets.enrichment.assets.run import MonthRun, Plan

_NUMBERS = (
    "waiting",
    "enriched",
    "active",
    "kept_unfiled",
    "split",
    "in_batch",
    "refused",
    "left",
    "asked_for",
    "found_again",
    "calls",
    "tokens",
    "cost_usd",
    "seconds",
)


def command(
    month: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM", help="Only notes captured in it; undated for the rest."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done and what it would take.")
    ] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge what waits now, and again what an edit of the rules, the prompt or the model made
    stale: month by month, the oldest judgment first. Ended half-way, it goes on where it was.
    """
    from agentm_assets.cli.state_folder import StateUnusable, dagster_failures_named
    from agentm_assets.config.settings import Settings
    from agentm_assets.contract.rules import RulesError

    _require_month(month)
    with failures_reported():
        location = Settings.load(os.environ, vault=vault, profile=profile).location

    from agentm_assets.cli.server_lock import after_unclean_end
    from agentm_assets.definitions import build_defs
    from agentm_assets.enrichment.assets.run import plan_backfill, run_backfill
    from agentm_assets.index.assets.bury import bury
    from resources.embedder import EmbedderResource
    from resources.models import ModelsResource
    from resources.progress import ProgressReporter
    from resources.workspace import WorkspaceResource

    workspace = WorkspaceResource(
        vault=location.environment().get("AGENTM_VAULT"), profile=location.profile
    )
    models = ModelsResource(workspace=workspace)
    with failures_reported({RulesError: RED_STATE}):
        rules = workspace.rules()
        if dry_run:
            plan = plan_backfill(workspace, models, rules, month)
    if dry_run:
        _show_plan(plan, as_json)
        return
    runs: list[MonthRun] = []
    with (
        failures_reported({StateUnusable: RED_STATE}),
        dagster_failures_named(location),
        streams_given_back(),
        progress_bars() as listener,
    ):
        home = location.dagster_home
        after_unclean_end(home, lambda: bury(home, everything=True))
        resources = {
            "workspace": workspace,
            "embedder": EmbedderResource(workspace=workspace),
            "models": models,
            "progress": ProgressReporter(listener),
        }
        for run in run_backfill(
            build_defs(resources),
            workspace,
            models,
            month,
            on_wait=lambda: note_to_operator("another agentm run is under way; waiting for it"),
        ):
            runs.append(run)
    _show_runs(runs, as_json)


def _require_month(month: str | None) -> None:
    from agentm_assets.enrichment.population import UNDATED, month_of

    if month is not None and month != UNDATED and month_of(month) != month:
        note_to_operator(f"`{month}` is no month. Write it as 2026-08, or {UNDATED}")
        raise typer.Exit(BAD_INPUT)


def _show_plan(plan: "Plan", as_json: bool) -> None:
    for why in plan.why:
        note_to_operator(why)
    sent = plan.sent
    if as_json:
        print_json(
            {
                "judge": plan.judge,
                "unjudged": dict(plan.unjudged),
                "stale": dict(plan.stale),
                "awaiting_model": plan.awaiting_model,
                "held": dict(plan.held),
                "not_indexed": plan.not_indexed,
                "estimate": {
                    "calls": sent.calls,
                    "input_tokens": sent.input_tokens,
                    "output_tokens": sent.output_tokens,
                    "cost_usd": None if sent.cost is None else round(sent.cost, 4),
                },
            }
        )
        return
    typer.echo(f"judge: {printable(plan.judge or 'none')}")
    for name, months in (("never judged", plan.unjudged), ("stale", plan.stale)):
        typer.echo(f"{name}: {sum(months.values()):,}")
        for month, notes in months.items():
            typer.echo(f"  {month}  {notes:,}")
    if plan.held:
        codes = ", ".join(f"{code} {notes:,}" for code, notes in sorted(plan.held.items()))
        typer.echo(f"stopped by a gate, until they change: {sum(plan.held.values()):,} ({codes})")
    if plan.not_indexed:
        typer.echo(
            f"changed files that are not indexed yet: {plan.not_indexed:,}; the backfill indexes "
            "them first, and judges what waits among them, too"
        )
    if plan.awaiting_model:
        typer.echo(f"stale until a model is configured: {plan.awaiting_model:,}")
    if sent.calls:
        cost = "unknown cost" if sent.cost is None else f"${sent.cost:,.2f}"
        typer.echo(
            f"about {sent.calls:,} calls, {sent.input_tokens:,} tokens in and "
            f"{sent.output_tokens:,} out: {cost}"
        )
    elif not plan.asks_model:
        typer.echo("no model is asked: the built-in judge files notes")
    elif plan.judge is not None:
        typer.echo("no call is needed for the notes above")


def _show_runs(runs: "list[MonthRun]", as_json: bool) -> None:
    failed = next((run for run in runs if run.error is not None), None)
    left = sum(int(run.numbers.get("left", 0)) for run in runs)
    if as_json:
        print_json(
            {
                "runs": [
                    {
                        "month": run.month,
                        "run_id": run.run_id,
                        "error": run.error,
                        "judge": run.numbers.get("judge"),
                        "did": run.numbers.get("did"),
                        **{name: run.numbers.get(name, 0) for name in _NUMBERS},
                    }
                    for run in runs
                ],
                "left": left,
            }
        )
    else:
        for run in runs:
            did = run.numbers.get("did", "failed") if run.error is None else "failed"
            typer.echo(printable(f"{run.month or 'unjudged':<9} {did}"))
    remarks = [str(run.numbers["remarks"]) for run in runs if "remarks" in run.numbers]
    for remark in dict.fromkeys(remarks):
        if remark != "none":
            note_to_operator(remark)
    if failed is not None:
        note_to_operator(f"the backfill failed: {failed.error} (run {failed.run_id})")
        raise typer.Exit(RED_STATE)
    if left:
        note_to_operator(
            f"{left:,} notes are left; agentm backfill goes on with them, and so does the night"
        )
