"""What stays of a session: its trace in the calendar."""

from datetime import datetime
from pathlib import Path

from agentm_assets.config.vault import VaultLocation
from agentm_assets.hooks.host import HostEvent
from agentm_assets.hooks.transcript import read_transcript
from agentm_assets.storage.selection import open_backend
from agentm_assets.traces.record import record_session
from agentm_assets.traces.session import session_of

AGENT = "claude-code"


def record_end(event: HostEvent, location: VaultLocation, now: datetime) -> str | None:
    """Write the trace of the session that ended and return its path.

    None for a session in which the operator said nothing. Raises TraceRefused (also without a
    session id), StorageError, OSError.
    """
    told = read_transcript(Path(event.transcript)) if event.transcript else None
    if told is not None and told.prompts == 0:
        return None
    given: dict[str, object] = {"session_id": event.session_id, "agent": AGENT}
    if told is not None:
        given |= {
            "title": told.title,
            "started": told.started,
            "ended": told.ended,
            "touched": list(told.touched)[:200],
        }
    session = session_of(given, now)
    return record_session(location, open_backend(location), session, now).path
