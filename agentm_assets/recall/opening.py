"""Opening what a recall reads, keeping it current, and finding out what of it is degraded."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from agentm_assets.config.settings import Settings
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.facts_writer import FactsWriter
from agentm_assets.index.lexical import LexicalReader
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.index.vectors import VectorReader
from agentm_assets.models.manifest import ModelFolderUnusable
from agentm_assets.models.reranker_folder import files_stamp, reranker_trouble
from agentm_assets.recall.arms import QuestionEmbedder
from agentm_assets.recall.captures import (
    CaptureCache,
    Fresh,
    alone,
    beside,
    fresh_remarks,
    read_fresh,
)
from agentm_assets.recall.context import entity_context
from agentm_assets.recall.errors import IndexMissing
from agentm_assets.recall.ranking import load_ranking
from agentm_assets.recall.rerank import PairScorer, Reranking
from agentm_assets.recall.sources import Sources
from agentm_assets.recall.used import LastRecalled
from agentm_assets.storage.selection import open_vault

MISSING_SHARE = 0.05
"""An answer says so when more than this share of the chunks has no vector yet."""


OpenEmbedder = Callable[[Path], QuestionEmbedder | None]
"""Folder of a model -> the model; None while it is still loading. Raises ModelFolderUnusable."""

OpenReranker = Callable[[Path, str | None], PairScorer | None]
"""Folder of a cross-encoder and the hash it has to have -> the model; None while it is still
loading. Raises RerankerUnusable."""


@contextmanager
def open_sources(settings: Settings, env: Mapping[str, str]) -> Iterator[Sources]:
    """What one recall reads, for a process that asks once. Raises IndexMissing."""
    warm = WarmSources(settings, env)
    try:
        yield warm.current()
    finally:
        warm.close()


class WarmSources:
    """What recalls read, kept open between questions and brought up to date before each.

    Use it from one thread at a time.
    """

    def __init__(
        self,
        settings: Settings,
        env: Mapping[str, str],
        open_embedder: OpenEmbedder | None = None,
        open_reranker: OpenReranker | None = None,
    ) -> None:
        self._settings = settings
        self._open_embedder = open_embedder or embedder_of
        self._rerankers = _Rerankers(settings, open_reranker or reranker_of)
        self._env = env
        self._vault = open_vault(settings.location)
        self._facts: _Facts | None = None
        self._lexical: LexicalReader | None = None
        self._vectors: VectorReader | None = None
        self._embedder: QuestionEmbedder | None = None
        self._captures = CaptureCache()
        self._recalled = LastRecalled(settings.location)
        self._rows: FactsWriter | None = None  # of the notes that were captured a moment ago

    def close(self) -> None:
        self._drop_captures()
        if self._facts is not None:
            self._facts.reader.close()
            self._facts = None

    def current(self) -> Sources:
        """The newest published state, and the rules as they stand now.

        What is missing for the dense arm leaves a lexical recall with the reason as a remark.
        Raises IndexMissing when facts or the lexical index cannot be read.
        """
        self._drop_captures()
        try:
            sources = self._published()
        except ServingUnreadable as error:
            return self._captures_alone(error)
        fresh = self._fresh(sources.facts, self._lexical)
        if self._lexical is None or not fresh.notes:
            return replace(sources, remarks=(*sources.remarks, *fresh_remarks(fresh)))
        found, self._rows = beside(sources, self._lexical, fresh, self._captures)
        return found

    def _published(self) -> Sources:
        """What the index holds. Raises ServingUnreadable."""
        location = self._settings.location
        facts = self._current_facts(location.facts_file)
        if self._lexical is None:
            self._lexical = LexicalReader.open(location.lexical_dir)
        else:
            self._lexical.refresh()
        rules, rules_remark = load_ranking(self._vault, self._env)
        dense_remark = self._refresh_dense(facts)
        reranking, rerank_remark = self._rerankers.current()
        usable = self._vectors is not None and self._embedder is not None
        return Sources(
            facts=facts,
            lexical=self._lexical,
            vectors=self._vectors if usable else None,
            embedder=self._embedder if usable else None,
            rules=rules,
            read_note=self._vault.read_bytes,
            last_recalled=self._recalled.current() if rules.decay.enabled else {},
            entity_context=entity_context(self._settings.entities),
            remarks=tuple(
                remark for remark in (rules_remark, dense_remark, rerank_remark) if remark
            ),
            reranking=reranking,
        )

    def _fresh(self, facts: FactsReader | None, lexical: LexicalReader | None) -> Fresh:
        return read_fresh(
            self._settings.location,
            self._vault.read_bytes,
            self._captures,
            facts,
            lexical,
            self._vectors if self._embedder is not None else None,
        )

    def _captures_alone(self, why: ServingUnreadable) -> Sources:
        """Where there is no index, the notes that were captured since. Raises IndexMissing when
        there are none."""
        location = self._settings.location
        said = f"there is no usable index of the vault {location.root} yet ({why})"
        fresh = self._fresh(None, None)
        if not fresh.notes:
            raise IndexMissing(f"{said}. Run `agentm index`.") from why
        rules, rules_remark = load_ranking(self._vault, self._env)
        embedder, dense_remark = self._any_embedder()
        self._rows, lexical, vectors = alone(fresh, embedder, self._captures)
        only = f"{said}, so only notes captured lately were searched; run `agentm index`"
        return Sources(
            facts=self._rows.reader(),
            lexical=lexical,
            vectors=vectors,
            embedder=embedder,
            rules=rules,
            read_note=self._vault.read_bytes,
            last_recalled=self._recalled.current() if rules.decay.enabled else {},
            entity_context=entity_context(self._settings.entities),
            remarks=tuple(
                remark
                for remark in (only, rules_remark, dense_remark, *fresh_remarks(fresh))
                if remark
            ),
            not_indexed=fresh.paths,
        )

    def _any_embedder(self) -> tuple[QuestionEmbedder | None, str | None]:
        """The configured model, if this machine has it, where no vectors say which one it is."""
        models, configured = self._settings.location.models_dir, self._settings.embedder_model
        try:
            folders = sorted(each for each in models.iterdir() if _is_model(each.name, configured))
        except OSError:
            folders = []
        if not folders:
            return None, self._by_words("the model is not on this machine; run `agentm index`")
        try:
            self._embedder = self._embedder or self._open_embedder(folders[0])
        except ModelFolderUnusable as error:
            return None, self._by_words(str(error))
        if self._embedder is None:
            return None, self._by_words("the model is still loading")
        return self._embedder, None

    def _drop_captures(self) -> None:
        if self._rows is not None:
            self._rows.close()
            self._rows = None

    def _current_facts(self, path: Path) -> FactsReader:
        """The reader of the file that is there now: a rebuild may have put another in its place."""
        inode = _inode(path)
        if self._facts is not None and self._facts.inode == inode:
            return self._facts.reader
        fresh = FactsReader.open(path)
        if self._facts is not None:
            self._facts.reader.close()
        self._facts = _Facts(fresh, inode)
        return fresh

    def _refresh_dense(self, facts: FactsReader) -> str | None:
        """Bring vectors and embedder up to date; without them, the reason."""
        try:
            if self._vectors is None:
                self._vectors = VectorReader.open(self._settings.location.vectors_dir)
            else:
                self._vectors.refresh()
        except ServingUnreadable as error:
            return self._by_words(f"there are no vectors ({error}); run `agentm index`")
        vectors, configured = self._vectors, self._settings.embedder_model
        if vectors.index_id != facts.meta["index_id"]:
            return self._by_words("the vectors belong to an earlier index; run `agentm index`")
        if not _is_model(vectors.model_id, configured):
            return self._by_words(
                f"the vectors are of {vectors.model_id}, but {configured} is configured; "
                "run `agentm index`"
            )
        if self._embedder is None or self._embedder.model_id != vectors.model_id:
            folder = self._settings.location.models_dir / vectors.model_id
            try:
                self._embedder = self._open_embedder(folder)
            except ModelFolderUnusable as error:
                return self._by_words(str(error))
            if self._embedder is None:
                return self._by_words("the model is still loading")
            if self._embedder.model_id != vectors.model_id:
                return self._by_words(f"{folder} holds another model; run `agentm index`")
        chunks = facts.counts.chunks
        missing = 1 - vectors.count / chunks if chunks else 0.0
        if missing <= MISSING_SHARE:
            return None
        return f"{missing:.0%} of the sections have no vector yet, so meaning finds less of them"

    def _by_words(self, why: str) -> str:
        self._vectors = None
        return f"searched by words alone: {why}"


class _Rerankers:
    """The cross-encoder that the configuration names: opened once, and again when its files
    change."""

    def __init__(self, settings: Settings, open_model: OpenReranker) -> None:
        self._settings = settings
        self._open = open_model
        self._stamp: object = None
        self._reranking: Reranking | None = None
        self._remark: str | None = None

    def current(self) -> tuple[Reranking | None, str | None]:
        """The model, and why there is none although one is named."""
        settings = self._settings
        if not settings.reranker:
            return None, None
        folder = Path(settings.reranker).expanduser()
        stamp = files_stamp(folder)
        if stamp == self._stamp:
            return self._reranking, self._remark
        self._reranking = self._remark = None
        try:
            model = self._open(folder, settings.reranker_sha256)
        except ModelFolderUnusable as error:
            said = reranker_trouble(error, by_variable=settings.reranker_by_variable)
            self._remark = f"not reranked: {said}"
        else:
            if model is None:
                return None, "not reranked: the model is still loading"
            self._reranking = Reranking(model, settings.reranker_budget_ms)
        self._stamp = stamp
        return self._reranking, self._remark


@dataclass(frozen=True, slots=True)
class _Facts:
    reader: FactsReader
    inode: tuple[int, int] | None


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None  # opening it says what is wrong
    return status.st_dev, status.st_ino


def embedder_of(folder: Path) -> QuestionEmbedder:
    """The embedding model of a folder, opened now. Raises ModelFolderUnusable."""
    from agentm_assets.models.embedder import Embedder

    return Embedder.open(folder, threads=1)


def reranker_of(folder: Path, pinned: str | None) -> PairScorer:
    """The cross-encoder of a folder, opened now. Raises RerankerUnusable."""
    from agentm_assets.models.reranker import Reranker

    return Reranker.open(folder, pinned=pinned)


def _is_model(model_id: str, configured: str) -> bool:
    """Whether an id ("NAME@weights…") is of the configured model (a name, `org/name` or path)."""
    name = re.split(r"[/\\]", configured.rstrip("/\\"))[-1]
    return model_id.rpartition("@")[0] == re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")
