"""`agentm ledger`: how far each stage is, and the tables rebuilt from what the notes say."""

import dataclasses
from typing import Annotated

import typer

from agentm_assets.cli.opened import opened
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import RED_STATE, print_json, printable

app = typer.Typer(help="What each stage is through with.", invoke_without_command=True)


@app.callback()
def show(
    context: typer.Context,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show for each stage how much is done, stale and waiting."""
    if context.invoked_subcommand is not None:
        if vault or profile or as_json:
            raise typer.BadParameter("give the options after the subcommand")
        return
    from agentm_assets.index.store import IndexBusy, IndexStore
    from agentm_assets.ledger.summary import summary

    with opened(vault, profile, {IndexBusy: RED_STATE}) as store:
        if not store.location.duckdb_file.exists():
            shown = []
        else:
            with IndexStore(store.location.duckdb_file).transaction() as connection:
                shown = summary(connection)
    if as_json:
        print_json([{**dataclasses.asdict(each), "share": round(each.share, 4)} for each in shown])
        return
    if not shown:
        typer.echo("nothing was processed yet: agentm index")
    for each in shown:
        others = "".join(f", {count:,} {name}" for name, count in each.others.items())
        typer.echo(printable(f"{each.stage:<22} {each.share:>6.1%}  {each.done:,} done{others}"))


@app.command("rebuild")
def rebuild(
    really: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read the tables back from the stamps in the notes. Nothing is judged anew."""
    from agentm_assets.enrichment.ledger_sync import bring_up_to_date
    from agentm_assets.index.store import IndexBusy, IndexStore
    from agentm_assets.ledger.summary import clear, entered

    if not really and not typer.confirm("Rebuild the ledger from the notes?"):
        raise typer.Exit(1)
    with opened(vault, profile, {IndexBusy: RED_STATE}) as store:
        index = IndexStore(store.location.duckdb_file)
        with index.transaction() as connection:
            before = entered(connection)
            clear(connection)
        bring_up_to_date(index, store.location, store.backend)
        with index.transaction() as connection:
            after = entered(connection)
    if as_json:
        print_json({"before": before, "after": after})
        return
    for stage in sorted({*before, *after}):
        typer.echo(f"{stage:<22} {before.get(stage, 0):,} before, {after.get(stage, 0):,} now")
    typer.echo("stages of the night look at their targets again in the next one")
