"""The state of a vault's index as the foreground sees it: serving files and one walk, no DuckDB."""

from collections.abc import Mapping
from dataclasses import dataclass

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.findings import Finding
from agentm_assets.contract.rules import RulesError, load_rules
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.pending import pending_changes
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.index.vectors import VectorReader
from agentm_assets.storage.selection import open_vault


@dataclass(frozen=True, slots=True)
class IndexState:
    """Counts of the published index, and what has changed in the vault since."""

    vault: str
    notes: int
    chunks: int
    vectors: int
    links: int
    entities: int
    aliases: int
    rules: str  # the hash, or why they can't be used
    rules_ok: bool
    changed: int
    deleted: int
    findings: tuple[Finding, ...]


def read_state(location: VaultLocation, env: Mapping[str, str]) -> IndexState:
    """Read it. Raises ServingUnreadable when nothing is indexed yet, ConfigError, StorageError."""
    vault = open_vault(location)
    try:
        rules, rules_ok = load_rules(vault, env).rules_hash, True
    except RulesError as error:
        rules, rules_ok = f"broken, filing halts: {error}", False
    with _published(location) as facts:
        counts = facts.counts
        pending = pending_changes(vault.scan(), facts.manifest(), facts.attachments())
        return IndexState(
            vault=location.store,
            notes=counts.notes,
            chunks=counts.chunks,
            vectors=_vectors(location),
            links=counts.links,
            entities=counts.entities,
            aliases=counts.aliases,
            rules=rules,
            rules_ok=rules_ok,
            changed=len(pending.changed) + len(pending.attachments),
            deleted=len(pending.deleted),
            findings=facts.findings(),
        )


def _published(location: VaultLocation) -> FactsReader:
    try:
        return FactsReader.open(location.facts_file)
    except ServingUnreadable as error:
        raise ServingUnreadable(
            f"there is no usable index of the vault {location.store} yet ({error}). "
            "Run `agentm index`."
        ) from error


def _vectors(location: VaultLocation) -> int:
    try:
        return VectorReader.open(location.vectors_dir).count
    except ServingUnreadable:
        return 0
