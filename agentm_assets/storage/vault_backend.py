"""The vault: an Obsidian-style folder of notes that a sync client or git carries to other devices.

Found as a plugin, under the entry point `vault` of the group `agentm.storage_backends`.
"""

from typing import ClassVar

from agentm_assets.storage.local_files import LocalFiles
from agentm_assets.storage.seam import Capabilities


class VaultBackend(LocalFiles):
    """Rooted at the vault itself, with every space of it."""

    name: ClassVar[str] = "vault"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(concurrent_writers=True, conflict_files=True, sync=True)
