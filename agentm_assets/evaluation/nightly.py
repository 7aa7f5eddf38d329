"""Recall of a vault measured without being asked for: the operator's question sets, else known
items, asked of the vault's own index as it is. Costs seconds, writes one line of history a set.

Nothing asked here counts as a use of a note, and no index is made: what is missing is said.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from agentm_assets.config.settings import Settings
from agentm_assets.evaluation.accepted import read_accepted
from agentm_assets.evaluation.bars import Bar, BarUnusable
from agentm_assets.evaluation.control import RunVoid
from agentm_assets.evaluation.corpus import Corpus, read_corpus
from agentm_assets.evaluation.gold import GoldReport, gold_measures, require_paths, run_gold
from agentm_assets.evaluation.gold_questions import GoldQuestion, QuestionsUnusable
from agentm_assets.evaluation.known import QUESTIONS, SEED, known_questions
from agentm_assets.evaluation.protocol import Finished, Plan, abandon, finish, start
from agentm_assets.evaluation.saved import Kind, ResultUnusable
from agentm_assets.evaluation.score_log import ScoreLog
from agentm_assets.evaluation.scratch import Progress
from agentm_assets.evaluation.vault_sets import (
    bars_for,
    default_bars,
    known_name,
    read_set,
    read_vault_bars,
    set_name,
    set_paths,
)
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.index.store import IndexBusy, IndexDamaged
from agentm_assets.recall.errors import IndexMissing, QuestionRefused
from agentm_assets.recall.ranking import load_ranking
from agentm_assets.storage.seam import StorageBackend, StorageError
from agentm_assets.storage.selection import open_backend, open_vault

SECONDS = 60.0
"""For the questions of all sets together; some 2,000 at 30 ms each."""

TOLERANCE = 0.02
"""Of the questions that the accepted result answered too, how many may be lost: one in fifty, so
none of a set of under fifty."""

_NO_RESULT = (
    *(RunVoid, IndexMissing, IndexBusy, IndexDamaged, ServingUnreadable),
    *(QuestionsUnusable, QuestionRefused, ResultUnusable, StorageError),
)


@dataclass(frozen=True, slots=True)
class Options:
    """`questions`: paths of sets in the vault; empty: those under `standards/`, else `n` known
    items, drawn by `seed`. `seconds` and `tolerance`: see SECONDS and TOLERANCE."""

    questions: tuple[str, ...] = ()
    n: int = QUESTIONS
    seed: int = SEED
    seconds: float = SECONDS
    tolerance: float = TOLERANCE


@dataclass(frozen=True, slots=True)
class SetScores:
    """One set that was asked. `allowed`: how many of its questions may be lost."""

    kind: Kind
    name: str
    report: GoldReport
    finished: Finished
    allowed: int

    @property
    def lost(self) -> tuple[str, ...]:
        return self.finished.changes.lost if self.finished.changes else ()

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the set does not hold; empty when it does."""
        bars = self.finished.bars
        missed = [
            f"{self.name}: the bar {each.bar.text} is missed, measured {_share(each.measured)}"
            for each in (bars.each if bars else ())
            if not each.met
        ]
        if len(self.lost) > self.allowed:
            missed.append(
                f"{self.name}: {len(self.lost)} questions that the accepted result answered are "
                f"lost, {self.allowed} may be: {', '.join(self.lost[:5])}"
            )
        return tuple(missed)


@dataclass(frozen=True, slots=True)
class VaultScores:
    """`problems`: what could not be measured at all; `remarks`: what was degraded meanwhile."""

    sets: tuple[SetScores, ...]
    problems: tuple[str, ...]
    remarks: tuple[str, ...]
    seconds: float

    @property
    def faults(self) -> tuple[str, ...]:
        """Why recall does not hold, or is not known to; empty when it does."""
        return (*self.problems, *(fault for each in self.sets for fault in each.faults))


def measure_vault(
    settings: Settings,
    env: Mapping[str, str],
    options: Options,
    now: datetime,
    on_progress: Progress = lambda stage, done, total: None,
) -> VaultScores:
    """Ask the sets of the vault. Never raises for what is wrong with vault, index, rules or sets:
    the result says it."""
    began = time.monotonic()
    problems: list[str] = []
    sets: list[SetScores] = []
    try:
        backend = open_backend(settings.location)
        corpus = read_corpus(open_vault(settings.location))
        bars = _bars(backend, problems)
        chosen = _chosen(settings, env, backend, corpus, options, problems)
    except _NO_RESULT as error:
        return VaultScores((), (*problems, _said(error)), (), time.monotonic() - began)
    night = _Night(settings, env, backend, corpus, options, now, on_progress)
    for kind, name, questions in chosen:
        left = options.seconds - sum(each.report.cost.seconds for each in sets)
        try:
            sets.append(night.measure(kind, name, questions, bars, left))
        except _NO_RESULT as error:
            problems.append(f"{name}: {_said(error)}")
    measured = [gold_measures(questions) for _kind, _name, questions in chosen]
    problems += [
        f"the bar {bar.text} names no measure of any set"
        for bar in bars or ()
        if measured and not any(bar.measure in names for names in measured)
    ]
    return VaultScores(
        tuple(sets),
        tuple(problems),
        tuple(dict.fromkeys(remark for each in sets for remark in _remarks(each))),
        time.monotonic() - began,
    )


@dataclass(frozen=True, slots=True)
class _Night:
    settings: Settings
    env: Mapping[str, str]
    backend: StorageBackend
    corpus: Corpus
    options: Options
    now: datetime
    on_progress: Progress

    def measure(
        self,
        kind: Kind,
        name: str,
        questions: Sequence[GoldQuestion],
        bars: Sequence[Bar] | None,
        seconds: float,
    ) -> SetScores:
        require_paths(questions, self.corpus, self.settings)
        measures = gold_measures(questions)
        plan = Plan(
            kind=kind,
            name=name,
            seed=self.options.seed,
            corpus_sha256=self.corpus.sha256,
            bars=bars_for(default_bars(kind) if bars is None else bars, measures),
            accepted=read_accepted(self.backend, kind, name),
            log=ScoreLog(self.settings.location),
            trigger="dagster",
        )
        running = start(plan, measures, self.now)
        try:
            report = run_gold(
                questions,
                self.settings,
                self.env,
                seed=self.options.seed,
                now=self.now,
                corpus=self.corpus,
                index="own",
                floor=False,
                seconds=seconds,
                on_progress=self.on_progress,
            )
        except _NO_RESULT as error:
            abandon(running, _said(error))
            raise
        finished = finish(running, report)
        paired = finished.changes.paired if finished.changes else 0
        return SetScores(kind, name, report, finished, int(self.options.tolerance * paired))


def _bars(backend: StorageBackend, problems: list[str]) -> tuple[Bar, ...] | None:
    try:
        return read_vault_bars(backend)
    except BarUnusable as error:
        problems.append(str(error))
        return None


def _chosen(
    settings: Settings,
    env: Mapping[str, str],
    backend: StorageBackend,
    corpus: Corpus,
    options: Options,
    problems: list[str],
) -> list[tuple[Kind, str, tuple[GoldQuestion, ...]]]:
    paths = options.questions or set_paths(corpus.scan)
    if not paths:
        ranking, _remark = load_ranking(open_vault(settings.location), env)
        known = known_questions(corpus.texts, ranking, n=options.n, seed=options.seed)
        return [("known", known_name(options.n, options.seed), known)]
    found: list[tuple[Kind, str, tuple[GoldQuestion, ...]]] = []
    for path in paths:
        try:
            found.append(("gold", set_name(path), read_set(backend, path)))
        except QuestionsUnusable as error:
            problems.append(_said(error))
    return found


def _said(error: Exception) -> str:
    """What Dagster and the history may keep of it."""
    return error.for_the_record if isinstance(error, QuestionsUnusable) else str(error)


def _remarks(each: SetScores) -> list[str]:
    found = list(each.report.provenance.remarks)
    if each.report.unasked:
        found.append(
            f"{each.name}: {each.report.unasked:,} questions were not asked, the time was up"
        )
    if each.finished.remark is not None:
        found.append(each.finished.remark)
    return found


def _share(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.3f}"
