"""Tables of `index.duckdb`. All of it is cache: deleting the file loses work, never knowledge.

No primary keys: DuckDB's key index costs more than it gives here, since a note's rows are always
replaced whole; the `index_integrity` asset check looks for doubles instead.
"""

SCHEMA_VERSION = 1
"""Raise it when a table changes: an index of another version is rebuilt."""

EXTRACT_VERSION = 1
"""Raise it when extraction gives other rows for the same bytes: all notes are extracted anew."""

DDL = """
CREATE TABLE meta (key VARCHAR, value VARCHAR);
CREATE TABLE notes (
  path VARCHAR, content_hash VARCHAR, size BIGINT, mtime_ns BIGINT, space VARCHAR,
  memory_class VARCHAR, title VARCHAR, type VARCHAR, kind VARCHAR, status VARCHAR,
  altitude VARCHAR, captured VARCHAR, captured_origin VARCHAR, updated VARCHAR, slug VARCHAR,
  tags VARCHAR[], summary VARCHAR, lifecycle_tier VARCHAR, rules_hash VARCHAR,
  fingerprint VARCHAR, generated BOOLEAN
);
CREATE TABLE builds (path VARCHAR, built_for VARCHAR);
CREATE TABLE chunks (
  chunk_id BIGINT, path VARCHAR, ordinal INTEGER, header_path VARCHAR, level INTEGER,
  start_byte BIGINT, end_byte BIGINT, overlap_start BIGINT, text VARCHAR, embed_text VARCHAR,
  embed_hash VARCHAR
);
CREATE TABLE links (
  path VARCHAR, ordinal INTEGER, kind VARCHAR, target VARCHAR, anchor VARCHAR, label VARCHAR,
  start_byte BIGINT, line INTEGER, source VARCHAR, resolved_path VARCHAR, how VARCHAR,
  candidates VARCHAR[]
);
CREATE TABLE link_keys (path VARCHAR, ordinal INTEGER, key VARCHAR);
CREATE TABLE note_keys (path VARCHAR, key VARCHAR);
CREATE TABLE unsettled_keys (key VARCHAR);
CREATE TABLE unsettled_notes (path VARCHAR);
CREATE TABLE entities (
  path VARCHAR, key VARCHAR, kind VARCHAR, surface VARCHAR, detail VARCHAR, mentions INTEGER,
  start_byte BIGINT, confidence VARCHAR
);
CREATE TABLE aliases (path VARCHAR, alias VARCHAR, alias_key VARCHAR, origin VARCHAR);
CREATE TABLE attachments (path VARCHAR);
CREATE TABLE findings (
  path VARCHAR, line INTEGER, code VARCHAR, message VARCHAR, cure VARCHAR, origin VARCHAR
);
CREATE TABLE unreadable (path VARCHAR, size BIGINT, mtime_ns BIGINT);
CREATE TABLE embeddings (embed_hash VARCHAR, model_id VARCHAR, vector BLOB);
CREATE TABLE published_vectors (chunk_id BIGINT, embed_hash VARCHAR);
CREATE TABLE changes (rev BIGINT, path VARCHAR);
CREATE TABLE coverage (
  stage VARCHAR, population BIGINT, done BIGINT, stale BIGINT, waiting BIGINT
);
"""

CONTENT_TABLES = ("notes", "chunks", "links", "entities", "aliases")
"""The tables that a rebuild must give back row for row."""
