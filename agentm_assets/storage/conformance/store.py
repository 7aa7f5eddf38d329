"""The store that is checked, the outcome, and the words of a failed check."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from agentm_assets.storage.seam import StorageBackend


@dataclass(frozen=True, slots=True)
class Store:
    """An empty store that this process and others can open."""

    backend: type[StorageBackend]
    root: str
    locks_dir: str

    def open(self) -> StorageBackend:
        return self.backend.open(self.root, self.locks_dir)


Check = Callable[[Store], None]
"""Raises AssertionError when the backend does not conform."""


class NotPromised(Exception):
    """The backend does not promise what this check is about."""


@dataclass(frozen=True, slots=True)
class Report:
    """By the name of the check; `failed` and `skipped` say why."""

    passed: tuple[str, ...]
    failed: Mapping[str, str]
    skipped: Mapping[str, str]


def require(holds: bool, fault: str) -> None:
    if not holds:
        raise AssertionError(fault)


@contextmanager
def refused(error: type[Exception] | tuple[type[Exception], ...], fault: str) -> Iterator[None]:
    """The block must raise `error` (or a kind of it) and nothing else."""
    try:
        yield
    except error:
        return
    raise AssertionError(fault)
