"""The vault of this process and everything derived from it, opened where a step needs it.

Paths are resolved at each use, never at import: a definition loads without a configured vault, and
a vault that moved is found where the configuration now says.
"""

import os
from collections.abc import Callable

import dagster as dg

from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import LoadedRules, RulesError, load_rules
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.selection import open_vault
from agentm_assets.storage.vault import Vault

Progress = Callable[[str, int, int], None]


class WorkspaceResource(dg.ConfigurableResource[None]):
    """Which vault to work on. `vault` empty: as AGENTM_VAULT or agentm.toml say."""

    vault: str | None = None
    profile: str | None = None

    def settings(self) -> Settings:
        """The settings now. Raises ConfigError with its cure."""
        return Settings.load(os.environ, vault=self.vault, profile=self.profile)

    def open_vault(self) -> Vault:
        return open_vault(self.settings().location)

    def store(self) -> IndexStore:
        return IndexStore(self.settings().location.duckdb_file)

    def rules(self) -> LoadedRules:
        """The filing rules. Raises RulesError."""
        return load_rules(self.open_vault(), os.environ)

    def rules_or_none(self) -> LoadedRules | None:
        """None while the rules file is broken: filing stops then, indexing goes on."""
        try:
            return self.rules()
        except RulesError:
            return None
