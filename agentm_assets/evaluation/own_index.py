"""Whether the index that a vault has already may be asked instead of a new one."""

from collections.abc import Mapping

from agentm_assets.config.settings import Settings
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.pending import pending_changes
from agentm_assets.index.schema import EXTRACT_VERSION
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.index.store import IndexStore
from agentm_assets.index.vectors import VectorReader
from agentm_assets.recall.opening import open_sources
from agentm_assets.storage.vault import Scan


def why_not_current(settings: Settings, env: Mapping[str, str], scan: Scan) -> str | None:
    """Why the vault's own index is not what a fresh one would be; None when it is.

    Reads alone. Files are compared by size and stamp.
    """
    location = settings.location
    if not location.facts_file.exists():
        return "the vault has no index of its own"
    try:
        with FactsReader.open(location.facts_file) as facts:
            changed = pending_changes(scan, facts.manifest(), facts.attachments()).count
            chunks = facts.counts.chunks
        if changed:
            return f"{changed:,} files changed since its last pass"
        vectors = VectorReader.open(location.vectors_dir).count
    except ServingUnreadable as error:
        return str(error)
    if vectors != chunks:
        return f"it has {vectors:,} vectors for {chunks:,} sections"
    if _older_extraction(settings):
        return "an earlier version of agentm read the notes for it"
    with open_sources(settings, env) as sources:
        return "; ".join(sources.remarks) or None


def _older_extraction(settings: Settings) -> bool:
    if not settings.location.duckdb_file.exists():
        return True  # opening would make it; nobody knows what the serving files were made of
    with IndexStore(settings.location.duckdb_file).transaction() as connection:
        built_for = connection.execute("SELECT DISTINCT built_for FROM builds").fetchall()
    return any(stamp.split(":")[1:2] != [str(EXTRACT_VERSION)] for (stamp,) in built_for)
