"""Sessions that are one JSON document, written anew whenever a message comes: its messages are
counted, as lines of a log are."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from agentm_assets.ingest import gemini
from agentm_assets.ingest.account import Account, text_of
from agentm_assets.ingest.tail import MOST_LINE_BYTES, Restart, Tail
from agentm_assets.ledger.source_records import Cursor


def read_document(file: Path, cursor: Cursor | None, account: Account) -> Tail:
    """Add the messages behind the cursor. A document that is being written can't be parsed, and
    waits. Raises OSError."""
    data = file.read_bytes()
    try:
        document: Any = json.loads(data.strip(b"\0 \t\r\n").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        document = None
    told = document.get("messages") if isinstance(document, dict) else None
    if document is None or not isinstance(told, list):
        position, lines = (cursor.position, cursor.lines) if cursor is not None else (0, 0)
        return Tail(position, position, lines, 0, 0, "", True, "", 0, "")
    restarted: Restart = ""
    start = cursor.position if cursor is not None else 0
    if cursor is not None and start > len(told):
        start, restarted = 0, "shorter"
    elif cursor is not None and _check(document, told, start) != cursor.check:
        start, restarted = 0, "rewritten"
    gemini.read_head(document, account)
    broken = 0
    for message in told[start:]:
        if isinstance(message, dict):
            gemini.read_message(message, account)
        else:
            broken += 1
    return Tail(
        start=start,
        position=len(told),
        lines=len(told),
        records=len(told) - start,
        broken=broken,
        restarted=restarted,
        waits=False,
        head=_check(document, told, 0),
        head_bytes=0,
        check=_check(document, told, len(told)),
    )


def digest_of_first_line(file: Path) -> str:
    """Of a log whose first line is whole; "" for others. Raises OSError."""
    with file.open("rb") as log:
        line = log.readline(MOST_LINE_BYTES)
    return sha256(line.strip()).hexdigest() if line.endswith(b"\n") else ""


def _check(document: dict[str, Any], told: list[Any], position: int) -> str:
    """Of the session and of which message stands last before the position."""
    last = text_of(told[position - 1], "id") if position else ""
    return sha256(
        f"{text_of(document, 'sessionId')}\n{last}".encode("utf-8", "replace")
    ).hexdigest()
