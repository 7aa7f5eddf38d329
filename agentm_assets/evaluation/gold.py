"""Gold sets: questions about a vault, each with the notes that answer it, or with none."""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from agentm_assets.config.settings import Settings
from agentm_assets.evaluation.bm25 import PlainBm25
from agentm_assets.evaluation.control import KnownItem, check_control, draw
from agentm_assets.evaluation.gold_questions import GoldQuestion, QuestionsUnusable
from agentm_assets.evaluation.metrics import place_of
from agentm_assets.evaluation.own_index import why_not_current
from agentm_assets.evaluation.report import DEPTH, Provenance, Ranked, Verdicts, hit_table
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
from agentm_assets.storage.seam import NoteUnreadable
from agentm_assets.storage.selection import open_vault
from agentm_assets.storage.vault import Vault

MISSED_AFTER = 5
"""A question is missed when no right note stands among so many first ones."""

OWN_INDEX = "the vault's own"


@dataclass(frozen=True, slots=True)
class Judged:
    """An answerable question: our ranking, plain BM25's, and our verdict."""

    ours: Ranked
    bm25: Ranked
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class GoldReport:
    answerable: tuple[Judged, ...]
    negatives: Verdicts
    not_rejected: tuple[str, ...]  # ids of negatives that were not judged `none`
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
            "bm25_floor": hit_table([each.bm25 for each in self.answerable]),
            **self.provenance.json(),
        }


@dataclass(frozen=True, slots=True)
class _Corpus:
    """The notes as they are now. `texts`: path → text of each that can be read."""

    texts: dict[str, str]
    sha256: str


def run_gold(
    questions: Sequence[GoldQuestion],
    settings: Settings,
    env: Mapping[str, str],
    *,
    embed: bool = True,
    seed: int = 7,
    now: datetime,
    on_progress: Progress = lambda stage, done, total: None,
) -> GoldReport:
    """Ask every question of the configured vault, which is only read.

    Raises QuestionsUnusable for a path that the vault does not hold, before anything is asked;
    RunVoid; and what `open_embedder` raises.
    """
    began = time.monotonic()
    vault = open_vault(settings.location)
    scan = vault.scan()
    _require_paths(questions, scan.notes, settings)
    corpus = _read(vault, sorted(scan.notes))
    bm25 = PlainBm25(corpus.texts)
    reason = why_not_current(settings, env, scan) if embed else "asked by words alone"
    answerable: list[Judged] = []
    negatives: list[tuple[str, Verdict]] = []
    with _sources(settings, env, reason, embed, on_progress) as (sources, model):

        def ask(text: str) -> Answer:
            return recall(text, RecallOptions(now=now, k=DEPTH), sources)

        check_control(
            draw(_known_items(sources, corpus), seed),
            lambda text: [hit.path for hit in ask(text).hits],
            f"the vault {settings.location.store}",
        )
        for number, question in enumerate(questions, start=1):
            answer = ask(question.question)
            if question.expected_note_paths:
                ours = _ranked(question, [hit.path for hit in answer.hits])
                floor = _ranked(question, bm25.rank(question.question, DEPTH))
                answerable.append(Judged(ours, floor, answer.verdict))
            else:
                negatives.append((question.id, answer.verdict))
            on_progress("ask", number, len(questions))
        remarks = sources.remarks if embed else ()
    return GoldReport(
        tuple(answerable),
        Verdicts.count([verdict for _id, verdict in negatives]),
        tuple(id_ for id_, verdict in negatives if verdict != "none"),
        Provenance(
            corpus_sha256=corpus.sha256,
            seed=seed,
            now=now.isoformat(timespec="seconds"),
            mode="hybrid" if model else "lexical",
            model=model,
            index=f"made for this run ({reason})" if reason else OWN_INDEX,
            remarks=remarks,
            seconds=time.monotonic() - began,
        ),
    )


def _require_paths(
    questions: Sequence[GoldQuestion], notes: Mapping[str, object], settings: Settings
) -> None:
    unknown = [
        f"{path!r} (question {question.id})"
        for question in questions
        for path in question.expected_note_paths
        if path not in notes
    ]
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise QuestionsUnusable(
            f"the vault {settings.location.store} holds no note {', '.join(unknown[:3])}{more}. "
            "Nothing was asked: name the vault that the questions are about, or correct the paths."
        )


def _read(vault: Vault, paths: Sequence[str]) -> _Corpus:
    """What can't be read is in no index either."""
    texts: dict[str, str] = {}
    digest = hashlib.sha256()
    for path in paths:
        try:
            data = vault.read_bytes(path)
        except (NoteUnreadable, FileNotFoundError):
            continue
        texts[path] = data.decode("utf-8", "replace")
        digest.update(path.encode("utf-8", "surrogateescape") + b"\0")
        digest.update(hashlib.sha256(data).digest())
    return _Corpus(texts, digest.hexdigest())


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


def _known_items(sources: Sources, corpus: _Corpus) -> list[KnownItem]:
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
