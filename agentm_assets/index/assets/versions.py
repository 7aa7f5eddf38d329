"""The data versions of the index assets, from what is published: equal means nothing changed."""

from collections.abc import Mapping
from typing import Final

import duckdb

from agentm_assets.index.digests import data_version

TABLES: Final[Mapping[str, str]] = {
    "notes": "notes",
    "chunks": "chunks",
    "backlinks": "links",
    "entities": "entities",
    "aliases": "aliases",
}
"""Asset → table of index.duckdb."""

OFF: Final = "off"
"""The version of vectors that are switched off."""


def table_versions(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Of each asset that is a table."""
    return {name: data_version(connection, table) for name, table in TABLES.items()}


def lexical_version(connection: duckdb.DuckDBPyConnection) -> str:
    return f"{data_version(connection, 'chunks')}+{data_version(connection, 'aliases')}"


def embeddings_version(model_id: str, texts: int) -> str:
    """`texts`: how many distinct ones the chunks have."""
    return f"{model_id}:{texts}"


def vector_version(connection: duckdb.DuckDBPyConnection, model_id: str) -> str:
    return f"{model_id}:{data_version(connection, 'published_vectors')}"


def published_versions(
    connection: duckdb.DuckDBPyConnection, model_id: str | None
) -> dict[str, str]:
    """Of every asset of the index but coverage, each behind those that it is made from. `model_id`
    None: vectors are switched off."""
    versions = table_versions(connection)
    versions["lexical_index"] = lexical_version(connection)
    if model_id is None:
        return versions | {"embeddings": OFF, "vector_index": OFF}
    row = connection.execute("SELECT count(DISTINCT embed_hash) FROM chunks").fetchone()
    versions["embeddings"] = embeddings_version(model_id, int((row or (0,))[0]))
    versions["vector_index"] = vector_version(connection, model_id)
    return versions
