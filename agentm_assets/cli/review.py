"""`agentm review`: what a judge left to the operator, and the operator's answers."""

import dataclasses
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.opened import Opened, opened, outcome_json, say_outcome
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import (
    BAD_INPUT,
    RED_STATE,
    note_to_operator,
    print_json,
    printable,
)

if TYPE_CHECKING:
    from agentm_assets.contract.rules import LoadedRules
    from agentm_assets.enrichment.review import Answered, Queued, Review
    from agentm_assets.index.facts_reader import FactsReader

app = typer.Typer(help="Notes that wait for your word.", no_args_is_help=True)

PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="The note, as `agentm review list` shows it.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show the difference, and change nothing.")
]


@app.command("list")
def list_(
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many to show.")] = 50,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the notes that no judge filed, the longest waiting first."""
    with _desk(vault, profile) as desk:
        queue = desk.queue()
    if as_json:
        shown = [dataclasses.asdict(each) for each in queue[:limit]]
        print_json({"waiting": len(queue), "notes": shown})
        return
    if not queue:
        typer.echo("nothing waits for review")
    for each in queue[:limit]:
        sure = "refused" if each.confidence is None else f"{each.confidence:.2f}"
        typer.echo(
            printable(f"{each.since[:10]:<10}  {sure:<7}  {each.type or '-':<11} {each.path}")
        )
    if len(queue) > limit:
        typer.echo(f"… {len(queue) - limit:,} more: agentm review list --limit {len(queue)}")


@app.command("show")
def show(
    path: PathArgument,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one note, why it waits, and what the judge changed in it."""
    with _desk(vault, profile) as desk:
        shown = desk.review.show(path, desk.queue())
    if as_json:
        print_json(dataclasses.asdict(shown))
        return
    typer.echo(printable(shown.path))
    if shown.queued is None:
        typer.echo(f"status: {shown.status or 'none'}; it waits for no answer")
    else:
        typer.echo(printable(_why(shown.queued)))
    if shown.judged_diff:
        typer.echo("\nwhat the judge changed:")
        _print_diff(shown.judged_diff)
    else:
        typer.echo(f"\n{_lines(shown.text)}")


@app.command("accept")
def accept(
    path: PathArgument,
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """The judge was right: the note becomes active."""
    with _desk(vault, profile) as desk:
        answered = desk.review.accept(path, desk.rules(), dry_run=dry_run)
    _say(answered, "active", dry_run, as_json)


@app.command("reject")
def reject(
    path: PathArgument,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why; it is kept in the note.")
    ] = "rejected in review",
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """The note is not worth keeping: it expires and ranks lower; nothing is removed."""
    with _desk(vault, profile) as desk:
        answered = desk.review.reject(path, desk.rules(), reason, dry_run=dry_run)
    _say(answered, "expired", dry_run, as_json)


@app.command("retype")
def retype(
    path: PathArgument,
    type_: Annotated[str, typer.Option("--type", metavar="T", help="The type that it is of.")],
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """The judge was wrong: the note gets this type and becomes active; no judge changes it again.

    It moves to the class of its new type while nothing links to it.
    """
    from agentm_assets.storage.selection import open_vault

    with _desk(vault, profile) as desk, desk.facts() as facts:
        answered = desk.review.retype(
            path, type_, desk.rules(), open_vault(desk.store.location), facts, dry_run=dry_run
        )
    _say(answered, f"of type {type_} and active", dry_run, as_json)


@dataclass(frozen=True, slots=True)
class _Desk:
    """A vault with what an answer needs, opened where it is needed."""

    store: Opened
    review: "Review"
    rules: Callable[[], "LoadedRules"]
    facts: Callable[[], "FactsReader"]

    def queue(self) -> "tuple[Queued, ...]":
        from agentm_assets.enrichment.refusals import read_refusals
        from agentm_assets.enrichment.review import review_queue
        from agentm_assets.history.revert_log import read_log

        backend = self.store.backend
        with self.facts() as facts:
            return review_queue(facts, read_refusals(backend), read_log(backend)[0])


@contextmanager
def _desk(vault: str | None, profile: str | None) -> Iterator[_Desk]:
    from agentm_assets.contract.rules import RulesError, load_rules
    from agentm_assets.enrichment.review import Review, ReviewRefused
    from agentm_assets.index.facts_reader import FactsReader
    from agentm_assets.storage.selection import open_vault

    with opened(vault, profile, {ReviewRefused: BAD_INPUT, RulesError: RED_STATE}) as store:
        yield _Desk(
            store,
            Review(store.location, store.backend, lambda: datetime.now(UTC)),
            lambda: load_rules(open_vault(store.location), os.environ),
            lambda: FactsReader.open(store.location.facts_file),
        )


def _why(queued: "Queued") -> str:
    sure = "" if queued.confidence is None else f", confidence {queued.confidence:.2f}"
    judged = f"judged by {queued.judged_by}{sure}" if queued.judged_by else "not judged"
    code = "" if queued.why == "unsure" else f" [{queued.why}]"
    return f"waits since {queued.since}: {queued.detail}{code} ({judged})"


def _say(answered: "Answered", became: str, dry_run: bool, as_json: bool) -> None:
    say_outcome(answered.outcome)
    if answered.remark:
        note_to_operator(answered.remark)
    if as_json:
        print_json(
            {
                "path": answered.path,
                "answer": answered.answer,
                "changed": answered.changed,
                "moved_to": answered.moved_to,
                "dry_run": dry_run,
                "diff": answered.diff,
                "run": answered.run,
                "history": outcome_json(answered.outcome),
            }
        )
        return
    if answered.diff:
        _print_diff(answered.diff)
    if dry_run:
        typer.echo("nothing was written (--dry-run)")
    elif not answered.changed:
        typer.echo(printable(f"{answered.path} is {became} already"))
    else:
        place = answered.moved_to or answered.path
        typer.echo(printable(f"{place} is {became}; agentm revert {answered.run} undoes it"))


_COLOURS = {"+": typer.colors.GREEN, "-": typer.colors.RED, "@": typer.colors.CYAN}


def _print_diff(diff: str) -> None:
    for line in diff.split("\n")[:-1]:
        head = line.startswith(("---", "+++"))
        colour = None if head else _COLOURS.get(line[:1])
        typer.secho(printable(line), fg=colour, bold=head)


def _lines(text: str) -> str:
    from agentm_assets.contract.lines import split_lines

    return "\n".join(printable(line.rstrip("\r\n")) for line in split_lines(text))
