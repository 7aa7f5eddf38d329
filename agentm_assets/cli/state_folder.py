"""Trouble with the state folder (index, logs, Dagster's records), said as one sentence."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentm_assets.config.vault import VaultLocation

_FULL_BYTES = 1024 * 1024
"""With less than this free, a write that failed is put down to the full disk."""

_AGAIN = "Then run the command again; the vault is untouched."


class StateUnusable(Exception):
    """The state folder can't be used; the text says where, why and what to do. Nothing is lost:
    what is in it is derived from the vault."""


@contextmanager
def disk_failures_named(folder: Path) -> Iterator[None]:
    """Raise StateUnusable for what the disk refuses to the writes inside.

    `folder` is named when the system's error names no file.
    """
    try:
        yield
    except OSError as error:
        raise StateUnusable(
            f"{error.filename or folder} can't be written ({error.strerror}). Free some space or "
            f"mend the permissions, or set XDG_STATE_HOME to another folder. {_AGAIN}"
        ) from error


@contextmanager
def dagster_failures_named(location: VaultLocation) -> Iterator[None]:
    """As `disk_failures_named`, and for what Dagster says of its home: records that are damaged or
    can't be written, or a dagster.yaml of the operator's that does not hold."""
    from dagster import DagsterError
    from sqlalchemy.exc import DBAPIError

    home = location.dagster_home
    try:
        with disk_failures_named(location.state_dir):
            yield
    except DBAPIError as error:
        if shutil.disk_usage(home).free < _FULL_BYTES:
            raise StateUnusable(
                f"the disk that holds {home} is full ({error.orig}). Free some space. {_AGAIN}"
            ) from error
        raise StateUnusable(
            f"Dagster can't use its records in {home} ({error.orig}). Mend the permissions of the "
            "folder, or move it away if its files are damaged: it holds the history of runs, "
            f"nothing else. {_AGAIN}"
        ) from error
    except DagsterError as error:
        raise StateUnusable(
            f"Dagster can't be opened in {home}: {error}. Mend {home / 'dagster.yaml'}, or move it "
            f"away: agentm writes a new one. {_AGAIN}"
        ) from error
