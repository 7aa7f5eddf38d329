"""Opening what a recall reads, and finding out what of it is degraded."""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from agentm_assets.config.settings import Settings
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical import LexicalReader
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.index.vectors import VectorReader
from agentm_assets.models.manifest import ModelFolderUnusable
from agentm_assets.recall.arms import DenseArm, QuestionEmbedder
from agentm_assets.recall.errors import IndexMissing
from agentm_assets.recall.ranking import load_ranking
from agentm_assets.recall.sources import Sources
from agentm_assets.storage.vault import Vault

MISSING_SHARE = 0.05
"""An answer says so when more than this share of the chunks has no vector yet."""


@contextmanager
def open_sources(settings: Settings, env: Mapping[str, str]) -> Iterator[Sources]:
    """Open the serving files, the model and the rules of one vault.

    What is missing for the dense arm leaves a lexical recall with the reason as a remark. Raises
    IndexMissing when facts or the lexical index cannot be read.
    """
    location = settings.location
    with ExitStack() as stack:
        try:
            facts = stack.enter_context(FactsReader.open(location.facts_file))
            lexical = LexicalReader.open(location.lexical_dir)
        except ServingUnreadable as error:
            raise IndexMissing(
                f"there is no usable index of the vault {location.root} yet ({error}). "
                "Run `agentm index`."
            ) from error
        rules, rules_remark = load_ranking(location.root, env)
        dense = _open_dense(settings, facts)
        remarks = [remark for remark in (rules_remark, dense.remark) if remark]
        yield Sources(
            facts=facts,
            lexical=lexical,
            vectors=dense.vectors,
            embedder=dense.embedder,
            rules=rules,
            read_note=Vault(location.root).read_bytes,
            last_recalled={},
            entity_context=EntityContext(
                repo=settings.entities.repo,
                jira_projects=settings.entities.jira_projects,
                gerrit_hosts=settings.entities.gerrit_hosts,
                gitlab_hosts=settings.entities.gitlab_hosts,
            ),
            remarks=tuple(remarks),
        )


@dataclass(frozen=True, slots=True)
class _Dense:
    vectors: DenseArm | None
    embedder: QuestionEmbedder | None
    remark: str | None


def _open_dense(settings: Settings, facts: FactsReader) -> _Dense:
    """The vectors and the model that made them, or why they cannot be used."""
    location = settings.location
    try:
        vectors = VectorReader.open(location.vectors_dir)
    except ServingUnreadable as error:
        return _lexical_only(f"there are no vectors ({error}); run `agentm index`")
    meta, chunks = facts.meta, facts.counts.chunks
    if vectors.index_id != meta["index_id"]:
        return _lexical_only("the vectors belong to an earlier index; run `agentm index`")
    if not _is_model(vectors.model_id, settings.embedder_model):
        return _lexical_only(
            f"the vectors are of {vectors.model_id}, but {settings.embedder_model} is configured; "
            "run `agentm index`"
        )
    try:
        embedder = _open_embedder(location.models_dir / vectors.model_id)
    except ModelFolderUnusable as error:
        return _lexical_only(str(error))
    if embedder.model_id != vectors.model_id:
        return _lexical_only("the embedder is another one than the vectors'; run `agentm index`")
    missing = 1 - vectors.count / chunks if chunks else 0.0
    remark = None
    if missing > MISSING_SHARE:
        remark = f"{missing:.0%} of the sections have no vector yet, so meaning finds less of them"
    return _Dense(vectors, embedder, remark)


def _lexical_only(why: str) -> _Dense:
    return _Dense(None, None, f"searched by words alone: {why}")


def _open_embedder(folder: Path) -> QuestionEmbedder:
    from agentm_assets.models.embedder import Embedder

    return Embedder.open(folder, threads=1)


def _is_model(model_id: str, configured: str) -> bool:
    """Whether an id ("NAME@weights…") is of the configured model (a name, `org/name` or path)."""
    name = re.split(r"[/\\]", configured.rstrip("/\\"))[-1]
    return model_id.rpartition("@")[0] == re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")
