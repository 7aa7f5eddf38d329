"""Reading a file, changing it and putting it back while others do the same."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import (
    ConcurrentModificationError,
    OwnershipLost,
    StorageBackend,
    content_hash,
)

ATTEMPTS = 5
"""How often a lost race is run again (design: storage, write protocol)."""

_FIRST_WAIT = 0.01


@dataclass(frozen=True, slots=True)
class Written:
    """The content hashes before and after, and the bytes that were replaced.

    `changed` is False when the change gave the same bytes back: then nothing was written.
    """

    before: str
    after: str
    changed: bool
    old: bytes


def read_modify_write(
    backend: StorageBackend,
    locator: Locator,
    change: Callable[[bytes], bytes],
    attempts: int = ATTEMPTS,
    *,
    sleep: Callable[[float], None] = time.sleep,
    before_write: Callable[[bytes, bytes], None] = lambda old, new: None,
) -> Written:
    """Replace the file by `change` of its bytes, so that no other writer's change is lost.

    `change` is called anew with fresh bytes when another writer was quicker; after `attempts` lost
    races ConcurrentModificationError (or OwnershipLost) is raised and the file is as the others
    left it. `before_write` hears the old and the new bytes, once an attempt. What
    `change` raises ends it. Raises FileNotFoundError and StorageError as the store does.
    """
    for attempt in range(attempts):
        old = backend.read_bytes(locator)
        before = content_hash(old)
        new = change(old)
        if new == old:
            return Written(before, before, False, old)
        before_write(old, new)
        try:
            after = backend.write_bytes(locator, new, expect=before)
        except (ConcurrentModificationError, OwnershipLost):
            if attempt + 1 == attempts:
                raise
            sleep(_FIRST_WAIT * 2**attempt * (0.5 + os.urandom(1)[0] / 256))
        else:
            return Written(before, after, True, old)
    raise ValueError("attempts must be at least 1")
