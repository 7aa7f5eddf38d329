"""`agentm migrate`: an existing vault is brought onto the filing contract, line by line."""

import dataclasses
import os
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.opened import opened, outcome_json, say_outcome
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import (
    BAD_INPUT,
    RED_STATE,
    note_to_operator,
    print_json,
    printable,
)
from agentm_assets.cli.progress import progress_bars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentm_assets.contract.vocabulary import Status
    from agentm_assets.migration.migrate import Migration
    from agentm_assets.migration.note import Part
    from agentm_assets.storage.seam import StorageBackend

_SHOWN_LEFT = 20


def command(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show each edit, and change nothing.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PART", help="types, status or fields; repeat it. Default: all."),
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="What an older status stands for; repeat it."),
    ] = None,
    folder: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Also the notes of this folder outside the declared spaces; repeat.",
        ),
    ] = None,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring the notes of an existing vault onto the filing contract, by edits of single lines.

    Retired types become those that stand for them, older statuses one of the four, and what a
    memory carries is added where it is known. Nothing moves, no other byte changes; what is not
    plain is left and listed. Twice is once, and one `agentm revert` takes it all back.
    """
    from datetime import UTC, datetime

    from agentm_assets.contract.rules import RulesError, load_rules
    from agentm_assets.index.build import date_in_name
    from agentm_assets.migration.migrate import migrate
    from agentm_assets.migration.note import Wanted
    from agentm_assets.storage.selection import open_vault

    parts, words = _parts(only or ()), _words(status or ())
    with opened(vault, profile, {RulesError: RED_STATE}) as store, progress_bars() as bars:
        _require_folders(store.backend, folder or ())
        loaded = load_rules(open_vault(store.location), os.environ)
        done = migrate(
            store.location,
            store.backend,
            Wanted(loaded.rules, words, date_in_name, parts),
            loaded.rules_hash,
            lambda: datetime.now(UTC),
            folders=folder or (),
            dry_run=dry_run,
            on_note=lambda at, total: bars("notes", at, total),
        )
    say_outcome(done.outcome)
    if as_json:
        print_json(
            {
                "looked_at": done.looked_at,
                "changed": [dataclasses.asdict(each) for each in done.changed],
                "left": [dataclasses.asdict(each) for each in done.left],
                "outside": list(done.outside),
                "dry_run": dry_run,
                "run": done.run,
                "history": outcome_json(done.outcome),
            }
        )
    else:
        _show(done, dry_run)


def _show(done: "Migration", dry_run: bool) -> None:
    if dry_run:
        for note in done.changed:
            typer.echo(printable(note.path))
            for edit in note.edits:
                typer.echo(printable(f"  {edit.line:>4}  {_edited(edit.before, edit.after)}"))
    if done.left:
        listed = [(held.path, each) for held in done.left for each in held.left]
        for path, each in listed[:_SHOWN_LEFT]:
            place = f"{path}:{each.line}" if each.line else path
            typer.echo(printable(f"left  {place}  {each.why}"))
        more = len(listed) - _SHOWN_LEFT
        if more > 0:
            typer.echo(f"… {more:,} more are left: agentm migrate --dry-run --json lists them")
    if done.outside:
        note_to_operator(
            f"{len(done.outside):,} notes outside the declared folders carry retired values "
            f"({done.outside[0]}); name their folder with --folder to edit them too"
        )
    edits = sum(len(note.edits) for note in done.changed)
    count = f"{len(done.changed):,} of {done.looked_at:,} notes"
    if not done.changed:
        typer.echo(f"nothing to do: {done.looked_at:,} notes are on the contract or left as listed")
    elif dry_run:
        typer.echo(f"{count} would change, {edits:,} lines; nothing was written (--dry-run)")
    else:
        typer.echo(f"{count} changed, {edits:,} lines; agentm revert {done.run} undoes it")
        typer.echo("the next index pass takes them in: agentm index, or wait for agentm up")


def _edited(before: str | None, after: str | None) -> str:
    if before is None:
        return f"+ {after}"
    return f"- {before}" if after is None else f"{before}  ->  {after}"


def _parts(only: "Sequence[str]") -> "tuple[Part, ...]":
    from agentm_assets.migration.note import PARTS

    unknown = [each for each in only if each not in PARTS]
    if unknown:
        _refuse(f"--only {unknown[0]}: there is no such part. Use {', '.join(PARTS)}.")
    return tuple(part for part in PARTS if not only or part in only)


def _require_folders(backend: "StorageBackend", folders: "Sequence[str]") -> None:
    from agentm_assets.storage.locator import Locator, LocatorInvalid

    for folder in folders:
        name = folder.strip("/")
        if name in ("", "."):
            continue
        try:
            there = backend.exists(Locator(name))
        except LocatorInvalid:
            there = False
        if not there:
            _refuse(f"--folder {folder}: there is no such folder in the vault.")


def _words(pairs: "Sequence[str]") -> "Mapping[str, Status]":
    from agentm_assets.contract.vocabulary import STATUSES
    from agentm_assets.migration.words import STATUS_WORDS, kebab

    words = dict(STATUS_WORDS)
    for pair in pairs:
        old, _, new = pair.partition("=")
        status = next((each for each in STATUSES if each == new.strip()), None)
        if not kebab(old) or status is None:
            _refuse(f"--status {pair}: write it as OLD=NEW, NEW one of {', '.join(STATUSES)}.")
        elif kebab(old) in STATUSES and kebab(old) != status:
            _refuse(f"--status {pair}: `{kebab(old)}` is a status already and stays what it is.")
        else:
            words[kebab(old)] = status
    return words


def _refuse(why: str) -> None:
    typer.echo(f"agentm: {printable(why)}", err=True)
    raise typer.Exit(BAD_INPUT)
