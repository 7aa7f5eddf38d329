"""Asking the warm server of a vault. Standard library only."""

import json
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agentm_assets.warm.address import address_of, read_line


@dataclass(frozen=True, slots=True)
class WarmRequest:
    """One recall. What a hook asks is everyday recall, so there is nothing to narrow it by."""

    question: str
    k: int


class WarmTrouble(Exception):
    """A server answered, but not with an answer; the text says why."""


def ask(state_dir: Path, request: WarmRequest, timeout: float) -> dict[str, Any] | None:
    """The answer in its JSON shape; None when no server listens.

    `timeout`: seconds for each step. Raises WarmTrouble, also when no reply comes in time.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        try:
            with address_of(state_dir) as address:
                connection.connect(address)
        except OSError:
            return None  # none there, or its remains
        try:
            connection.sendall(json.dumps(asdict(request)).encode() + b"\n")
            reply = json.loads(read_line(connection))
        except (OSError, ValueError) as error:
            raise WarmTrouble(f"the agentm server did not reply in full ({error})") from error
    if not isinstance(reply, dict):
        raise WarmTrouble("the agentm server replied with something else")
    if "error" in reply:
        raise WarmTrouble(str(reply["error"]))
    return reply
