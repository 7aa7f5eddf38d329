"""`agentm trace`: the calendar note of a coding agent's session, from JSON on standard input."""

import sys

import typer

from agentm_assets.cli.opened import opened, outcome_json, say_outcome
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import BAD_INPUT, print_json, printable


def command(
    vault: VaultOption = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """Record a session: session_id, and as far as known agent, title, summary, started, ended,
    touched, entities, aliases. Telling of one session again adds to its note."""
    from agentm_assets.traces.record import record_session
    from agentm_assets.traces.session import MAX_INPUT_BYTES, TraceRefused, read_session

    with opened(vault, profile, {TraceRefused: BAD_INPUT}) as store:
        given = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        session = read_session(given, store.now)
        recorded = record_session(store.location, store.backend, session, store.now)
    say_outcome(recorded.outcome)
    if as_json:
        print_json(
            {
                "path": recorded.path,
                "did": recorded.did,
                "history": outcome_json(recorded.outcome),
            }
        )
    else:
        typer.echo(printable(f"{recorded.did}: {recorded.path}"))
