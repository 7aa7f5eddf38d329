"""Judging what waits, at night: the very code that judges after a capture, in a batch.

First what nobody has judged, then what a change of rules, prompt or model made stale, the oldest
judgment first.
"""

import time
from dataclasses import dataclass, replace
from typing import Final

from filelock import FileLock, Timeout

from agentm_assets.dreaming.night import Night
from agentm_assets.enrichment.enrich import PASS, EnrichContext, enrich
from agentm_assets.enrichment.extractive.judge import STAMP, ExtractiveJudge
from agentm_assets.enrichment.gates.budget import Budget
from agentm_assets.enrichment.judges import Judge, LocalJudge, vocabulary_of
from agentm_assets.enrichment.ledger_sync import bring_up_to_date
from agentm_assets.enrichment.population import Population, Reason, population
from agentm_assets.enrichment.report import PassReport
from agentm_assets.enrichment.rules_seen import remember_rules
from agentm_assets.evaluation.judging import NoJudge, open_judge
from agentm_assets.models.metered import MeteredProvider
from agentm_assets.models.protocol import Provider, Tier
from agentm_assets.models.spend import SpendLog
from agentm_assets.models.tiers import Tiers

UNJUDGED: Final[frozenset[Reason]] = frozenset({"unfiled", "active-unjudged", "body"})
_LOCKS: Final = ("enrich.lock", "reenrich.lock")
_PATIENCE_SECONDS: Final = 60.0
_NO_TIERS: Final = Tiers(None, None, (), {}, {})


@dataclass(frozen=True, slots=True)
class Classified:
    """`waiting`: notes that were to be judged, `left`: those that still are. `report` None: nobody
    judged, and `why` says why unless nothing waited."""

    waiting: int = 0
    left: int = 0
    report: PassReport | None = None
    why: str | None = None


def classify(night: Night) -> Classified:
    """Judge, write and index. Raises StorageError, OSError and what an index run raises; never for
    what a model does or says."""
    location, backend, store = night.location, night.backend, night.store
    location.index_dir.mkdir(parents=True, exist_ok=True)
    locks = [FileLock(location.index_dir / name) for name in _LOCKS]
    try:
        with (
            locks[0].acquire(timeout=_PATIENCE_SECONDS),
            locks[1].acquire(timeout=_PATIENCE_SECONDS),
        ):
            remember_rules(location, night.rules)
            bring_up_to_date(store, location, backend)
            return _classified(night)
    except Timeout:
        return Classified(why="another process judges notes now; these wait for the next run")


def _classified(night: Night) -> Classified:
    tiers = night.models or _NO_TIERS
    judge: Judge | None = None
    if tiers.is_configured:
        opened = _model_judge(night, tiers)
        if isinstance(opened, NoJudge):
            return Classified(why=opened.why)
        judge = opened
    found = _population(night, judge)
    if not found.items:
        return Classified()
    limits = night.judging
    context = EnrichContext(
        location=night.location,
        backend=night.backend,
        store=night.store,
        rules=night.rules,
        run_id=f"{night.night_id}-unfiled",
        trigger="batch",
        budget=Budget(limits.calls, limits.tokens, limits.seconds, time.monotonic),
        now=lambda: night.now,
        clock=time.monotonic,
        most_notes=limits.notes,
    )
    report = enrich(found, judge or _extractive(night), context)
    night.reindex(sorted({*report.written, *report.removed}))
    return Classified(len(found.items), report.deferred, report)


def _population(night: Night, judge: Judge | None) -> Population:
    with night.index() as connection:
        found = population(
            connection,
            night.rules,
            STAMP if judge is None else judge.stamp,
            also_current=() if judge is None else judge.also_current,
        )
    fresh = [each for each in found.items if each.reason in UNJUDGED]
    stale = [each for each in found.items if each.reason not in UNJUDGED]
    return replace(found, items=(*fresh, *stale))


def _extractive(night: Night) -> Judge:
    with night.index() as connection:
        vocabulary = vocabulary_of(connection, night.rules)
    return LocalJudge(ExtractiveJudge(night.rules, night.embedder()), vocabulary)


def _model_judge(night: Night, tiers: Tiers) -> Judge | NoJudge:
    log = night.spend or SpendLog(night.location, tiers.lines)

    def metered(tier: Tier) -> Provider | None:
        provider = tiers.provider(tier)
        if provider is None:
            return None
        return MeteredProvider(
            provider, tier, log, pass_name=PASS, run_id=night.night_id, now=lambda: night.now
        )

    return open_judge(
        tiers,
        metered,
        lambda: _extractive(night),
        night.location,
        night.backend,
        "batch",
        lambda: night.now,
        by_batch=True,
    )
