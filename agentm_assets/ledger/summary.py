"""The ledger in one table: how far each stage is."""

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from agentm_assets.ledger import processed


@dataclass(frozen=True, slots=True)
class StageSummary:
    """`done`: current. `others`: what is not, by reason or outcome."""

    stage: str
    done: int
    others: Mapping[str, int]

    @property
    def share(self) -> float:
        """0 to 1; 1 where there is nothing to do."""
        whole = self.done + sum(self.others.values())
        return self.done / whole if whole else 1.0


def summary(connection: duckdb.DuckDBPyConnection) -> list[StageSummary]:
    """The stages by name: those of the index and of the judging as last counted, those of the night
    as they entered what they did."""
    found = {
        stage: StageSummary(
            stage,
            int(done),
            {name: int(count) for name, count in (("stale", stale), ("waiting", waits)) if count},
        )
        for stage, done, stale, waits in connection.execute(
            "SELECT stage, done, stale, waiting FROM coverage ORDER BY stage"
        ).fetchall()
    }
    for stage, outcomes in processed.counted(connection).items():
        others = {name: count for name, count in outcomes.items() if name != "done"}
        found[stage] = StageSummary(stage, outcomes.get("done", 0), others)
    return [found[stage] for stage in sorted(found)]


def clear(connection: duckdb.DuckDBPyConnection) -> None:
    """Forget what was processed; queues and cursors stay."""
    connection.execute("DELETE FROM ledger")
    processed.clear(connection)


def entered(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """How many rows each stage has."""
    rows = connection.execute("SELECT stage, count(*) FROM ledger GROUP BY 1").fetchall()
    found = {stage: int(count) for stage, count in rows}
    for stage, outcomes in processed.counted(connection).items():
        found[stage] = sum(outcomes.values())
    return found
