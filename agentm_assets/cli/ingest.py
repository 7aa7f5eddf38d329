"""`agentm ingest`: memories from session logs, mails and web pages."""

from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.opened import opened
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import (
    BAD_INPUT,
    RED_STATE,
    note_to_operator,
    print_json,
    printable,
)

if TYPE_CHECKING:
    from agentm_assets.ingest.report import IngestReport, SourceReport

_LISTED = 20
"""Sources that are told of one by one; --json has all."""

_SEEN_AT_ONCE = 50
"""So many new notes recall finds without an index pass."""


def command(
    places: Annotated[
        list[str], typer.Argument(metavar="PATH|URL...", help="Files, folders or web addresses.")
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="What the files are: claude-code, codex, gemini, antigravity, mail or web. Left "
            "out, each file is looked at.",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also read anew what an older version read.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be made, and write nothing.")
    ] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read what is new in session logs, mails and web pages, and keep what is worth it.

    A session becomes a note in the calendar and unfiled memories; the sources themselves never
    enter the vault. What was read before is not read again.
    """
    from agentm_assets.cli.progress import progress_bars
    from agentm_assets.index.store import IndexBusy
    from agentm_assets.ingest.kinds import KINDS
    from agentm_assets.ingest.places import IngestRefused
    from agentm_assets.ingest.sweep import Asked, ingest

    chosen = next((known for known in KINDS if known == kind), None)
    with opened(vault, profile, {IngestRefused: BAD_INPUT, IndexBusy: RED_STATE}) as store:
        if kind is not None and chosen is None:
            raise IngestRefused(f"there is no such kind; give one of {', '.join(KINDS)}")
        asked = Asked(tuple(places), chosen, again, dry_run)
        with progress_bars() as listen:
            report = ingest(store.location, store.backend, asked, store.now, listen=listen)
    for remark in report.remarks:
        note_to_operator(remark)
    if as_json:
        print_json(_json(report))
    else:
        _show(report)
    if any(each.did == "failed" for each in report.sources):
        raise typer.Exit(RED_STATE)


def _show(report: "IngestReport") -> None:
    from agentm_assets.ingest.report import MEANING

    for did, count in report.counts().items():
        typer.echo(f"{did:8} {count:7,}  {MEANING[did]}")
    if report.ignored:
        typer.echo(f"{'ignored':8} {report.ignored:7,}  files of a folder that are none of these")
    told = [each for each in report.sources if each.did not in ("current", "older")]
    for each in told[:_LISTED]:
        typer.echo(printable(_line(each)))
        for made in each.made if report.dry_run else ():
            typer.echo(printable(f"    would make: {made}"))
    if len(told) > _LISTED:
        typer.echo(f"  and {len(told) - _LISTED:,} more; --json has all")
    for name, count in report.unknown().items():
        typer.echo(printable(f"unknown record type: {name} ({count:,})"))
    if report.broken:
        typer.echo(f"lines that can't be read: {report.broken:,}")
    would = "would be made" if report.dry_run else "made"
    typer.echo(
        f"notes {would}: {len(report.made):,}, superseded: {len(report.superseded):,}, counted "
        f"again: {len(report.reinforced):,}, traces: {_traces(report):,}"
    )
    for path in () if report.dry_run else report.made[:_LISTED]:
        typer.echo(printable(f"  {path}"))
    if len(report.made) > _SEEN_AT_ONCE and not report.dry_run:
        typer.echo("agentm index lets recall find all of them (agentm up does it by itself)")
    if report.runs:
        typer.echo(f"taken back by: agentm revert {report.runs[-1]}")


def _line(each: "SourceReport") -> str:
    parts = [f"  {each.did}: {each.source or each.place}"]
    if each.records:
        parts.append(f"{each.records:,} records")
    if each.restarted:
        parts.append(f"the log is {each.restarted}, so it was read from its beginning")
    if each.waits:
        parts.append("its last line is still being written")
    if each.reason:
        parts.append(each.reason)
    return ", ".join(parts)


def _traces(report: "IngestReport") -> int:
    return sum(bool(each.trace) for each in report.sources)


def _json(report: "IngestReport") -> dict[str, object]:
    return {
        "dry_run": report.dry_run,
        "looked_at": report.looked_at,
        "ignored": report.ignored,
        "counts": report.counts(),
        "made": list(report.made),
        "superseded": list(report.superseded),
        "reinforced": list(report.reinforced),
        "traces": _traces(report),
        "unknown_records": report.unknown(),
        "broken_lines": report.broken,
        "runs": list(report.runs),
        "remarks": list(report.remarks),
        "sources": [
            {
                "place": each.place,
                "kind": each.kind,
                "source": each.source,
                "did": each.did,
                "records": each.records,
                "made": list(each.made),
                "superseded": list(each.superseded),
                "reinforced": list(each.reinforced),
                "trace": each.trace,
                "unknown_records": dict(each.unknown),
                "broken_lines": each.broken,
                "restarted": each.restarted,
                "waits": each.waits,
                "reason": each.reason,
            }
            for each in report.sources
        ],
    }
