"""Opening `serving/facts.sqlite` for reading, and the two questions that a capture asks of it.

Standard library only: a capture waits for this import.
"""

import sqlite3
from pathlib import Path

from agentm_assets.index.facts_schema import APPLICATION_ID, SCHEMA_VERSION

_BUSY_SECONDS = 5.0
_CAPTURE_BUSY_SECONDS = 0.1
"""A capture rather makes a second note of a text than keeps its agent waiting."""

_ESCAPED = {ord(mark): f"%{ord(mark):02x}" for mark in "%?#"}


def paths_with_fingerprint(path: Path, fingerprint: str) -> tuple[str, ...]:
    """Paths of the notes whose body has this fingerprint, in path order.

    Without a facts file, or with one that is damaged or of another version, there are none.
    """
    asked = "SELECT path FROM notes WHERE fingerprint = ? ORDER BY path"
    return tuple(str(row[0]) for row in _asked(path, asked, fingerprint))


def holds_notes(path: Path) -> bool:
    """Whether the file knows of any note; False as `paths_with_fingerprint` has none."""
    return bool(_asked(path, "SELECT 1 FROM notes LIMIT 1"))


def _asked(path: Path, question: str, *values: str) -> list[tuple[object, ...]]:
    if not path.exists():
        return []
    try:
        connection = connect(path, busy_seconds=_CAPTURE_BUSY_SECONDS)
        try:
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if (application, version) != (APPLICATION_ID, SCHEMA_VERSION):
                return []
            return connection.execute(question, values).fetchall()
        finally:
            connection.close()
    except sqlite3.Error:
        return []  # a cache: a doubled note is all that its loss can cost here


def connect(path: Path, *, busy_seconds: float = _BUSY_SECONDS) -> sqlite3.Connection:
    """Open the file for reading. Raises sqlite3.Error."""
    # What has a meaning in a URI; importing urllib for it would cost a capture 2 ms.
    written = str(path.absolute()).translate(_ESCAPED)
    uri = f"file:{written}?mode=ro"
    connection = _open(uri, busy_seconds)
    try:
        connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        # A WAL file needs its -shm beside it, which a read-only folder does not let us create.
        # Without a log there is nothing that another process could still be writing.
        if path.with_name(path.name + "-wal").exists():
            raise
        return _open(f"{uri}&immutable=1", busy_seconds)
    return connection


def _open(uri: str, busy_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, timeout=busy_seconds, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA query_only = 1")
    return connection
