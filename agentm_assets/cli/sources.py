"""`agentm sources`: what of the outside world was read, how far, and what came of it."""

from typing import Annotated

import typer

from agentm_assets.cli.opened import opened
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import RED_STATE, note_to_operator, print_json, printable


def command(
    namespace: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only these: email, url, claude-session and so on."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Sources that are listed.")] = 50,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the sources that were read: their notes, how many of those are in force, the version of
    the importer, and how far a growing log was read."""
    from agentm_assets.index.store import IndexBusy, IndexStore
    from agentm_assets.ledger.source_ids import NAMESPACES
    from agentm_assets.ledger.sources import bring_up_to_date

    if namespace is not None and namespace not in NAMESPACES:
        raise typer.BadParameter(
            f"there is none; use one of {', '.join(NAMESPACES)}", param_hint="--namespace"
        )
    with opened(vault, profile, {IndexBusy: RED_STATE}) as store:
        registry = bring_up_to_date(IndexStore(store.location.duckdb_file), store.backend)
    found = [each for each in registry.sources.values() if namespace in (None, each.namespace)]
    if registry.records.broken:
        lines = ", ".join(str(line) for line in registry.records.broken[:5])
        note_to_operator(f"Agent/_meta/sources.jsonl: lines that can't be read: {lines}")
    if as_json:
        print_json(
            [
                {
                    "source": each.source,
                    "namespace": each.namespace,
                    "shape": each.shape,
                    "version": each.version,
                    "notes": each.notes,
                    "live": each.live,
                    "position": each.position,
                    "lines": each.lines,
                    "at": each.at,
                }
                for each in found
            ]
        )
        return
    for each in found[:limit]:
        far = (
            f", read to {each.position:,} (line {each.lines:,})" if each.shape == "growing" else ""
        )
        made = f"{each.live} of {each.notes} notes in force" if each.notes else "nothing to keep"
        typer.echo(printable(f"{each.source}  {made}, {each.version}{far}"))
    if len(found) > limit:
        typer.echo(f"and {len(found) - limit:,} more; --limit or --json shows them")
    typer.echo(f"sources: {len(found):,}")
