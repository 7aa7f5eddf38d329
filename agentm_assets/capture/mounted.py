"""Whether the vault that captures went to is still there.

A disk that is not mounted leaves an empty folder; a note that is written into it vanishes under the
disk when that comes back.
"""

from agentm_assets.capture.journal import START, end_of_journal
from agentm_assets.config.vault import VaultLocation
from agentm_assets.index.facts_connection import holds_notes
from agentm_assets.storage.locator import ROOT
from agentm_assets.storage.seam import StorageBackend, StoreUnreachable, emptied


def require_mounted(location: VaultLocation, backend: StorageBackend) -> None:
    """Raise StoreUnreachable when the vault is empty and was not so before, as far as this machine
    knows by its index and its capture log. An empty folder nobody knows of may be written."""
    if not location.in_folder or backend.list(ROOT):
        return
    try:
        known = end_of_journal(location) != START
    except OSError:
        known = True  # there is a log
    if known or holds_notes(location.facts_file):
        raise StoreUnreachable(emptied(backend.identity))
