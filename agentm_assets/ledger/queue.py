"""What waits for a pass of its own: one row an owner and target in `index.duckdb`.

Discovery enqueues, the owner drains: oldest first, from where it last stopped, round and round, so
that nothing starves behind what fails. The table is a cache; `saved_queue` keeps ages and dead
letters where a deleted index does not take them along.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

import duckdb

from agentm_assets.ledger.ledger import read_cursor, set_cursor

MOST_ATTEMPTS: Final = 3
"""Failures after which an item is parked as a dead letter (design: queues)."""

State = Literal["pending", "done", "dead"]

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS queue (
  owner VARCHAR, target VARCHAR, reason VARCHAR, enqueued VARCHAR, attempts INTEGER,
  state VARCHAR, last_error VARCHAR, surfaced BOOLEAN
)
"""
_COLUMNS: Final = "owner, target, reason, enqueued, attempts, state, last_error, surfaced"


@dataclass(frozen=True, slots=True)
class Item:
    """A pending item. `enqueued`: when it was first found, UTC, ISO 8601. `attempts`: how often it
    failed."""

    owner: str
    target: str
    reason: str
    enqueued: str
    attempts: int

    @property
    def position(self) -> str:
        """Its place in the owner's queue: the oldest first."""
        return f"{self.enqueued}\0{self.target}"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table, whatever its state."""

    owner: str
    target: str
    reason: str
    enqueued: str
    attempts: int
    state: State
    last_error: str
    surfaced: bool


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """`oldest_age_seconds`: of the pending item that waits longest, 0 when none waits."""

    owner: str
    pending: int
    dead: int
    oldest_age_seconds: float


@dataclass(frozen=True, slots=True)
class DrainReport:
    """What one drain did. `parked`: of the failed, those that are dead now. `deferred`: left for
    the next drain. `depth` and `oldest_age_seconds`: of what is pending afterwards."""

    attempted: int
    done: int
    failed: int
    parked: int
    deferred: int
    depth: int
    oldest_age_seconds: float


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table where there is none. The functions here call it themselves."""
    connection.execute(_TABLE)


def enqueue(
    connection: duckdb.DuckDBPyConnection,
    owner: str,
    found: Sequence[tuple[str, str]],
    now: datetime,
) -> int:
    """Enter targets, each with its reason; returns how many were not waiting before.

    One that is pending keeps its age and gets the new reason. One that was done waits anew. One
    that is dead stays dead until it is revived.
    """
    prepare(connection)
    wanted = dict(found)
    if not wanted:
        return 0
    states = {row.target: row.state for row in _of(connection, owner, list(wanted))}
    known = [target for target in wanted if states.get(target) in ("pending", "dead")]
    fresh = [target for target in wanted if target not in set(known)]
    connection.execute(
        "UPDATE queue SET reason = f.reason FROM (SELECT unnest(?::VARCHAR[]) AS target, "
        "unnest(?::VARCHAR[]) AS reason) f WHERE owner = ? AND queue.target = f.target",
        [known, [wanted[target] for target in known], owner],
    )
    _drop(connection, owner, fresh)
    at = moment(now)
    _insert(
        connection,
        [Row(owner, target, wanted[target], at, 0, "pending", "", False) for target in fresh],
    )
    return len(fresh)


def drain(
    connection: duckdb.DuckDBPyConnection, owner: str, most: int, now: datetime
) -> Iterator[Item]:
    """At most `most` pending items: the oldest behind the cursor, then those before it.

    Reading moves nothing: `done` and `failed` move the cursor past their item. So a drain that is
    killed goes on behind the last item that it settled. Items enqueued after `now` are left out.
    """
    prepare(connection)
    cursor = read_cursor(connection, _cursor(owner)) or ""
    rows = connection.execute(
        "SELECT owner, target, reason, enqueued, attempts FROM queue "
        "WHERE owner = ? AND state = 'pending' AND enqueued <= ? ORDER BY enqueued, target",
        [owner, moment(now)],
    ).fetchall()
    items = [Item(*row) for row in rows]
    behind = [item for item in items if item.position > cursor]
    before = [item for item in items if item.position <= cursor]
    yield from [*behind, *before][: max(most, 0)]


def done(connection: duckdb.DuckDBPyConnection, item: Item) -> None:
    """The item is through."""
    prepare(connection)
    connection.execute(
        "UPDATE queue SET state = 'done', attempts = 0, last_error = '' "
        "WHERE owner = ? AND target = ?",
        [item.owner, item.target],
    )
    set_cursor(connection, _cursor(item.owner), item.position)


def failed(connection: duckdb.DuckDBPyConnection, item: Item, error: str) -> bool:
    """The item failed for the reason `error` (no words of a note). True when that parked it."""
    prepare(connection)
    connection.execute(
        "UPDATE queue SET attempts = attempts + 1, last_error = ?, "
        "state = CASE WHEN attempts + 1 >= ? THEN 'dead' ELSE state END "
        "WHERE owner = ? AND target = ? AND state = 'pending'",
        [error, MOST_ATTEMPTS, item.owner, item.target],
    )
    set_cursor(connection, _cursor(item.owner), item.position)
    return any(row.state == "dead" for row in _of(connection, item.owner, [item.target]))


def revive(connection: duckdb.DuckDBPyConnection, owner: str, target: str) -> bool:
    """Let a dead letter wait again, with its age and no failures. False when it is not dead."""
    prepare(connection)
    if not any(row.state == "dead" for row in _of(connection, owner, [target])):
        return False
    connection.execute(
        "UPDATE queue SET state = 'pending', attempts = 0, surfaced = false "
        "WHERE owner = ? AND target = ?",
        [owner, target],
    )
    return True


def withdraw(connection: duckdb.DuckDBPyConnection, owner: str, targets: Sequence[str]) -> None:
    """Drop targets that need nothing any more, dead ones too."""
    prepare(connection)
    _drop(connection, owner, targets)


def surface(connection: duckdb.DuckDBPyConnection) -> list[Row]:
    """The dead letters that nobody was told of yet. Each is given once."""
    prepare(connection)
    found = [row for row in rows(connection) if row.state == "dead" and not row.surfaced]
    connection.execute("UPDATE queue SET surfaced = true WHERE state = 'dead'")
    return found


def depths(connection: duckdb.DuckDBPyConnection, now: datetime) -> list[QueueDepth]:
    """Each owner's queue, by name."""
    prepare(connection)
    counted = connection.execute(
        "SELECT owner, count(*) FILTER (WHERE state = 'pending'), "
        "count(*) FILTER (WHERE state = 'dead'), min(enqueued) FILTER (WHERE state = 'pending') "
        "FROM queue GROUP BY owner ORDER BY owner"
    ).fetchall()
    return [
        QueueDepth(owner, int(pending), int(dead), _age(oldest, now))
        for owner, pending, dead, oldest in counted
    ]


def drained(
    connection: duckdb.DuckDBPyConnection,
    owner: str,
    now: datetime,
    *,
    done: int,
    failed: int,
    parked: int,
    deferred: int,
) -> DrainReport:
    """The report of a drain that settled so many items; depth and age are looked up."""
    depth = next((each for each in depths(connection, now) if each.owner == owner), None)
    return DrainReport(
        attempted=done + failed,
        done=done,
        failed=failed,
        parked=parked,
        deferred=deferred,
        depth=0 if depth is None else depth.pending,
        oldest_age_seconds=0.0 if depth is None else depth.oldest_age_seconds,
    )


def rows(connection: duckdb.DuckDBPyConnection, owner: str | None = None) -> list[Row]:
    """All rows, by owner, the oldest first."""
    prepare(connection)
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM queue WHERE ?::VARCHAR IS NULL OR owner = ? "
        "ORDER BY owner, enqueued, target",
        [owner, owner],
    ).fetchall()
    return [Row(*row) for row in found]


def restore(connection: duckdb.DuckDBPyConnection, saved: Sequence[Row]) -> None:
    """Put back what was waiting or dead in an earlier index. What both know keeps the older age and
    the graver state."""
    now_known = {(row.owner, row.target): row for row in rows(connection)}
    merged: list[Row] = []
    for row in saved:
        known = now_known.get((row.owner, row.target))
        oldest = row.enqueued if known is None else min(row.enqueued, known.enqueued)
        merged.append(
            Row(
                row.owner,
                row.target,
                row.reason if known is None else known.reason,
                oldest,
                row.attempts if known is None else max(row.attempts, known.attempts),
                "dead" if known is not None and known.state == "dead" else row.state,
                row.last_error if known is None else known.last_error or row.last_error,
                row.surfaced,
            )
        )
    for owner in sorted({row.owner for row in merged}):
        _drop(connection, owner, [row.target for row in merged if row.owner == owner])
    _insert(connection, merged)


def moment(now: datetime) -> str:
    """UTC to the microsecond, in a form that sorts as time does."""
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _age(oldest: str | None, now: datetime) -> float:
    if oldest is None:
        return 0.0
    return max(0.0, (now - datetime.fromisoformat(oldest)).total_seconds())


def _cursor(owner: str) -> str:
    return f"queue:{owner}"


def _of(connection: duckdb.DuckDBPyConnection, owner: str, targets: Sequence[str]) -> list[Row]:
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM queue WHERE owner = ? AND target IN (SELECT unnest(?::VARCHAR[]))",
        [owner, list(targets)],
    ).fetchall()
    return [Row(*row) for row in found]


def _drop(connection: duckdb.DuckDBPyConnection, owner: str, targets: Sequence[str]) -> None:
    connection.execute(
        "DELETE FROM queue WHERE owner = ? AND target IN (SELECT unnest(?::VARCHAR[]))",
        [owner, list(targets)],
    )


def _insert(connection: duckdb.DuckDBPyConnection, new: Sequence[Row]) -> None:
    if new:
        connection.executemany(
            f"INSERT INTO queue ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                [
                    row.owner,
                    row.target,
                    row.reason,
                    row.enqueued,
                    row.attempts,
                    row.state,
                    row.last_error,
                    row.surfaced,
                ]
                for row in new
            ],
        )
