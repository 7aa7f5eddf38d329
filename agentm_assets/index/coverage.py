"""Coverage: of everything that a stage works on, how much is done, stale, and waiting."""

from collections.abc import Sequence
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


def embedding_coverage(
    connection: duckdb.DuckDBPyConnection, model_id: str | None
) -> StageCoverage:
    """How many chunks have a vector. `model_id` None: no embedder."""
    row = connection.execute(_EMBEDDING, [model_id, model_id]).fetchone()
    population, done, ever, never = (int(value) for value in row or (0, 0, 0, 0))
    return StageCoverage("embedding", population, done, ever - done, never)


def store(connection: duckdb.DuckDBPyConnection, stages: Sequence[StageCoverage]) -> None:
    """Replace the coverage table."""
    connection.execute("DELETE FROM coverage")
    insert(
        connection,
        "coverage",
        "VARCHAR BIGINT BIGINT BIGINT BIGINT",
        [(s.stage, s.population, s.done, s.stale, s.waiting) for s in stages],
    )


_EMBEDDING = """
SELECT count(*), count(*) FILTER (WHERE current), count(*) FILTER (WHERE any_model),
       count(*) FILTER (WHERE NOT any_model)
FROM (
  SELECT embed_hash IN (SELECT embed_hash FROM embeddings WHERE model_id = ?) AS current,
         ?::VARCHAR IS NOT NULL AND embed_hash IN (SELECT embed_hash FROM embeddings) AS any_model
  FROM chunks
)
"""
