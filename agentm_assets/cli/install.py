"""`agentm install`: add the memory to a coding agent, or take it back."""

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import (
    BAD_INPUT,
    RED_STATE,
    failures_reported,
    note_to_operator,
    print_json,
    printable,
)

if TYPE_CHECKING:
    from agentm_assets.hosts.install import Change, Written


class Host(StrEnum):
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    CURSOR = "cursor"
    GEMINI = "gemini"


def command(
    host: Annotated[Host, typer.Argument(help="The coding agent.")],
    undo: Annotated[bool, typer.Option("--undo", help="Take back what was added.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show it and change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add the memory to a coding agent: its MCP server, and for Claude Code its hooks."""
    from datetime import UTC, datetime

    from agentm_assets.config.vault import locate
    from agentm_assets.hosts.errors import HostRefused
    from agentm_assets.hosts.hosts import HOSTS
    from agentm_assets.hosts.install import apply_install, apply_undo, plan_install, plan_undo
    from agentm_assets.hosts.program import this_program

    with failures_reported({HostRefused: BAD_INPUT, OSError: RED_STATE}):
        if undo:
            changes = plan_undo(host, os.environ)
        else:
            locate(os.environ, vault=vault, profile=profile)  # a vault that is not there helps none
            program = this_program(os.environ, vault=vault, profile=profile)
            changes = plan_install(HOSTS[host](os.environ, program))
        if not as_json:
            _preview(changes)
        written: tuple[Written, ...] = ()
        nothing = all(change.is_none for change in changes)
        if not dry_run and _agreed(yes=yes or (nothing and undo), nothing=nothing):
            apply = apply_undo if undo else apply_install
            written = apply(host, changes, os.environ, datetime.now(UTC))
    if as_json:
        print_json(_shape(host, changes, written))
        return
    for file in written:
        kept = f", the old one is {file.backup}" if file.backup else ""
        typer.echo(printable(f"wrote {file.path}{kept}"))
    if written:
        note_to_operator(f"restart {host.value} to have it take effect")


def _agreed(*, yes: bool, nothing: bool) -> bool:
    if yes:
        return True
    if nothing:
        return False
    if not sys.stdin.isatty():
        note_to_operator("nothing was changed. Add --yes to do it, or --dry-run to only look.")
        raise typer.Exit(BAD_INPUT)
    return typer.confirm("Do this?", err=True)


def _preview(changes: "tuple[Change, ...]") -> None:
    for change in changes:
        if change.left:
            note_to_operator(
                f"the entry in {change.path} was changed since it was added, so it is left there: "
                "take it out by hand"
            )
        if change.is_none:
            typer.echo(printable(f"{change.path}: nothing to change"))
        elif change.after is None:
            typer.echo(printable(f"{change.path}: removed, as before"))
        else:
            typer.echo(printable(change.diff()))


def _shape(
    host: Host, changes: "tuple[Change, ...]", written: "tuple[Written, ...]"
) -> dict[str, object]:
    backups = {file.path: file.backup for file in written}
    return {
        "host": host.value,
        "applied": bool(written),
        "files": [
            {
                "path": str(change.path),
                "change": _kind(change),
                "diff": change.diff(),
                "backup": str(backups[change.path]) if backups.get(change.path) else None,
            }
            for change in changes
        ],
    }


def _kind(change: "Change") -> str:
    if change.is_none:
        return "none"
    if change.before is None:
        return "create"
    return "remove" if change.after is None else "edit"
