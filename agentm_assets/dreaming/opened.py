"""A night over a configured vault: what the command line and the daemon start from."""

from collections.abc import Callable, Collection
from datetime import datetime

from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.dreaming.night import Night
from agentm_assets.enrichment.reindex import reindex
from agentm_assets.index.embed import TextEmbedder
from agentm_assets.index.store import IndexStore
from agentm_assets.models.tiers import Tiers
from agentm_assets.storage.selection import open_backend


def open_night(
    settings: Settings,
    store: IndexStore,
    rules: LoadedRules,
    *,
    night_id: str,
    now: datetime,
    models: Tiers | None,
    embedder: Callable[[], TextEmbedder | None],
    on_reindex: Callable[[Collection[str]], None] = lambda paths: None,
) -> Night:
    """The night. What its stages write is indexed at once, with its vectors; `on_reindex` hears of
    it. `models` None or without a tier: nothing is asked. Raises StorageError."""
    location = settings.location
    backend = open_backend(location)

    def indexed(paths: Collection[str]) -> None:
        reindex(location, backend, store, rules, embedder(), paths)
        on_reindex(paths)

    return Night(
        location=location,
        backend=backend,
        store=store,
        rules=rules,
        now=now,
        night_id=night_id,
        limits=settings.dreaming,
        judging=settings.enrichment.batch,
        models=models,
        spend=None if models is None else models.spend_log(settings),
        embedder=embedder,
        reindex=indexed,
    )
