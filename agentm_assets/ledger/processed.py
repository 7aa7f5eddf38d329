"""What each stage of the night is through with: one row a stage and target in `index.duckdb`.

Current is what was done by this version of the stage, under these rules, for this input: the key
that the target has now equals the one that was read or the one that was written. An empty key
equals nothing. A cache: losing it costs a look at each target and no model call, since what the
stages wrote says the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import duckdb

from agentm_assets.index.rowio import insert

Outcome = Literal["done", "skipped", "failed"]
Pending = Literal["never", "changed", "stale-pass", "stale-rules", "retry", "skipped"]

PENDING: Final[tuple[Pending, ...]] = (
    "never",
    "changed",
    "stale-pass",
    "stale-rules",
    "retry",
    "skipped",
)

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS processed (
  stage VARCHAR, target VARCHAR, version VARCHAR, rules_hash VARCHAR, input_key VARCHAR,
  output_key VARCHAR, outcome VARCHAR, reason VARCHAR, done_at VARCHAR
)
"""
_COLUMNS: Final = (
    "stage, target, version, rules_hash, input_key, output_key, outcome, reason, done_at"
)
_TYPES: Final = " ".join(["VARCHAR"] * 9)


@dataclass(frozen=True, slots=True)
class Processed:
    """`input_key` and `output_key`: fingerprints of what was read and written, "" for none.
    `reason`: why it was skipped or failed. `at`: UTC, ISO 8601."""

    stage: str
    target: str
    version: str
    rules_hash: str
    input_key: str
    output_key: str
    outcome: Outcome
    reason: str
    at: str


@dataclass(frozen=True, slots=True)
class Share:
    """How far a stage is: of `population` targets `current` are done; the others by reason."""

    stage: str
    population: int
    current: int
    pending: Mapping[Pending, int]

    @property
    def share(self) -> float:
        """0 to 1; 1 where there is nothing to do."""
        return self.current / self.population if self.population else 1.0


def enter(connection: duckdb.DuckDBPyConnection, new: Sequence[Processed]) -> None:
    """Put rows in the place of those with the same stage and target."""
    connection.execute(_TABLE)
    newest = {(row.stage, row.target): row for row in new}
    if not newest:
        return
    stages, targets = zip(*newest, strict=True)
    connection.execute(
        "DELETE FROM processed WHERE (stage, target) IN "
        "(SELECT (unnest(?::VARCHAR[]), unnest(?::VARCHAR[])))",
        [list(stages), list(targets)],
    )
    insert(
        connection,
        "processed",
        _TYPES,
        [
            (
                row.stage,
                row.target,
                row.version,
                row.rules_hash,
                row.input_key,
                row.output_key,
                row.outcome,
                row.reason,
                row.at,
            )
            for row in newest.values()
        ],
    )


def forget(connection: duckdb.DuckDBPyConnection, stage: str, targets: Sequence[str]) -> None:
    """Drop the rows of targets that are not there any more."""
    connection.execute(_TABLE)
    connection.execute(
        "DELETE FROM processed WHERE stage = ? AND target IN (SELECT unnest(?::VARCHAR[]))",
        [stage, list(targets)],
    )


def rows_of(connection: duckdb.DuckDBPyConnection, stage: str) -> dict[str, Processed]:
    """The stage's rows by target."""
    connection.execute(_TABLE)
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM processed WHERE stage = ?", [stage]
    ).fetchall()
    return {row[1]: Processed(*row) for row in found}


def pending(row: Processed | None, key: str, version: str, rules_hash: str) -> Pending | None:
    """Why the target with the fingerprint `key` waits; None when it is current."""
    if row is None:
        return "never"
    if row.outcome == "failed":
        return "retry"
    if not key or key not in (row.input_key, row.output_key):
        return "changed"
    if row.version != version:
        return "stale-pass"
    if row.rules_hash != rules_hash:
        return "stale-rules"
    return "skipped" if row.outcome == "skipped" else None


def share(
    connection: duckdb.DuckDBPyConnection,
    stage: str,
    keys: Mapping[str, str],
    version: str,
    rules_hash: str,
) -> Share:
    """The stage's coverage over its population: `keys` holds each target's fingerprint now."""
    known = rows_of(connection, stage)
    reasons = [pending(known.get(target), key, version, rules_hash) for target, key in keys.items()]
    return Share(
        stage,
        len(keys),
        sum(reason is None for reason in reasons),
        {each: reasons.count(each) for each in PENDING if each in reasons},
    )


def counted(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, int]]:
    """For each stage how many targets have which outcome."""
    connection.execute(_TABLE)
    found: dict[str, dict[str, int]] = {}
    for stage, outcome, count in connection.execute(
        "SELECT stage, outcome, count(*) FROM processed GROUP BY 1, 2 ORDER BY 1, 2"
    ).fetchall():
        found.setdefault(stage, {})[outcome] = int(count)
    return found


def clear(connection: duckdb.DuckDBPyConnection) -> None:
    """Forget all rows."""
    connection.execute(_TABLE)
    connection.execute("DELETE FROM processed")
