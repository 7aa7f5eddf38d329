"""One run of the pass as an asset starts it: who judges, what waits, the pass, and the index.

No Dagster in here: what a run does is the same from the command line and from the daemon.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Final

from filelock import FileLock, Timeout

from agentm_assets.config.enrichment_table import Limits
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.answerability import answerability
from agentm_assets.enrichment.enrich import PASS, EnrichContext, enrich
from agentm_assets.enrichment.extractive.judge import STAMP, ExtractiveJudge
from agentm_assets.enrichment.gates.budget import Budget
from agentm_assets.enrichment.judges import Judge, LocalJudge, vocabulary_of
from agentm_assets.enrichment.ledger_sync import bring_up_to_date
from agentm_assets.enrichment.population import Population, Reason, population
from agentm_assets.enrichment.reindex import reindex
from agentm_assets.enrichment.report import Answerability, PassReport
from agentm_assets.enrichment.rules_seen import remember_rules
from agentm_assets.enrichment.subject import Trigger
from agentm_assets.evaluation.judging import NoJudge, open_judge
from agentm_assets.history.outcome import RepositoryRequired
from agentm_assets.index.store import get_meta, set_meta
from agentm_assets.models.embedder import Embedder
from agentm_assets.models.protocol import Provider, Tier
from agentm_assets.recall.opening import WarmSources
from agentm_assets.storage.selection import open_backend
from resources.embedder import EmbedderResource
from resources.models import ModelsResource
from resources.workspace import WorkspaceResource

UNJUDGED: Final[frozenset[Reason]] = frozenset({"unfiled", "active-unjudged", "body"})
"""What `enriched_notes` is about: nobody has judged the note as it is."""

STALE: Final[frozenset[Reason]] = frozenset({"rules", "version"})
"""What `reenriched_notes` is about: rules, prompt or model have changed since."""

VERDICT_SECONDS: Final[Mapping[Trigger, float]] = {"eager": 1.0, "batch": 20.0}
"""How long a run asks for what it has judged. One question takes 10 to 50 ms: the few notes of a
capture are all asked for, those of a night are a sample."""

_SEEN = "enrichment_seen_rev"
_LATER = "the hourly run, or `agentm backfill`"
_LOCKS = ((UNJUDGED, "enrich.lock"), (STALE, "reenrich.lock"))


@dataclass(frozen=True, slots=True)
class Work:
    """What a run is to judge. `month`: of the captures, None for all. `only_fresh`: a model is
    asked about nothing but what has changed since the last such run; the rest is for the batch.
    `patience`: seconds that another process which judges is waited for."""

    reasons: frozenset[Reason]
    trigger: Trigger
    limits: Limits
    month: str | None = None
    only_fresh: bool = False
    patience: float = 60.0


@dataclass(frozen=True, slots=True)
class Done:
    """What became of it. `stamp`: of who judges, None where nobody can. `report` None: nothing was
    judged, `remarks` say why unless nothing waits. `waiting`: notes that the run was to judge,
    `left` those of them that still wait. `reindexed`: paths that were indexed again. `is_busy`:
    another process judged all the time."""

    stamp: str | None
    waiting: int
    left: int
    report: PassReport | None
    remarks: tuple[str, ...]
    reindexed: tuple[str, ...]
    seconds: float
    is_busy: bool = False

    @classmethod
    def nothing(cls, why: str, *, is_busy: bool = False) -> "Done":
        """Nothing was judged, nor looked at."""
        return cls(None, 0, 0, None, (why,), (), 0.0, is_busy)


def judge_notes(
    work: Work,
    rules: LoadedRules,
    workspace: WorkspaceResource,
    embedder: EmbedderResource,
    models: ModelsResource,
    run_id: str,
    on_progress: Callable[[str, int, int], None],
) -> Done:
    """Judge what waits, write it, and index what was written.

    Raises StorageError, OSError and what an index run raises; never for what a model does or says.
    """
    return _Run(work, rules, workspace, embedder, models, run_id, on_progress).done()


class _Run:
    def __init__(
        self,
        work: Work,
        rules: LoadedRules,
        workspace: WorkspaceResource,
        embedder: EmbedderResource,
        models: ModelsResource,
        run_id: str,
        on_progress: Callable[[str, int, int], None],
    ) -> None:
        self._work = work
        self._rules = rules
        self._embedder = embedder
        self._models = models
        self._run_id = run_id
        self._on_progress = on_progress
        self._settings = workspace.settings()
        self._location = self._settings.location
        self._backend = open_backend(self._location)
        self._store = workspace.store()
        self._tiers = models.open()
        self._began = time.monotonic()

    def done(self) -> Done:
        self._location.index_dir.mkdir(parents=True, exist_ok=True)
        with ExitStack() as locks:
            try:
                for reasons, name in _LOCKS:
                    if reasons & self._work.reasons:
                        lock = FileLock(self._location.index_dir / name)
                        locks.enter_context(lock.acquire(timeout=self._work.patience))
            except Timeout:
                why = "another process judges notes now; these wait for the next run"
                return Done.nothing(why, is_busy=True)
            return self._judged()

    def _judged(self) -> Done:
        remember_rules(self._location, self._rules)
        bring_up_to_date(self._store, self._location, self._backend)
        judge: Judge | None = None
        if self._tiers.is_configured:
            opened = self._open_judge()
            if isinstance(opened, NoJudge):
                return self._outcome(None, opened.why)
            judge = opened
        stamp = STAMP if judge is None else judge.stamp
        found, older, head = self._waiting(stamp, judge)
        later = [f"{older:,} notes that changed earlier wait for {_LATER}"] if older else []
        if self._work.trigger == "eager":
            newest = sorted(
                found.items, key=lambda each: (each.captured or "", each.path), reverse=True
            )
            found = replace(found, items=tuple(newest))
        waiting = len(found.items)
        if not waiting:
            self._remember(head)
            return self._outcome(stamp, *later)
        judge = judge or self._extractive()
        try:
            report = enrich(found, judge, self._context())
        except RepositoryRequired as error:
            return self._outcome(stamp, str(error), waiting=waiting, left=waiting)
        paths = (*report.written, *report.removed)
        reindex(
            self._location,
            self._backend,
            self._store,
            self._rules,
            self._model if paths else None,
            paths,
        )
        self._remember(head)
        report = replace(report, answerability=self._verdict(report.judged))
        return self._outcome(
            stamp,
            *report.remarks,
            *later,
            waiting=waiting,
            left=report.deferred,
            report=report,
            reindexed=paths,
        )

    def _verdict(self, judged: Sequence[str]) -> Answerability | None:
        """Are the notes found by what they say, now that the index has them as they are judged?"""
        if not judged:
            return None
        # The cross-encoder only orders what was found, and takes seconds to open.
        warm = WarmSources(
            self._settings, os.environ, lambda folder: self._model, lambda folder, pinned: None
        )
        try:
            return answerability(
                judged,
                self._backend,
                warm.current(),
                now=_now(),
                clock=time.monotonic,
                seconds=VERDICT_SECONDS[self._work.trigger],
            )
        finally:
            warm.close()

    def _waiting(self, stamp: str, judge: Judge | None) -> tuple[Population, int, int]:
        """What waits of what the run is about, how many notes wait that it leaves alone because
        they did not change lately, and up to which revision the index was looked at. `judge` None:
        no model judges."""
        work = self._work
        with self._store.transaction() as connection:
            head = int(get_meta(connection, "rev") or 0)
            fresh: set[str] | None = None
            if work.only_fresh and judge is not None:
                seen = int(get_meta(connection, _SEEN) or 0)
                rows = connection.execute("SELECT path FROM changes WHERE rev > ?", [seen])
                fresh = {path for (path,) in rows.fetchall()}
            found = population(
                connection,
                self._rules,
                stamp,
                month=work.month,
                also_current=() if judge is None else judge.also_current,
            )
        items = tuple(each for each in found.items if each.reason in work.reasons)
        meant = items if fresh is None else tuple(each for each in items if each.path in fresh)
        return replace(found, items=meant), len(items) - len(meant), head

    def _remember(self, head: int) -> None:
        if self._work.only_fresh:
            with self._store.transaction() as connection:
                set_meta(connection, _SEEN, str(head))

    def _open_judge(self) -> Judge | NoJudge:
        log = self._models.spend_log(self._tiers)

        def metered(tier: Tier) -> Provider | None:
            return self._models.metered(self._tiers, tier, log, pass_name=PASS, run_id=self._run_id)

        return open_judge(
            self._tiers,
            metered,
            self._extractive,
            self._location,
            self._backend,
            self._work.trigger,
            _now,
            by_batch=self._work.trigger == "batch",
        )

    def _extractive(self) -> Judge:
        with self._store.transaction() as connection:
            vocabulary = vocabulary_of(connection, self._rules)
        return LocalJudge(ExtractiveJudge(self._rules, self._model), vocabulary)

    @cached_property
    def _model(self) -> Embedder | None:
        return self._embedder.open()

    def _context(self) -> EnrichContext:
        limits = self._work.limits
        return EnrichContext(
            location=self._location,
            backend=self._backend,
            store=self._store,
            rules=self._rules,
            run_id=self._run_id,
            trigger=self._work.trigger,
            budget=Budget(limits.calls, limits.tokens, limits.seconds, time.monotonic),
            now=_now,
            clock=time.monotonic,
            month=self._work.month,
            most_notes=limits.notes,
            on_progress=lambda through, total: self._on_progress("judge", through, total),
        )

    def _outcome(
        self,
        stamp: str | None,
        *remarks: str,
        waiting: int = 0,
        left: int = 0,
        report: PassReport | None = None,
        reindexed: Sequence[str] = (),
    ) -> Done:
        return Done(
            stamp=stamp,
            waiting=waiting,
            left=left,
            report=report,
            remarks=remarks,
            reindexed=tuple(reindexed),
            seconds=time.monotonic() - self._began,
        )


def _now() -> datetime:
    return datetime.now(UTC)
