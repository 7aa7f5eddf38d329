"""Whether any note links to one, asked at the moment of a write."""

from functools import cached_property

from agentm_assets.config.vault import VaultLocation
from agentm_assets.enrichment.rename import FreshLinks, fresh_links
from agentm_assets.enrichment.subject import Subject
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.vault import Vault


class InboundLinks:
    """The links of the index, and of the files that it has not seen as they are now. Both are read
    once, at the first question: make a new one for every commit."""

    def __init__(self, location: VaultLocation, backend: StorageBackend, store: IndexStore) -> None:
        self._location = location
        self._vault = Vault(backend)
        self._store = store

    def lead_to(self, subject: Subject) -> bool:
        """Raises StoreUnreachable when the vault can't be listed."""
        return subject.locator.key in self._indexed or self._fresh.lead_to(subject)

    @cached_property
    def _indexed(self) -> frozenset[str]:
        with self._store.transaction() as connection:
            rows = connection.execute(
                "SELECT DISTINCT resolved_path FROM links "
                "WHERE resolved_path IS NOT NULL AND resolved_path <> path"
            ).fetchall()
        return frozenset(path for (path,) in rows)

    @cached_property
    def _fresh(self) -> FreshLinks:
        with self._store.transaction() as connection:
            rows = connection.execute(
                "SELECT path, size, mtime_ns, content_hash FROM notes"
            ).fetchall()
        return fresh_links(self._vault, {path: tuple(entry) for path, *entry in rows})
