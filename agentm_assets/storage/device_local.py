"""Notes on this device alone: what a fresh install uses until a vault is chosen."""

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar

from agentm_assets.storage.atomic import make_folders
from agentm_assets.storage.local_files import LocalFiles
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import Capabilities, Entry


class DeviceLocalBackend(LocalFiles):
    """Markdown under agentm's data directory.

    `fresh`: the root is agentm's own default, which the first write makes; until then the store is
    empty. A root that was named must be there, like a vault's.
    """

    name: ClassVar[str] = "device-local"

    def __init__(self, root: Path, locks_dir: Path, *, fresh: bool = False) -> None:
        super().__init__(root, locks_dir)
        self._fresh = fresh

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(concurrent_writers=True)

    def walk(
        self, locator: Locator, on_folder: Callable[[int], None] | None = None
    ) -> Iterator[Entry]:
        if not self._unmade():
            yield from super().walk(locator, on_folder)

    def watch(self, stop: Callable[[], bool], timeout_ms: int) -> Iterator[frozenset[str]]:
        while self._unmade():
            if stop():
                return
            time.sleep(timeout_ms / 1000)
            yield frozenset()
        yield from super().watch(stop, timeout_ms)

    def _folder(self, locator: Locator, *, make: bool = False) -> AbstractContextManager[int]:
        if self._unmade():
            if not make:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), locator.key)
            make_folders(Path(self.identity))
        return super()._folder(locator, make=make)

    def _unmade(self) -> bool:
        return self._fresh and not os.path.lexists(self.identity)
