"""What a coding agent hands to a hook: one JSON object on standard input, or nothing at all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class HostEvent:
    """The fields that Claude Code sends; "" for what another host leaves out.

    `cwd`: the folder the session works in. `reason`: why it began or ended ("startup", "clear", …).
    """

    prompt: str
    session_id: str
    cwd: str
    transcript: str
    reason: str


def read_event(data: bytes) -> HostEvent:
    """An event from the bytes of standard input. What is no JSON object is taken for the prompt
    itself, so that `echo question | agentm hook prompt` works."""
    text = data[:MOST_BYTES].decode("utf-8", "replace")
    given: Any
    try:
        given = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return HostEvent(text.strip(), "", "", "", "")
    return HostEvent(
        prompt=_first(given, "prompt", "user_prompt", "message"),
        session_id=_first(given, "session_id", "conversation_id"),
        cwd=_first(given, "cwd", "workspace"),
        transcript=_first(given, "transcript_path"),
        reason=_first(given, "source", "reason"),
    )


def _first(given: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = given.get(name)
        if isinstance(value, str) and value:
            return value
    return ""
