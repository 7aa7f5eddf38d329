"""The queues where a deleted index does not take them along: ages beside the index, dead letters
in the vault.

`log/queue.jsonl` holds what waits, written whole at the end of each stage; it names the index that
it is of, so an index built anew takes it over once. `Agent/_meta/dead-letters.jsonl` is committed:
a dead letter stays dead on another machine too.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import duckdb

from agentm_assets.capture.files import replace_whole
from agentm_assets.config.vault import VaultLocation
from agentm_assets.index.store import get_meta
from agentm_assets.ledger.queue import Row, restore, rows
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend

DEAD_LETTERS: Final = Locator("Agent/_meta/dead-letters.jsonl")
FILE_NAME: Final = "queue.jsonl"
VERSION: Final = 1


def save(connection: duckdb.DuckDBPyConnection, location: VaultLocation) -> None:
    """Write what waits and what is dead. Raises OSError."""
    head = json.dumps({"v": VERSION, "index": get_meta(connection, "index_id")})
    kept = [row for row in rows(connection) if row.state != "done"]
    lines = [head, *(json.dumps(asdict(row), ensure_ascii=False) for row in kept)]
    file = location.log_dir / FILE_NAME
    data = ("\n".join(lines) + "\n").encode("utf-8", "replace")
    if file.exists() and file.read_bytes() == data:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_whole(file, data)


def take_over(
    connection: duckdb.DuckDBPyConnection, location: VaultLocation, backend: StorageBackend
) -> int:
    """Put back into an index what it lost when it was built anew; returns how many rows.

    Raises StorageError and OSError."""
    index, saved = _read(location)
    if index == get_meta(connection, "index_id"):
        return 0
    known = {(row.owner, row.target) for row in saved}
    dead = [row for row in dead_letters(backend) if (row.owner, row.target) not in known]
    restore(connection, [*saved, *dead])
    return len(saved) + len(dead)


def dead_letters(backend: StorageBackend) -> list[Row]:
    """What the committed record says is dead: of each target the last line counts."""
    try:
        data = backend.read_bytes(DEAD_LETTERS)
    except FileNotFoundError:
        return []
    latest: dict[tuple[str, str], Row] = {}
    for line in data.split(b"\n"):
        written = _object(line)
        if written is None or written.get("v") != VERSION:
            continue
        owner, target = written.get("owner"), written.get("target")
        if not isinstance(owner, str) or not isinstance(target, str):
            continue
        latest.pop((owner, target), None)
        if written.get("state") == "dead":
            latest[owner, target] = Row(
                owner,
                target,
                str(written.get("reason", "")),
                str(written.get("enqueued", "")),
                int(written.get("attempts", 0)),
                "dead",
                str(written.get("error", "")),
                True,
            )
    return list(latest.values())


def dead_letter_lines(letters: Sequence[Row]) -> list[bytes]:
    """As the record holds them, without line ends."""
    return [
        _line(
            {
                "v": VERSION,
                "owner": row.owner,
                "target": row.target,
                "state": "dead",
                "reason": row.reason,
                "enqueued": row.enqueued,
                "attempts": row.attempts,
                "error": row.last_error,
            }
        )
        for row in letters
    ]


def revived_line(owner: str, target: str, at: str) -> bytes:
    """The line that takes a dead letter back."""
    return _line({"v": VERSION, "owner": owner, "target": target, "state": "pending", "at": at})


def _line(written: dict[str, object]) -> bytes:
    return json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _read(location: VaultLocation) -> tuple[str | None, list[Row]]:
    try:
        data = (location.log_dir / FILE_NAME).read_bytes()
    except FileNotFoundError:
        return None, []
    head, *lines = data.split(b"\n")
    first = _object(head)
    if first is None or first.get("v") != VERSION:
        return None, []
    found: list[Row] = []
    for line in lines:
        written = _object(line)
        if written is not None:
            found.append(Row(**written))
    return str(first.get("index")), found


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        written = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return written if isinstance(written, dict) else None
