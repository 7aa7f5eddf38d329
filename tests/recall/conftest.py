"""A vault with a real index of its own, and a way to ask it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import RulesError, load_rules
from agentm_assets.index.embed import embed_pending
from agentm_assets.index.publish import publish_facts, publish_lexical, publish_vectors
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.models.embedder import Embedder
from agentm_assets.recall.answer import Answer
from agentm_assets.recall.opening import open_sources
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions
from agentm_assets.recall.sources import Sources
from agentm_assets.storage.selection import open_vault

NOW = datetime(2026, 8, 19, 10, 30, tzinfo=UTC)  # a Wednesday


class Asker:
    """A vault, its index, and questions to it at a fixed time."""

    def __init__(self, root: Path, env: dict[str, str], stack: ExitStack) -> None:
        self.root = root
        self.env = env
        self._stack = stack

    @property
    def settings(self) -> Settings:
        return Settings.load(self.env)

    def write(self, notes: Mapping[str, str | bytes]) -> None:
        for path, content in notes.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)

    def index(self, embedder: Embedder | None = None) -> None:
        """Bring tables and serving files in line with the vault; embed when a model is given."""
        location = self.settings.location
        store = IndexStore(location.duckdb_file)
        try:
            rules = load_rules(open_vault(location), self.env)
        except RulesError:
            rules = None
        lock = location.index_dir / "pass.lock"
        reconcile(
            open_vault(location),
            store,
            rules,
            ReconcileOptions(),
            lock_file=lock,
        )
        publish_facts(store, location.facts_file)
        publish_lexical(store, location.lexical_dir)
        if embedder is not None:
            embed_pending(store, embedder, lock_file=location.index_dir / "embed.lock")
            publish_vectors(store, location.vectors_dir, embedder.model_id)

    def sources(self, **changes: object) -> Sources:
        """What a recall reads, open until the test ends; `changes` replace fields."""
        opened = self._stack.enter_context(open_sources(self.settings, self.env))
        return replace(opened, **changes)  # type: ignore[arg-type]

    def ask(self, question: str, sources: Sources | None = None, **options: object) -> Answer:
        chosen = RecallOptions(now=NOW, **options)  # type: ignore[arg-type]
        return recall(question, chosen, sources or self.sources())

    def paths(self, question: str, **options: object) -> list[str]:
        return [hit.path for hit in self.ask(question, **options).hits]


def empty_vault(folder: Path, stack: ExitStack) -> Asker:
    root = folder / "vault"
    root.mkdir()
    env = {
        "HOME": str(folder / "home"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "AGENTM_VAULT": str(root),
    }
    return Asker(root, env, stack)


@pytest.fixture
def asker(tmp_path: Path) -> Iterator[Asker]:
    with ExitStack() as stack:
        yield empty_vault(tmp_path, stack)


@pytest.fixture(scope="module")
def shared_asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """One for all tests of a module, which fill it once."""
    with ExitStack() as stack:
        yield empty_vault(tmp_path_factory.mktemp("shared"), stack)


@pytest.fixture
def vault_of(asker: Asker) -> Callable[[Mapping[str, str | bytes]], Asker]:
    """Write notes and index them by words."""

    def make(notes: Mapping[str, str | bytes]) -> Asker:
        asker.write(notes)
        asker.index()
        return asker

    return make


@pytest.fixture
def embedder(asker: Asker, minilm_folder: Path) -> Embedder:
    """The embedded default, where the configuration of `asker` expects it."""
    models = asker.settings.location.models_dir
    models.mkdir(parents=True)
    (models / minilm_folder.name).symlink_to(minilm_folder)
    return Embedder.open(minilm_folder, threads=1)
