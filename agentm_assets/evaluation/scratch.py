"""A vault indexed in this process, in a temporary folder, apart from the operator's own state."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import RulesError, load_rules
from agentm_assets.index.embed import embed_pending
from agentm_assets.index.publish import publish_facts, publish_lexical, publish_vectors
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.models.embedder import Embedder
from agentm_assets.models.export import ensure_exported
from agentm_assets.models.weights import locate
from agentm_assets.storage.selection import open_vault

Progress = Callable[[str, int, int], None]
"""Called with a stage, how many are done and how many there are."""

_KEPT = (
    "AGENTM_EMBEDDER_MODEL",
    "AGENTM_RERANKER",
    "AGENTM_RERANKER_SHA256",
    "AGENTM_RERANKER_BUDGET_MS",
)


@contextmanager
def temporary_state(env: Mapping[str, str]) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder that is gone afterwards, and an environment whose state is kept in it.

    Configuration and models stay the operator's.
    """
    with tempfile.TemporaryDirectory(prefix="agentm-eval-") as name:
        # Without symlinks, as locations are: a vault may stand in this folder, beside its state.
        folder = Path(name).resolve()
        yield folder, {**env, "XDG_STATE_HOME": str(folder / "state")}


def without_configuration(env: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The environment with agentm's defaults, but for the models that it names: what is measured on
    a published corpus must not depend on the rules of somebody's vault."""
    kept = {
        name: value
        for name, value in env.items()
        if name in _KEPT or not (name.startswith("AGENTM_") or name == "MEMORY_VAULT_PATH")
    }
    return {**kept, "XDG_CONFIG_HOME": str(folder / "config")}


def open_embedder(settings: Settings) -> Embedder:
    """The configured model from the user's cache, exported if need be (some 20 s, once a machine).

    Raises ModelUnavailable, WeightsRefused, ExportFailed or ModelFolderUnusable.
    """
    return Embedder.open(ensure_exported(locate(settings.embedder_model), settings.cache_dir))


def build_index(
    settings: Settings,
    env: Mapping[str, str],
    embedder: Embedder | None,
    on_progress: Progress = lambda stage, done, total: None,
) -> None:
    """Fill tables and serving files from the vault; without an embedder recall is lexical."""
    location = settings.location
    vault, store = open_vault(location), IndexStore(location.duckdb_file)
    try:
        rules = load_rules(vault, env)
    except RulesError:
        rules = None  # recall remarks on it, and ranks as shipped
    reconcile(
        vault,
        store,
        rules,
        ReconcileOptions(),
        lock_file=location.index_dir / "pass.lock",
        on_progress=on_progress,
    )
    publish_facts(store, location.facts_file)
    publish_lexical(store, location.lexical_dir)
    if embedder is not None:
        embed_pending(
            store, embedder, lock_file=location.index_dir / "embed.lock", on_progress=on_progress
        )
        publish_vectors(store, location.vectors_dir, embedder.model_id)
