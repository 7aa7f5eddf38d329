"""Tables of `index.duckdb`. All of it is cache: deleting the file loses work, never knowledge.

No primary keys: DuckDB's key index costs more than it gives here, since a note's rows are always
replaced whole; the `index_integrity` asset check looks for doubles instead.
"""

SCHEMA_VERSION = 3
"""Raise it when a table changes: an index of another version is rebuilt."""

EXTRACT_VERSION = 2
"""Raise it when extraction gives other rows for the same bytes: all notes are extracted anew."""

DDL = """
CREATE TABLE meta (key VARCHAR, value VARCHAR);
CREATE TABLE notes (
  path VARCHAR, content_hash VARCHAR, size BIGINT, mtime_ns BIGINT, space VARCHAR,
  memory_class VARCHAR, title VARCHAR, type VARCHAR, kind VARCHAR, status VARCHAR,
  altitude VARCHAR, captured VARCHAR, captured_origin VARCHAR, updated VARCHAR, slug VARCHAR,
  tags VARCHAR[], summary VARCHAR, lifecycle_tier VARCHAR, rules_hash VARCHAR,
  fingerprint VARCHAR, generated BOOLEAN, enriched_by VARCHAR, enriched_at VARCHAR,
  confidence DOUBLE
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
CREATE TABLE ledger (
  stage VARCHAR, target VARCHAR, fingerprint VARCHAR, version VARCHAR, rules_hash VARCHAR,
  judged_at VARCHAR, outcome VARCHAR, tries INTEGER
);
CREATE TABLE cursors (stage VARCHAR, position VARCHAR);
CREATE TABLE coverage (
  stage VARCHAR, population BIGINT, done BIGINT, stale BIGINT, waiting BIGINT
);
CREATE TABLE source_notes (
  path VARCHAR, size BIGINT, mtime_ns BIGINT, source VARCHAR, source_hash VARCHAR,
  source_version VARCHAR, part VARCHAR, fingerprint VARCHAR, live BOOLEAN
);
CREATE TABLE sources (
  source VARCHAR, namespace VARCHAR, shape VARCHAR, hash VARCHAR, version VARCHAR, notes INTEGER,
  live INTEGER, position BIGINT, lines BIGINT, read_at VARCHAR
);
"""

CONTENT_TABLES = ("notes", "chunks", "links", "entities", "aliases")
"""The tables that a rebuild must give back row for row."""

COLUMN_MEANING: dict[str, str] = {
    "path": "relative to the vault, exactly as on disk",
    "content_hash": "sha256 of the file's bytes",
    "size": "bytes",
    "mtime_ns": "stamp of the file; narrows down what to hash, decides nothing",
    "space": "memory, calendar, projects, desk, standards, personal or other",
    "memory_class": "folder under Agent/memory",
    "title": "frontmatter, else first heading, else file name",
    "captured": "when it was captured: frontmatter, else the date in the file name",
    "captured_origin": "where captured was read",
    "rules_hash": "the rules under which the note was judged",
    "fingerprint": "sha256 of the body with white space folded",
    "generated": "a pass writes this page",
    "enriched_by": "who judged the note, with the version of the judge",
    "enriched_at": "when the note was judged",
    "confidence": "how sure the judge was, 0 to 1",
    "chunk_id": "first 63 bits of sha256(path, ordinal)",
    "ordinal": "position in the note, from 0",
    "header_path": "headings from the top, joined with >",
    "start_byte": "offset in the file",
    "end_byte": "offset in the file; the next chunk starts here",
    "overlap_start": "where the text begins that repeats from the chunk before",
    "embed_text": "title, names, heading path and text: what the embedder reads",
    "embed_hash": "sha256 of embed_text: vectors are found by it",
    "target": "as written, decoded",
    "anchor": "heading or ^block in the target",
    "resolved_path": "the note or file it leads to; empty while there is none",
    "how": "path, suffix, name, alias, self or attachment",
    "candidates": "the other notes it could mean",
    "key": "URI of the entity, such as issue:owner/repo#12",
    "surface": "first spelling in the note",
    "mentions": "how often the note names it",
    "alias_key": "folded for comparison",
    "origin": "own: written by the operator; derived: extracted",
    "population": "everything the stage works on",
    "done": "current",
    "stale": "done under older rules or another model",
    "waiting": "never done",
}
"""Shown beside the columns in the Dagster UI."""
