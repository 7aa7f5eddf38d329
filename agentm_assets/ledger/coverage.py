"""How much of what a stage works on is done, stale or pending, and since when it waits."""

from dataclasses import dataclass

import duckdb


@dataclass(frozen=True, slots=True)
class Coverage:
    """Targets of a stage by how its ledger sees them. `stopped`: by code, those whose last try did
    not come to an end. `oldest`: when the oldest of the done was done, UTC, None without any."""

    done: int
    stale: int
    stopped: dict[str, int]
    oldest: str | None


def coverage_of(
    connection: duckdb.DuckDBPyConnection, stage: str, *, version: str, rules_hash: str
) -> Coverage:
    """What the ledger holds of a stage. Targets without a row are pending: who knows the stage's
    population subtracts."""
    current = "version = ? AND rules_hash = ?"
    row = connection.execute(
        f"SELECT count(*) FILTER (WHERE outcome = 'done' AND {current}), "
        f"count(*) FILTER (WHERE outcome = 'done' AND NOT ({current})), "
        "min(judged_at) FILTER (WHERE outcome = 'done') FROM ledger WHERE stage = ?",
        [version, rules_hash, version, rules_hash, stage],
    ).fetchone() or (0, 0, None)
    stopped = connection.execute(
        "SELECT outcome, count(*) FROM ledger WHERE stage = ? AND outcome <> 'done' "
        "GROUP BY outcome ORDER BY outcome",
        [stage],
    ).fetchall()
    return Coverage(int(row[0]), int(row[1]), dict(stopped), row[2])
