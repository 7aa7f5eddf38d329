"""`agentm status`: what is indexed, what waits, what is wrong. Reads serving files only."""

import dataclasses
import os
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import failures_reported, print_json, printable

if TYPE_CHECKING:
    from agentm_assets.capture.state import CaptureState
    from agentm_assets.cli.judged import JudgedState
    from agentm_assets.config.settings import Settings
    from agentm_assets.config.vault import VaultLocation


def command(
    findings: Annotated[
        bool, typer.Option("--findings", help="List every finding with its cure.")
    ] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what is indexed, what waits for the next pass, and what is wrong in the vault."""
    from agentm_assets.config.settings import Settings
    from agentm_assets.history.captures import standing
    from agentm_assets.index.state import read_state

    with failures_reported():
        settings = Settings.load(os.environ, vault=vault, profile=profile)
        location = settings.location
        state = read_state(location, os.environ)
        captures = _captures(location)
        git = standing(location)
        judged = _judged(settings)
    if as_json:
        numbers = dataclasses.asdict(state) | dataclasses.asdict(captures)
        print_json(numbers | {"uncommitted_captures": git.uncommitted} | judged.numbers())
        return
    for key, value in (
        ("vault", state.vault),
        ("notes", f"{state.notes:,}"),
        ("chunks", f"{state.chunks:,}  (with vectors: {state.vectors:,})"),
        ("links", f"{state.links:,}"),
        ("entities", f"{state.entities:,}"),
        ("rules", state.rules),
        ("waiting", _waiting(state.changed, state.deleted)),
        ("git", git.text),
        ("unjudged", judged.waiting_text),
        ("stale", judged.stale_text),
        ("models", judged.models_text),
        ("captures", _captured(captures)),
        ("findings", f"{len(state.findings):,}"),
    ):
        typer.echo(f"{key:<9} {printable(str(value))}")
    if findings:
        for found in state.findings:
            place = f"{found.path}:{found.line}" if found.line else found.path
            typer.echo(printable(f"  {place}  [{found.code}] {found.message} -> {found.cure}"))


def _captures(location: "VaultLocation") -> "CaptureState":
    from agentm_assets.capture.state import capture_state
    from agentm_assets.index.serving import ServingUnreadable

    try:
        return capture_state(location)
    except OSError as error:
        raise ServingUnreadable(_unreadable_logs(location, error)) from error


def _judged(settings: "Settings") -> "JudgedState":
    from agentm_assets.cli.judged import judged_state
    from agentm_assets.index.serving import ServingUnreadable

    try:
        return judged_state(settings)
    except OSError as error:
        raise ServingUnreadable(_unreadable_logs(settings.location, error)) from error


def _unreadable_logs(location: "VaultLocation", error: OSError) -> str:
    return (
        f"the logs in {location.log_dir} can't be read ({error.strerror}). Mend their permissions."
    )


def _captured(captures: "CaptureState") -> str:
    waiting = captures.captures_waiting
    said = f"not indexed yet: {waiting:,} (recall finds them all the same)"
    parts = [said if waiting else "every capture is indexed"]
    if captures.reinforcements_waiting:
        parts.append(f"{captures.reinforcements_waiting:,} repeats wait to be counted")
    refused = ", ".join(f"{code} {count:,}" for code, count in captures.refusals.items())
    return "; ".join([*parts, f"refused: {refused}"] if refused else parts)


def _waiting(changed: int, deleted: int) -> str:
    if not changed and not deleted:
        return "nothing: the index is in line with the vault"
    return f"{changed:,} changed and {deleted:,} deleted since the last pass (agentm index)"
