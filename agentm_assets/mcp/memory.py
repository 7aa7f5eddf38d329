"""The vault as the tools use it: kept open, on threads of its own.

Recall and reading share one thread, since what they hold open belongs to one. Captures have their
own, so that a slow recall never delays one, and so has forgetting, which may wait for the vault's
lock.
"""

import threading
from collections.abc import Callable, Mapping, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from agentm_assets.config.errors import ConfigError
from agentm_assets.config.settings import Settings
from agentm_assets.config.vault import VaultLocation
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.mcp.loading import BackgroundLoader
from agentm_assets.reading.library import Library
from agentm_assets.reading.places import note_path
from agentm_assets.recall.answer import Answer
from agentm_assets.recall.context import entity_context
from agentm_assets.recall.errors import IndexMissing
from agentm_assets.recall.narrowing import check_narrowing
from agentm_assets.recall.opening import WarmSources, embedder_of, reranker_of
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions
from agentm_assets.recall.ranking import known_types, load_ranking
from agentm_assets.recall.sources import Sources
from agentm_assets.recall.used import note_recall
from agentm_assets.storage.seam import StorageError, StoreUnreachable
from agentm_assets.storage.selection import open_backend, open_vault

if TYPE_CHECKING:
    from agentm_assets.capture.request import Captured, CaptureRequest

_CAPTURES_AT_ONCE = 2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ForgottenNote:
    """`already`: it was forgotten before, and nothing was changed. `history`: what git made of it,
    None when nothing was written. `remark`: what else is to be known."""

    path: str
    status: str
    already: bool
    history: str | None
    remark: str | None


class Memory:
    """One vault, served to many callers.

    The configuration is read when it is first needed and again until it holds, so that a server
    which starts before the vault is mounted works once it is. Every future raises what recall,
    reading, capture and configuration raise.
    """

    def __init__(
        self, env: Mapping[str, str], *, vault: str | None = None, profile: str | None = None
    ) -> None:
        self._env = dict(env)
        self._vault_option = vault
        self._profile = profile
        self._known: Settings | None = None
        self._knowing = threading.Lock()
        self._warm: WarmSources | None = None
        self._embedder = BackgroundLoader(embedder_of)
        self._reranker = BackgroundLoader(reranker_of)
        self._asking = ThreadPoolExecutor(1, "agentm-recall")
        self._capturing = ThreadPoolExecutor(_CAPTURES_AT_ONCE, "agentm-capture")
        self._forgetting = ThreadPoolExecutor(1, "agentm-forget")

    def location(self) -> VaultLocation:
        """Where the vault and its derived files are. Raises ConfigError."""
        return self._settings().location

    def warm_up(self) -> None:
        """Open everything now, so that the first question finds it open."""
        self._asking.submit(self._open)
        self._capturing.submit(import_module, "agentm_assets.capture.transaction")

    def search(self, question: str, options: RecallOptions) -> "Future[Answer]":
        return self._asking.submit(self._recall, question, options)

    def read(self, reading: Callable[[Library], T]) -> "Future[T]":
        return self._asking.submit(self._with_library, reading)

    def capture(self, request: "CaptureRequest") -> "Future[Captured]":
        return self._capturing.submit(self._capture, request)

    def forget(self, path: str, reason: str) -> "Future[ForgottenNote]":
        return self._forgetting.submit(self._forget, path, reason)

    def close(self) -> None:
        """Let what has begun end, and drop what waits."""
        self._asking.submit(self._close_sources)
        for pool in (self._capturing, self._forgetting, self._asking):
            pool.shutdown(wait=True)

    def _settings(self) -> Settings:
        with self._knowing:
            if self._known is None:
                self._known = Settings.load(
                    self._env, vault=self._vault_option, profile=self._profile
                )
            known = self._known
        location = known.location
        if location.in_folder and not location.is_default and not location.root.is_dir():
            raise StoreUnreachable(
                f"the vault {location.root} is gone. Mount it or put it back; nothing need be "
                "restarted."
            )
        return known

    def _open(self) -> None:
        try:
            self._sources()
        except (ConfigError, StorageError, IndexMissing):
            return  # whoever asks first is told

    def _recall(self, question: str, options: RecallOptions) -> Answer:
        try:
            sources = self._sources()
            vault = open_vault(self.location())
            check_narrowing(options, sources.facts, lambda: known_types(vault, self._env))
            answer = recall(question, options, sources)
            note_recall(self.location(), answer, options.now)
            return answer
        except ServingUnreadable:
            self._close_sources()  # the next question opens what is there then
            raise

    def _with_library(self, reading: Callable[[Library], T]) -> T:
        settings = self._settings()
        facts: FactsReader | None = None
        trouble: str | None = None
        not_indexed: Set[str] = frozenset()
        try:
            sources = self._sources()
            facts, rules, not_indexed = sources.facts, sources.rules, sources.not_indexed
        except IndexMissing as error:
            trouble = str(error)
            rules, _remark = load_ranking(open_vault(settings.location), self._env)
        library = Library(
            location=settings.location,
            read_note=open_vault(settings.location).read_bytes,
            rules=rules,
            entity_context=entity_context(settings.entities),
            facts=facts,
            trouble=trouble,
            not_indexed=not_indexed,
        )
        try:
            return reading(library)
        except ServingUnreadable:
            self._close_sources()
            raise

    def _capture(self, request: "CaptureRequest") -> "Captured":
        from agentm_assets.capture.transaction import capture

        return capture(request, self.location(), self._env, datetime.now(UTC))

    def _forget(self, path: str, reason: str) -> "ForgottenNote":
        from agentm_assets.forgetting.forget import forget

        location = self.location()
        rules, _remark = load_ranking(open_vault(location), self._env)
        path = note_path(path, rules.excludes)
        done = forget(location, open_backend(location), path, reason, datetime.now(UTC))
        history = None if done.outcome is None else done.outcome.text
        return ForgottenNote(done.path, done.status, done.already, history, done.remark)

    def _sources(self) -> Sources:
        settings = self._settings()
        if self._warm is None:
            self._warm = WarmSources(settings, self._env, self._embedder, self._reranker)
        return self._warm.current()

    def _close_sources(self) -> None:
        if self._warm is not None:
            self._warm.close()
            self._warm = None
