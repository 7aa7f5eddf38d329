"""`agentm queue`: what waits for a pass, since when, and what was parked."""

import dataclasses
from typing import Annotated

import typer

from agentm_assets.cli.opened import opened, say_outcome
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import BAD_INPUT, RED_STATE, note_to_operator, print_json, printable

app = typer.Typer(help="What waits for a pass.", invoke_without_command=True)


@app.callback()
def depths(
    context: typer.Context,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show each queue: how many wait, how many are parked, how long the oldest waits."""
    if context.invoked_subcommand is not None:
        if vault or profile or as_json:
            raise typer.BadParameter("give the options after the subcommand")
        return
    from agentm_assets.index.store import IndexBusy, IndexStore
    from agentm_assets.ledger import queue, saved_queue

    with (
        opened(vault, profile, {IndexBusy: RED_STATE}) as store,
        IndexStore(store.location.duckdb_file).transaction() as connection,
    ):
        saved_queue.take_over(connection, store.location, store.backend)
        found = queue.depths(connection, store.now)
    if as_json:
        print_json([dataclasses.asdict(each) for each in found])
        return
    if not found:
        typer.echo("nothing waits")
    for each in found:
        age = (
            f", the oldest for {each.oldest_age_seconds / 86_400:.1f} days" if each.pending else ""
        )
        typer.echo(
            printable(f"{each.owner:<22} {each.pending:,} waiting, {each.dead:,} parked{age}")
        )


@app.command("list")
def list_(
    owner: Annotated[str | None, typer.Option(help="Only this owner's.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many to show.")] = 50,
    dead: Annotated[bool, typer.Option("--dead", help="Only what was parked.")] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what waits, the oldest first."""
    from agentm_assets.index.store import IndexBusy, IndexStore
    from agentm_assets.ledger import queue, saved_queue

    with (
        opened(vault, profile, {IndexBusy: RED_STATE}) as store,
        IndexStore(store.location.duckdb_file).transaction() as connection,
    ):
        saved_queue.take_over(connection, store.location, store.backend)
        rows = queue.rows(connection, owner)
    wanted = ("dead",) if dead else ("pending", "dead")
    rows = [row for row in rows if row.state in wanted]
    if as_json:
        print_json({"count": len(rows), "items": [dataclasses.asdict(r) for r in rows[:limit]]})
        return
    if not rows:
        typer.echo("nothing waits")
    for row in rows[:limit]:
        error = f"  ({row.attempts} failures: {row.last_error})" if row.attempts else ""
        state = "parked " if row.state == "dead" else ""
        typer.echo(
            printable(f"{row.enqueued[:10]}  {row.owner}  {state}{row.target}  {row.reason}{error}")
        )
    if len(rows) > limit:
        typer.echo(f"… {len(rows) - limit:,} more: --limit {len(rows)}")


@app.command("revive")
def revive(
    owner: Annotated[str, typer.Argument(help="Whose queue.")],
    target: Annotated[str, typer.Argument(help="The parked item.")],
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a parked item wait again."""
    from agentm_assets.history.run import begin
    from agentm_assets.index.store import IndexBusy, IndexStore
    from agentm_assets.ledger import queue, saved_queue

    with opened(vault, profile, {IndexBusy: RED_STATE}) as store:
        with IndexStore(store.location.duckdb_file).transaction() as connection:
            saved_queue.take_over(connection, store.location, store.backend)
            revived = queue.revive(connection, owner, target)
            saved_queue.save(connection, store.location)
        outcome = None
        if revived:
            with begin(
                store.location, store.backend, pass_name="queue", subject="Revive a dead letter"
            ) as run:
                line = saved_queue.revived_line(owner, target, queue.moment(store.now))
                run.record(saved_queue.DEAD_LETTERS, [line])
            outcome = run.outcome
    say_outcome(outcome)
    if as_json:
        print_json({"owner": owner, "target": target, "revived": revived})
    if not revived:
        note_to_operator(
            f"{owner} has no parked item {target}; agentm queue list --dead names them"
        )
        raise typer.Exit(BAD_INPUT)
    if not as_json:
        typer.echo(printable(f"{target} waits again"))
