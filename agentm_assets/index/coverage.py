"""Coverage: of everything that a stage works on, how much is done, stale, and waiting."""

from dataclasses import dataclass

import duckdb

from agentm_assets.index.rowio import insert


@dataclass(frozen=True, slots=True)
class StageCoverage:
    """Counts for one stage: `done` is current, `stale` was done under older rules or another model,
    `waiting` was never done. They add up to `population`."""

    stage: str
    population: int
    done: int
    stale: int
    waiting: int


def measure(
    connection: duckdb.DuckDBPyConnection, *, rules_hash: str | None, model_id: str | None
) -> tuple[StageCoverage, ...]:
    """Compute all stages' coverage from the tables.

    `rules_hash` None (broken rules): nothing can be told stale. `model_id` None: no embedder.
    """
    filed = _counts(connection, _FILING, [rules_hash, rules_hash])
    embedded = _counts(connection, _EMBEDDING, [model_id, model_id])
    return (StageCoverage("filing", *filed), StageCoverage("embedding", *embedded))


def store(connection: duckdb.DuckDBPyConnection, stages: tuple[StageCoverage, ...]) -> None:
    """Replace the coverage table."""
    connection.execute("DELETE FROM coverage")
    insert(
        connection,
        "coverage",
        "VARCHAR BIGINT BIGINT BIGINT BIGINT",
        [(s.stage, s.population, s.done, s.stale, s.waiting) for s in stages],
    )


# A memory in an observational class is judged once it carries the stamp of the rules it was judged
# under; the stamp of other rules is stale.
_FILING = """
SELECT count(*),
       count(*) FILTER (WHERE rules_hash IS NOT NULL AND (?::VARCHAR IS NULL OR rules_hash = ?)),
       count(*) FILTER (WHERE rules_hash IS NOT NULL),
       count(*) FILTER (WHERE rules_hash IS NULL)
FROM notes WHERE memory_class IN ('semantic', 'procedural', 'episodic')
"""

_EMBEDDING = """
SELECT count(*), count(*) FILTER (WHERE current), count(*) FILTER (WHERE any_model),
       count(*) FILTER (WHERE NOT any_model)
FROM (
  SELECT embed_hash IN (SELECT embed_hash FROM embeddings WHERE model_id = ?) AS current,
         ?::VARCHAR IS NOT NULL AND embed_hash IN (SELECT embed_hash FROM embeddings) AS any_model
  FROM chunks
)
"""


def _counts(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: list[str | None]
) -> tuple[int, int, int, int]:
    row = connection.execute(query, parameters).fetchone()
    population, done, ever, never = (int(value) for value in row or (0, 0, 0, 0))
    return population, done, ever - done, never
