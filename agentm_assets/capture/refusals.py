"""What was refused, counted: `log/refusals.jsonl`, one line a refusal, without what was given."""

import json
from collections import Counter
from datetime import datetime

from agentm_assets.capture.files import append_line
from agentm_assets.config.vault import VaultLocation

LOG = "refusals.jsonl"


def count_refusal(location: VaultLocation, code: str, by: str, now: datetime) -> bool:
    """Enter one refusal. False when the log can't be written: that must not hide the refusal."""
    at = now.isoformat(timespec="seconds")
    try:
        append_line(location.log_dir / LOG, json.dumps({"at": at, "code": code, "by": by}))
    except OSError:
        return False
    return True


def refusals(location: VaultLocation) -> Counter[str]:
    """How often each code was refused on this machine. Raises OSError."""
    try:
        data = (location.log_dir / LOG).read_bytes()
    except FileNotFoundError:
        return Counter()
    found: Counter[str] = Counter()
    for line in data.split(b"\n"):
        try:
            code = json.loads(line)["code"]
        except (ValueError, TypeError, KeyError):
            continue  # blank, or torn by a full disk
        found[str(code)] += 1
    return found
