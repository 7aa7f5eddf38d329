"""Gold sets: questions about a vault, each with the notes that answer it, or with none."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Literal

from agentm_assets.config.settings import Settings
from agentm_assets.evaluation.bm25 import PlainBm25
from agentm_assets.evaluation.control import KnownItem, check_control, draw
from agentm_assets.evaluation.corpus import Corpus, read_corpus
from agentm_assets.evaluation.cost import Cost, Stopwatch
from agentm_assets.evaluation.gold_questions import GoldQuestion, PathsMissing
from agentm_assets.evaluation.metrics import place_of
from agentm_assets.evaluation.own_index import why_not_current
from agentm_assets.evaluation.report import (
    DEPTH,
    Provenance,
    Ranked,
    Verdicts,
    hit_row,
    hit_table,
    measures_of,
)
from agentm_assets.evaluation.saved import SavedQuestion, question_of
from agentm_assets.evaluation.scratch import (
    Progress,
    build_index,
    open_embedder,
    temporary_state,
)
from agentm_assets.recall.answer import Answer, Verdict
from agentm_assets.recall.opening import open_sources
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions
from agentm_assets.recall.sources import Sources
from agentm_assets.storage.selection import open_vault

MISSED_AFTER = 5
"""A question is missed when no right note stands among so many first ones."""

OWN_INDEX = "the vault's own"


@dataclass(frozen=True, slots=True)
class Judged:
    """A question: our ranking, plain BM25's where it was measured, our verdict."""

    ours: Ranked
    bm25: Ranked | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class GoldReport:
    """`questions`: every question that was asked, in order; `unasked`: those for which the time
    did not suffice."""

    answerable: tuple[Judged, ...]
    negatives: Verdicts
    not_rejected: tuple[str, ...]  # ids of negatives that were not judged `none`
    questions: tuple[SavedQuestion, ...]
    unasked: int
    cost: Cost
    provenance: Provenance

    @property
    def lost(self) -> tuple[str, ...]:
        """Ids of answerable questions that were judged `none`."""
        return tuple(each.ours.id for each in self.answerable if each.verdict == "none")

    @property
    def misses(self) -> tuple[str, ...]:
        places = [
            (each.ours.id, place_of(each.ours.found, each.ours.right)) for each in self.answerable
        ]
        return tuple(id_ for id_, place in places if place is None or place > MISSED_AFTER)

    def json(self) -> dict[str, object]:
        return {
            "strata": hit_table([each.ours for each in self.answerable]),
            "negatives": self.negatives.json(),
            "answerable_lost": len(self.lost),
            "misses": list(self.misses),
            "lost": list(self.lost),
            "not_rejected": list(self.not_rejected),
            "bm25_floor": None if self.floor is None else hit_table(self.floor),
            "all": hit_row([each.ours for each in self.answerable]),
            "unasked": self.unasked,
            **self.cost.json(),
            **self.provenance.json(),
        }

    @property
    def floor(self) -> list[Ranked] | None:
        """Plain BM25's rankings; None where they were not made."""
        found = [each.bm25 for each in self.answerable if each.bm25 is not None]
        return found if len(found) == len(self.answerable) else None

    def measures(self) -> dict[str, float | None]:
        """Every figure that a bar may name."""
        rejected = self.negatives.none / self.negatives.n if self.negatives.n else None
        return {
            **measures_of(hit_table([each.ours for each in self.answerable])),
            **measures_of({"all": hit_row([each.ours for each in self.answerable])}),
            **measures_of(self.cost.json()),
            "negatives.rejected": rejected,
            "answerable.lost": float(len(self.lost)),
        }


def gold_measures(questions: Sequence[GoldQuestion]) -> frozenset[str]:
    """The names of what a run over these questions measures, known before it."""
    strata = {each.stratum for each in questions if each.expected_note_paths}
    rows = {name: hit_row(()) for name in (*strata, *(["all"] if strata else ()))}
    none = Cost.of(Stopwatch()).json()
    return frozenset(
        {*measures_of(rows), *measures_of(none), "negatives.rejected", "answerable.lost"}
    )


def run_gold(
    questions: Sequence[GoldQuestion],
    settings: Settings,
    env: Mapping[str, str],
    *,
    embed: bool = True,
    seed: int = 7,
    now: datetime,
    corpus: Corpus | None = None,
    index: Literal["current", "own"] = "current",
    floor: bool = True,
    seconds: float | None = None,
    on_progress: Progress = lambda stage, done, total: None,
) -> GoldReport:
    """Ask every question of the configured vault, which is only read.

    `corpus` saves reading the notes again. `index`: "current" makes one apart when the vault's own
    is not what a fresh one would be; "own" asks the vault's own as it is, and remarks on it.
    `floor`: measure plain BM25, too. `seconds`: no question is begun later than that after the
    first; what is left is counted, and which it is does not depend on the order of the file.

    Raises QuestionsUnusable for a path that the vault does not hold, before anything is asked;
    RunVoid; with "own", IndexMissing, IndexBusy and IndexDamaged; and what `open_embedder` raises.
    """
    began = time.monotonic()
    held = corpus or read_corpus(open_vault(settings.location))
    require_paths(questions, held, settings)
    bm25 = PlainBm25(held.texts) if floor else None
    reason = why_not_current(settings, env, held.scan) if embed else "asked by words alone"
    apart = reason is not None and index == "current"
    watch = Stopwatch()
    asked: dict[str, Judged] = {}
    with _sources(settings, env, reason if apart else None, embed, on_progress) as (sources, model):

        def ask(text: str) -> Answer:
            return watch.timed(partial(recall, text, RecallOptions(now=now, k=DEPTH), sources))

        check_control(
            draw(_known_items(sources, held), seed),
            lambda text: [hit.path for hit in ask(text).hits],
            f"the vault {settings.location.store}",
        )
        first = time.monotonic()
        for question in questions if seconds is None else _mixed(questions, seed):
            if seconds is not None and time.monotonic() - first > seconds:
                break
            answer = ask(question.question)
            asked[question.id] = Judged(
                _ranked(question, [hit.path for hit in answer.hits]),
                _ranked(question, bm25.rank(question.question, DEPTH)) if bm25 else None,
                answer.verdict,
            )
            on_progress("ask", len(asked), len(questions))
        remarks = sources.remarks if embed else ()
    if reason is not None and not apart and reason not in remarks:
        remarks = (*remarks, f"the index is not what a fresh one would be: {reason}")
    return _report(
        [each for each in questions if each.id in asked],
        asked,
        unasked=len(questions) - len(asked),
        cost=Cost.of(watch),
        provenance=Provenance(
            corpus_sha256=held.sha256,
            seed=seed,
            now=now.isoformat(timespec="seconds"),
            mode="hybrid" if model else "lexical",
            model=model,
            index=f"made for this run ({reason})" if apart else OWN_INDEX,
            remarks=remarks,
            seconds=time.monotonic() - began,
        ),
    )


def _report(
    questions: Sequence[GoldQuestion],
    asked: Mapping[str, Judged],
    *,
    unasked: int,
    cost: Cost,
    provenance: Provenance,
) -> GoldReport:
    answerable = [asked[each.id] for each in questions if each.expected_note_paths]
    negatives = [asked[each.id] for each in questions if not each.expected_note_paths]
    return GoldReport(
        answerable=tuple(answerable),
        negatives=Verdicts.count([each.verdict for each in negatives]),
        not_rejected=tuple(each.ours.id for each in negatives if each.verdict != "none"),
        questions=tuple(
            question_of(
                asked[each.id].ours,
                asked[each.id].verdict,
                each.question,
                any_of=bool(each.expected_note_paths),
            )
            for each in questions
        ),
        unasked=unasked,
        cost=cost,
        provenance=provenance,
    )


def _mixed(questions: Sequence[GoldQuestion], seed: int) -> list[GoldQuestion]:
    mixed = sorted(questions, key=lambda question: question.id)
    random.Random(seed).shuffle(mixed)
    return mixed


def require_paths(questions: Sequence[GoldQuestion], corpus: Corpus, settings: Settings) -> None:
    """Raises PathsMissing, a QuestionsUnusable, for a path that the vault does not hold."""
    unknown = [
        (question.id, path)
        for question in questions
        for path in question.expected_note_paths
        if path not in corpus.scan.notes
    ]
    if unknown:
        raise PathsMissing(settings.location.store, unknown)


@contextmanager
def _sources(
    settings: Settings,
    env: Mapping[str, str],
    reason: str | None,
    embed: bool,
    on_progress: Progress,
) -> Iterator[tuple[Sources, str | None]]:
    """What recall reads, and the id of the model: the vault's own index, or, with a reason against
    it, one in a temporary folder."""
    if reason is None:
        with open_sources(settings, env) as sources:
            yield sources, sources.embedder.model_id if sources.embedder else None
        return
    with temporary_state(env) as (_folder, own_env):
        apart = Settings.load(own_env, vault=settings.location.store)
        embedder = open_embedder(apart) if embed else None
        build_index(apart, own_env, embedder, on_progress)
        with open_sources(apart, own_env) as sources:
            if embedder is None:
                yield replace(sources, vectors=None, embedder=None), None
            else:
                yield sources, sources.embedder.model_id if sources.embedder else None


def _known_items(sources: Sources, corpus: Corpus) -> list[KnownItem]:
    """Notes whose title no other note has, asked for by it."""
    notes = sources.facts.notes_by_path(list(corpus.texts))
    holders: dict[str, list[str]] = {}
    for path, note in notes.items():
        holders.setdefault(note.title, []).append(path)
    return [
        KnownItem(title, paths[0])
        for title, paths in sorted(holders.items())
        if len(paths) == 1 and title.strip()
    ]


def _ranked(question: GoldQuestion, found: Sequence[str]) -> Ranked:
    return Ranked(
        id=question.id,
        group=question.stratum,
        part="vault",
        found=tuple(found),
        right=frozenset(question.expected_note_paths),
    )
