"""Indexing what a pass has just written, in the same run: else its own files would set off another.

Only these paths are looked at. Whatever somebody edited meanwhile still differs from the manifest,
so the file sensor sees it.
"""

from collections.abc import Collection

from agentm_assets.capture.passes import after_vectors
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.ledger_sync import bring_up_to_date
from agentm_assets.index.embed import TextEmbedder, embed_pending
from agentm_assets.index.publish import publish_facts, publish_lexical, publish_vectors
from agentm_assets.index.reconcile import ReconcileOptions, ReconcileReport, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.vault import Vault


def reindex(
    location: VaultLocation,
    backend: StorageBackend,
    store: IndexStore,
    rules: LoadedRules,
    embedder: TextEmbedder | None,
    paths: Collection[str],
) -> ReconcileReport:
    """Bring tables, manifest and serving files in line with these files, those that are gone among
    them. `embedder` None: vectors are left out. Raises as the steps of an index run do."""
    report = reconcile(
        Vault(backend),
        store,
        rules,
        # They moved by the pass's own doing: no look-alike of an unmounted folder.
        ReconcileOptions(only=frozenset(paths), accept_deletions=True),
        lock_file=location.index_dir / "tables.lock",
    )
    publish_facts(store, location.facts_file)
    publish_lexical(store, location.lexical_dir)
    if embedder is not None:
        embed_pending(store, embedder, lock_file=location.index_dir / "embed.lock")
        publish_vectors(store, location.vectors_dir, embedder.model_id)
    after_vectors(location)
    bring_up_to_date(store, location, backend)
    return report
