"""What every stage of a night is given."""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime

import duckdb

from agentm_assets.config.dreaming_table import DreamingTable
from agentm_assets.config.enrichment_table import Batch, Limits
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.closed import is_closed
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.dreaming.budget import MutationBudget
from agentm_assets.dreaming.veil import Veil, veil_of
from agentm_assets.index.embed import TextEmbedder
from agentm_assets.index.store import IndexStore
from agentm_assets.models.spend import SpendLog
from agentm_assets.models.tiers import Tiers
from agentm_assets.storage.seam import StorageBackend


def index_nothing(paths: Collection[str]) -> None:
    """For a night whose index somebody else brings up to date."""


@dataclass(frozen=True, slots=True)
class Night:
    """One night over one vault.

    `night_id` is that of the run; stages that run alone later in the same run share its budget.
    `now` stands still for the whole night. `models` None: nothing may be asked. `embedder` gives
    the embedder, None where there is none; it is opened by the first stage that calls it.
    `judging` bounds what judges unfiled notes.
    `reindex` brings the index in line with files that were just written.
    """

    location: VaultLocation
    backend: StorageBackend
    store: IndexStore
    rules: LoadedRules
    now: datetime
    night_id: str
    limits: DreamingTable = field(default_factory=DreamingTable)
    judging: Limits = field(default_factory=Batch)
    models: Tiers | None = None
    spend: SpendLog | None = None
    embedder: Callable[[], TextEmbedder | None] = field(default=lambda: None)
    reindex: Callable[[Collection[str]], None] = index_nothing

    def index(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """A transaction on the index. Keep it short: compute outside of it."""
        return self.store.transaction()

    @property
    def budget(self) -> MutationBudget:
        return MutationBudget(self.limits.mutations_per_night, self.limits.mutations_per_stage)

    def is_open(self, path: str) -> bool:
        """May the note be read by a model, and named on a derived page? Never one of `personal/`,
        by whatever name or link, nor one of a space that is closed to models."""
        return not self.is_closed(path)

    def veil(self, connection: duckdb.DuckDBPyConnection) -> Veil:
        """What hides the names of closed notes in the words of open ones."""
        return veil_of(connection, self.is_closed)

    def is_closed(self, path: str) -> bool:
        return is_closed(path, self.rules.rules)
