"""Tables of `serving/facts.sqlite`: what the foreground knows about notes without DuckDB.

A cache, derived from the DuckDB tables. Rows of a note hang on its `note_id`, an integer that holds
for this file alone; outside, a note is named by its path.
"""

APPLICATION_ID = 0x61676D66  # "agmf": tells our file from any other SQLite database
SCHEMA_VERSION = 2
"""Kept in `PRAGMA user_version`. Raise it when a table changes: another version is rebuilt."""

DDL = """
CREATE TABLE notes (
  note_id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, content_hash TEXT NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, space TEXT NOT NULL, memory_class TEXT,
  title TEXT NOT NULL, type TEXT, kind TEXT, status TEXT, altitude TEXT, captured TEXT,
  captured_origin TEXT, updated TEXT, slug TEXT, tags TEXT NOT NULL, summary TEXT,
  lifecycle_tier TEXT, rules_hash TEXT, fingerprint TEXT NOT NULL, generated INTEGER NOT NULL,
  enriched_by TEXT, enriched_at TEXT, confidence REAL
) STRICT;
CREATE INDEX notes_by_captured ON notes (captured) WHERE captured IS NOT NULL;
CREATE INDEX notes_by_fingerprint ON notes (fingerprint);
CREATE INDEX notes_by_altitude ON notes (space, generated, altitude);

CREATE TABLE chunks (
  chunk_id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  header_path TEXT NOT NULL, level INTEGER NOT NULL, start_byte INTEGER NOT NULL,
  end_byte INTEGER NOT NULL, overlap_start INTEGER NOT NULL
) STRICT;
CREATE INDEX chunks_by_note ON chunks (note_id, ordinal);

CREATE TABLE links (
  note_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL,
  anchor TEXT, label TEXT, start_byte INTEGER NOT NULL, line INTEGER NOT NULL,
  source TEXT NOT NULL, resolved_path TEXT, how TEXT, candidates TEXT NOT NULL,
  PRIMARY KEY (note_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_target ON links (resolved_path, note_id) WHERE resolved_path IS NOT NULL;

CREATE TABLE entities (
  note_id INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, surface TEXT NOT NULL,
  detail TEXT, mentions INTEGER NOT NULL, start_byte INTEGER NOT NULL, confidence TEXT NOT NULL,
  PRIMARY KEY (note_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX entities_by_key ON entities (key, note_id);

CREATE TABLE aliases (
  note_id INTEGER NOT NULL, alias_key TEXT NOT NULL, alias TEXT NOT NULL, origin TEXT NOT NULL,
  PRIMARY KEY (note_id, alias_key, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_by_key ON aliases (alias_key, note_id);

CREATE TABLE manifest (
  path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  content_hash TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE attachments (path TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE findings (
  path TEXT PRIMARY KEY, line INTEGER, code TEXT NOT NULL, message TEXT NOT NULL, cure TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""

NOTE_COLUMNS = (
    "path, content_hash, size, mtime_ns, space, memory_class, title, type, kind, status, altitude, "
    "captured, captured_origin, updated, slug, tags, summary, lifecycle_tier, rules_hash, "
    "fingerprint, generated, enriched_by, enriched_at, confidence"
)
"""Columns of `notes` in the order of NoteRow's fields; `tags` is a JSON list."""

PER_NOTE_TABLES = ("chunks", "links", "entities", "aliases")
"""Tables whose rows go with their note."""
