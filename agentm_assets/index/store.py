"""Opening `index.duckdb`: one short transaction at a time, closed always.

DuckDB lets one process in and shuts readers out meanwhile, so nobody keeps it open: a step computes
first, then opens, applies and closes. A lock held by another process is waited for; it is never
taken for damage.
"""

import random
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from agentm_assets.index.schema import DDL, SCHEMA_VERSION

LOCK_PATIENCE_SECONDS = 60.0
"""How long one opening waits for another process's transaction (they last well under a second)."""


LOG_BYTES = 1_000_000
"""From this length on the end of a pass folds DuckDB's log into the file: replaying it costs every
opening 20 ms a megabyte, while the log of one saved note has kilobytes."""

_DAMAGE = (
    "not a valid duckdb database",
    "could not read enough bytes",
    "corrupt",
    "checksum",
    "failed to load metadata",
    "is a directory",
    "serialization",
)


class IndexBusy(Exception):
    """Another process held the index longer than LOCK_PATIENCE_SECONDS."""


class IndexDamaged(Exception):
    """The file turned out damaged in the middle of a transaction; it has been set aside."""


class IndexStore:
    """`index.duckdb` of one vault."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rebuilt: str | None = None
        """Why the file was set aside and built anew, when that happened under this object."""

    @property
    def _log(self) -> Path:
        """DuckDB's write-ahead log: part of the index, the newest changes may stand here alone."""
        return self.path.with_name(self.path.name + ".wal")

    @contextmanager
    def transaction(self, *, last: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection inside a transaction: committed at the end, rolled back on an error.

        `last`: it ends a pass, so a log that the pass made long is folded. Between the others
        DuckDB folds at 16 MB: each folding writes the last rows of a table again, up to 120,000.
        A missing index is created; one that is damaged or of another version is set aside and
        created anew, and `rebuilt` says why. Raises IndexBusy, IndexDamaged when the damage
        shows only now, and duckdb.Error for what the caller must see (disk full, no permission).
        """
        connection = self._open()
        try:
            connection.execute("BEGIN TRANSACTION")
            yield connection
            connection.execute("COMMIT")
            if last:
                self._fold(connection)
        except duckdb.Error as error:
            connection.close()
            if not _is_damage(error):
                raise
            self._set_aside("a part of it can't be read")
            raise IndexDamaged(f"{self.path} was damaged and has been set aside") from error
        finally:
            # Closing with a transaction open rolls it back.
            connection.close()

    def _fold(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Work a long log into the file. A short one waits: a checkpoint writes whole blocks,
        megabytes for one saved note."""
        if self._log.exists() and self._log.stat().st_size > LOG_BYTES:
            connection.execute("CHECKPOINT")

    def _open(self) -> duckdb.DuckDBPyConnection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + LOCK_PATIENCE_SECONDS
        while True:
            if self._log.exists() and not self.path.exists():
                self._set_aside("its file is gone and only the log of its last changes is left")
            try:
                connection = duckdb.connect(str(self.path))
                # A checkpoint at each closing rewrites megabytes for one saved note.
                connection.execute("PRAGMA disable_checkpoint_on_shutdown")
            except duckdb.Error as error:
                if _is_lock(error):
                    if time.monotonic() > deadline:
                        raise IndexBusy(
                            f"another process has held {self.path} for over "
                            f"{LOCK_PATIENCE_SECONDS:.0f} s; end it or try again later"
                        ) from error
                    time.sleep(0.02 + random.random() * 0.08)
                    continue
                if not _is_damage(error):
                    raise
                self._set_aside(f"it can't be read ({type(error).__name__})")
                continue
            reason = self._prepare(connection)
            if reason is None:
                return connection
            connection.close()
            self._set_aside(reason)

    def _prepare(self, connection: duckdb.DuckDBPyConnection) -> str | None:
        """Create or check the tables; the reason when the file must be rebuilt."""
        try:
            tables = {row[0] for row in connection.execute("SHOW TABLES").fetchall()}
            if not tables:
                connection.execute("BEGIN TRANSACTION")
                connection.execute(DDL)
                connection.executemany(
                    "INSERT INTO meta VALUES (?, ?)",
                    [
                        ["schema_version", str(SCHEMA_VERSION)],
                        ["index_id", uuid.uuid4().hex],
                        ["rev", "0"],
                        ["generation", "0"],
                    ],
                )
                connection.execute("COMMIT")
                return None
            version = get_meta(connection, "schema_version") if "meta" in tables else "unknown"
        except duckdb.Error as error:
            if not _is_damage(error):
                connection.close()
                raise
            return f"its tables can't be read ({type(error).__name__})"
        if version != str(SCHEMA_VERSION):
            return f"it has schema version {version}, this agentm writes {SCHEMA_VERSION}"
        return None

    def _set_aside(self, reason: str) -> None:
        self.rebuilt = f"The index {self.path.name} is built anew: {reason}."
        for path in (self.path, self._log):
            if path.is_dir():
                path.rename(path.with_name(f"{path.name}.unreadable-{uuid.uuid4().hex[:8]}"))
            elif path.exists():
                path.replace(path.with_name(path.name + ".unreadable"))


def _is_lock(error: duckdb.Error) -> bool:
    return "could not set lock on file" in str(error).lower()


def _is_damage(error: duckdb.Error) -> bool:
    if isinstance(error, duckdb.InternalException | duckdb.SerializationException):
        return True
    text = str(error).lower()
    return any(sign in text for sign in _DAMAGE)


def get_meta(connection: duckdb.DuckDBPyConnection, key: str) -> str | None:
    """A value of the `meta` table."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchone()
    return None if row is None else str(row[0])


def set_meta(connection: duckdb.DuckDBPyConnection, key: str, value: str) -> None:
    """Set a value of the `meta` table."""
    connection.execute("DELETE FROM meta WHERE key = ?", [key])
    connection.execute("INSERT INTO meta VALUES (?, ?)", [key, value])
