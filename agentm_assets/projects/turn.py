"""Taking turns over a page that several processes add to."""

from collections.abc import Callable

from agentm_assets.config.vault import VaultLocation
from agentm_assets.history.run import Run
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.mutex import VaultMutex
from agentm_assets.storage.seam import ABSENT, StorageBackend

TURN_TIMEOUT = 60.0
"""Seconds; a turn lasts as long as a commit."""


def turn(location: VaultLocation, backend: StorageBackend, name: str) -> VaultMutex:
    """The lock under which one process at a time works on `name` ("ideas.md") and commits it.

    Compare-and-swap alone would lose nothing either, but a run reads, asks git and writes: of many
    at once most would lose every race. It is not the vault's own lock: other files can be written
    meanwhile, and whoever does not take turns is still caught by compare-and-swap.
    """
    return VaultMutex(f"{backend.identity}\0{name}", location.locks_dir, timeout=TURN_TIMEOUT)


def write_or_rewrite(
    backend: StorageBackend, run: Run, place: Locator, change: Callable[[bytes], bytes]
) -> None:
    """Change a page, or make it from `change` of nothing when there is none.

    Raises what `Run.write` and `Run.rewrite` raise.
    """
    if not backend.exists(place):
        try:
            run.write(place, change(b""), expect=ABSENT)
        except FileExistsError:
            pass  # somebody was quicker: the page is changed like any other
        else:
            return
    run.rewrite(place, change)
