"""The ledger: one row a stage and target in `index.duckdb`.

It answers "has this been processed?" by a lookup and "what is pending?" by a query. Losing it costs
a scan and nothing else: the stamps in the notes, the revert log and the record of refusals say the
same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from agentm_assets.index.rowio import insert


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """`fingerprint`: of the input when the stage was through with it. `version`: of the stage.
    `at`: UTC, ISO 8601. `outcome`: "done", or the code of what stopped it. `tries`: how often it
    was stopped in a row, 0 when it is done."""

    stage: str
    target: str
    fingerprint: str
    version: str
    rules_hash: str
    at: str
    outcome: str
    tries: int = 0


DONE = "done"
_TYPES = "VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR INTEGER"


def enter(connection: duckdb.DuckDBPyConnection, rows: Sequence[LedgerRow]) -> None:
    """Put rows in the place of those with the same stage and target."""
    newest = {(row.stage, row.target): row for row in rows}
    if not newest:
        return
    stages, targets = zip(*newest, strict=True)
    connection.execute(
        "DELETE FROM ledger WHERE (stage, target) IN "
        "(SELECT (unnest(?::VARCHAR[]), unnest(?::VARCHAR[])))",
        [list(stages), list(targets)],
    )
    insert(
        connection,
        "ledger",
        _TYPES,
        [
            (
                row.stage,
                row.target,
                row.fingerprint,
                row.version,
                row.rules_hash,
                row.at,
                row.outcome,
                row.tries,
            )
            for row in newest.values()
        ],
    )


def forget(connection: duckdb.DuckDBPyConnection, stage: str, targets: Sequence[str]) -> None:
    """Drop the rows of targets that are not there under that name any more."""
    connection.execute(
        "DELETE FROM ledger WHERE stage = ? AND target IN (SELECT unnest(?::VARCHAR[]))",
        [stage, list(targets)],
    )


def rows_of(connection: duckdb.DuckDBPyConnection, stage: str) -> dict[str, LedgerRow]:
    """The stage's rows by target."""
    found = connection.execute(
        "SELECT stage, target, fingerprint, version, rules_hash, judged_at, outcome, tries "
        "FROM ledger WHERE stage = ?",
        [stage],
    ).fetchall()
    return {row[1]: LedgerRow(*row) for row in found}


def counted(connection: duckdb.DuckDBPyConnection, stage: str) -> dict[str, int]:
    """How many targets of the stage have which outcome."""
    return dict(
        connection.execute(
            "SELECT outcome, count(*) FROM ledger WHERE stage = ? GROUP BY 1 ORDER BY 1",
            [stage],
        ).fetchall()
    )


def read_cursor(connection: duckdb.DuckDBPyConnection, stage: str) -> str | None:
    """Where the last run of the stage had to stop; None when it came to the end."""
    row = connection.execute("SELECT position FROM cursors WHERE stage = ?", [stage]).fetchone()
    return None if row is None else str(row[0])


def set_cursor(connection: duckdb.DuckDBPyConnection, stage: str, position: str | None) -> None:
    """Remember where the stage goes on; None: at the beginning."""
    connection.execute("DELETE FROM cursors WHERE stage = ?", [stage])
    if position is not None:
        connection.execute("INSERT INTO cursors VALUES (?, ?)", [stage, position])
