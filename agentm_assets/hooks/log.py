"""The log of what hooks could not do: a hook fails in silence for its host, not for the operator.

`log/hooks.jsonl`, append-only; `agentm doctor` counts it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from agentm_assets.capture.files import append_line
from agentm_assets.config.vault import VaultLocation

LOG = "hooks.jsonl"
_TAIL_BYTES = 256 * 1024
_LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class HookFailure:
    """`at` is an ISO datetime, `hook` the event ("prompt", …)."""

    at: str
    hook: str
    reason: str


def record_failure(location: VaultLocation, hook: str, reason: str, now: datetime) -> None:
    """Append one failure. Raises OSError."""
    line = json.dumps(
        {"at": now.isoformat(timespec="seconds"), "hook": hook, "reason": reason[:_LONGEST_REASON]},
        ensure_ascii=False,
    )
    append_line(location.log_dir / LOG, line)


def failures_since(location: VaultLocation, age: timedelta, now: datetime) -> list[HookFailure]:
    """The failures of the last `age`, oldest first, from the end of the log. Raises OSError."""
    first = (now - age).isoformat(timespec="seconds")
    return [each for each in _newest(location) if each.at >= first]


def _newest(location: VaultLocation) -> Iterator[HookFailure]:
    try:
        with (location.log_dir / LOG).open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            data = file.read()
    except FileNotFoundError:
        return
    for line in data.split(b"\n"):
        try:
            written = json.loads(line)
            yield HookFailure(str(written["at"]), str(written["hook"]), str(written["reason"]))
        except (ValueError, KeyError, TypeError):
            continue  # a blank or torn line
