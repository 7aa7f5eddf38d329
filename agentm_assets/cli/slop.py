"""`agentm slop`: notes that say nothing, and the operator's word on them."""

import os
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.opened import opened, outcome_json, say_outcome
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import BAD_INPUT, RED_STATE, note_to_operator, print_json, printable

if TYPE_CHECKING:
    from agentm_assets.cli.opened import Opened
    from agentm_assets.dreaming.meters.slop import Scored

app = typer.Typer(help="Notes that fill a template and say nothing.", no_args_is_help=True)


@app.command("list")
def list_(
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many to show.")] = 50,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what to look at, and what expires or would; nothing is written."""
    from agentm_assets.contract.rules import RulesError
    from agentm_assets.dreaming.meters.slop_records import read_answers

    with opened(vault, profile, {RulesError: RED_STATE}) as store:
        found = _scored(store, profile)
        confirmed = read_answers(store.backend).confirmed
    if as_json:
        shown = [asdict(each) for each in found[:limit]]
        print_json({"confirmed": confirmed, "count": len(found), "notes": shown})
        return
    if not found:
        typer.echo("no note fills a template and says nothing")
    for each in found[:limit]:
        typer.echo(printable(f"{each.band:<7} {each.line}"))
    if any(each.band == "expire" for each in found) and not confirmed:
        typer.echo("the band `expire` waits for your word: agentm slop confirm")


@app.command("confirm")
def confirm(
    vault: VaultOption = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """The narrow band is right: from the next night on it expires notes. Nothing is removed."""
    from agentm_assets.dreaming.meters.slop_records import confirm_line
    from agentm_assets.dreaming.records import moment

    with opened(vault, profile) as store:
        _answer(store, confirm_line(moment(store.now)), "Confirm that bare copies expire", as_json)


@app.command("keep")
def keep(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The note.")],
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """This note is worth keeping: it is listed no more until its body changes."""
    from agentm_assets.contract.fingerprint import fingerprint
    from agentm_assets.contract.frontmatter import read_frontmatter
    from agentm_assets.dreaming.meters.slop_records import keep_line
    from agentm_assets.dreaming.records import moment
    from agentm_assets.storage.locator import Locator, LocatorInvalid
    from agentm_assets.storage.personal import is_personal

    with opened(vault, profile, {LocatorInvalid: BAD_INPUT}) as store:
        locator = Locator(path)
        if is_personal(locator):
            note_to_operator(f"{locator}: no pass looks at personal/, so it is on no list")
            raise typer.Exit(BAD_INPUT)
        try:
            data = store.backend.read_bytes(locator)
        except FileNotFoundError:
            note_to_operator(f"there is no note {path}; agentm slop list shows them")
            raise typer.Exit(BAD_INPUT) from None
        body = fingerprint(data[read_frontmatter(data).body_start :])
        line = keep_line(locator.key, body, moment(store.now))
        _answer(store, line, f"Keep {path}", as_json)


def _scored(store: "Opened", profile: str | None) -> "list[Scored]":
    from agentm_assets.config.settings import Settings
    from agentm_assets.contract.rules import load_rules
    from agentm_assets.dreaming.meters.slop import scored
    from agentm_assets.dreaming.opened import open_night
    from agentm_assets.index.store import IndexStore
    from agentm_assets.storage.selection import open_vault

    settings = Settings.load(
        os.environ, vault=store.location.environment().get("AGENTM_VAULT"), profile=profile
    )
    night = open_night(
        settings,
        IndexStore(store.location.duckdb_file),
        load_rules(open_vault(store.location), os.environ),
        night_id="slop",
        now=datetime.now(UTC),
        models=None,
        embedder=lambda: None,
    )
    return scored(night)[1]


def _answer(store: "Opened", line: bytes, subject: str, as_json: bool) -> None:
    from agentm_assets.dreaming.meters.slop_records import RECORD
    from agentm_assets.history.run import begin

    with begin(store.location, store.backend, pass_name="slop", subject=subject) as run:
        run.record(RECORD, [line])
    say_outcome(run.outcome)
    if as_json:
        print_json({"history": outcome_json(run.outcome)})
    else:
        typer.echo("noted")
