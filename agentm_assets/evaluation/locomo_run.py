"""LoCoMo through the shipped recall: turns (sections) and sessions (notes), beside plain BM25."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from agentm_assets.config.settings import Settings
from agentm_assets.evaluation.bm25 import PlainBm25
from agentm_assets.evaluation.control import KnownItem, RunVoid, check_control, draw
from agentm_assets.evaluation.cost import Cost, Stopwatch
from agentm_assets.evaluation.locomo import CATEGORIES, Conversation, Question
from agentm_assets.evaluation.report import (
    DEPTH,
    Provenance,
    Ranked,
    Verdicts,
    measures_of,
    recall_row,
    recall_table,
)
from agentm_assets.evaluation.saved import SavedQuestion, question_of
from agentm_assets.evaluation.scratch import (
    Progress,
    build_index,
    open_embedder,
    temporary_state,
    without_configuration,
)
from agentm_assets.recall.answer import Verdict
from agentm_assets.recall.opening import open_sources
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import LONGEST_QUESTION, RecallOptions
from agentm_assets.recall.sources import Sources

NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""When every question is asked, so that a run can be repeated; the talks are of 2022 and 2023."""

UNANSWERABLE = 5

_KNOWN_WORDS = 8
"""Turns of fewer words are no known items: "Thanks!" stands in every talk."""


@dataclass(frozen=True, slots=True)
class Rankings:
    """The scored questions as one ranker answered them."""

    turns: tuple[Ranked, ...]
    sessions: tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class LocomoReport:
    """Scored are questions of categories 1 to 4 with evidence. `answerable` has the verdicts on
    those, `unanswerable` the verdicts on category 5; both as an operator gets them, per note."""

    ours: Rankings
    bm25: Rankings
    answerable: Verdicts
    unanswerable: Verdicts
    questions: tuple[SavedQuestion, ...]  # by turns; those that are not scored are left out
    cost: Cost
    provenance: Provenance

    def json(self) -> dict[str, object]:
        return {
            "turn": recall_table(self.ours.turns),
            "session": recall_table(self.ours.sessions),
            "bm25_floor": {
                **recall_table(self.bm25.turns),
                "session": recall_table(self.bm25.sessions),
            },
            "answerable": self.answerable.json(),
            "unanswerable": self.unanswerable.json(),
            "answerable_lost": self.answerable.none,
            **self.cost.json(),
            **self.provenance.json(),
        }

    def measures(self) -> dict[str, float | None]:
        """Every figure that a bar may name."""
        rows = {
            "turn": recall_table(self.ours.turns),
            "session": recall_table(self.ours.sessions),
            **self.cost.json(),
        }
        negatives = self.unanswerable
        return {
            **measures_of(rows),
            "negatives.rejected": negatives.none / negatives.n if negatives.n else None,
            "answerable.lost": float(self.answerable.none),
        }


def locomo_measures(conversations: Sequence[Conversation]) -> frozenset[str]:
    """The names of what a run over these conversations measures, known before it."""
    asked = [question for talk in conversations for question in talk.questions]
    groups = {
        CATEGORIES[each.category]
        for each in asked
        if each.category != UNANSWERABLE and each.evidence
    }
    row = {**recall_row(()), "by_category": {name: recall_row(()) for name in groups}}
    cost = Cost.of(Stopwatch()).json()
    return frozenset(
        {
            *measures_of({"turn": row, "session": row, **cost}),
            *("negatives.rejected", "answerable.lost"),
        }
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question, answered. The rankings are None for a question that is not scored."""

    answerable: bool
    verdict: Verdict
    saved: SavedQuestion | None
    turns: Ranked | None
    sessions: Ranked | None
    bm25_turns: Ranked | None
    bm25_sessions: Ranked | None


def run_locomo(
    conversations: Sequence[Conversation],
    env: Mapping[str, str],
    *,
    corpus_sha256: str,
    embed: bool = True,
    seed: int = 7,
    on_progress: Progress = lambda stage, done, total: None,
) -> LocomoReport:
    """Index each conversation in a temporary folder and ask it its own questions. At least one.

    Raises RunVoid, and what `open_embedder` raises.
    """
    began = time.monotonic()
    total = sum(len(each.questions) for each in conversations)
    asked: list[_Asked] = []
    watch = Stopwatch()
    with temporary_state(env) as (folder, state_env):
        own_env = without_configuration(state_env, folder)
        vaults = [
            _vault(folder / f"vault-{number}", talk, own_env)
            for number, talk in enumerate(conversations, start=1)
        ]
        embedder = open_embedder(vaults[0]) if embed else None
        for number, (talk, settings) in enumerate(zip(conversations, vaults, strict=True), start=1):
            build_index(settings, own_env, embedder)
            on_progress("index", number, len(vaults))
            with _opened(settings, own_env, lexical=embedder is None) as sources:
                _check(talk, sources, seed)
                for answered in _ask_all(talk, sources, watch):
                    asked.append(answered)
                    on_progress("ask", len(asked), total)
    return LocomoReport(
        ours=Rankings(_there(a.turns for a in asked), _there(a.sessions for a in asked)),
        bm25=Rankings(_there(a.bm25_turns for a in asked), _there(a.bm25_sessions for a in asked)),
        answerable=Verdicts.count([a.verdict for a in asked if a.turns]),
        unanswerable=Verdicts.count([a.verdict for a in asked if not a.answerable]),
        questions=tuple(a.saved for a in asked if a.saved is not None),
        cost=Cost.of(watch),
        provenance=Provenance(
            corpus_sha256=corpus_sha256,
            seed=seed,
            now=NOW.isoformat(),
            mode="hybrid" if embed else "lexical",
            model=embedder.model_id if embedder else None,
            index="made for this run, one a conversation",
            remarks=(),
            seconds=time.monotonic() - began,
        ),
    )


def _there(rankings: Iterator[Ranked | None]) -> tuple[Ranked, ...]:
    return tuple(each for each in rankings if each is not None)


def _vault(folder: Path, talk: Conversation, env: Mapping[str, str]) -> Settings:
    folder.mkdir()
    for path, text in talk.notes.items():
        (folder / path).write_text(text, encoding="utf-8", newline="")
    return Settings.load(env, vault=str(folder))


@contextmanager
def _opened(settings: Settings, env: Mapping[str, str], *, lexical: bool) -> Iterator[Sources]:
    with open_sources(settings, env) as sources:
        if lexical:
            yield replace(sources, vectors=None, embedder=None)
        elif sources.remarks:
            raise RunVoid(f"an index made for this run is degraded: {'; '.join(sources.remarks)}.")
        else:
            yield sources


def _check(talk: Conversation, sources: Sources, seed: int) -> None:
    bodies = {turn: text.partition("\n")[2].strip() for turn, text in talk.turn_texts().items()}
    long = [
        KnownItem(body[:LONGEST_QUESTION], turn)
        for turn, body in bodies.items()
        if len(body.split()) >= _KNOWN_WORDS
    ]
    check_control(
        draw(long, seed),
        lambda text: _turns(talk, text, sources),
        f"conversation {talk.name}",
    )


def _ask_all(talk: Conversation, sources: Sources, watch: Stopwatch) -> Iterator[_Asked]:
    turns, sessions = PlainBm25(talk.turn_texts()), PlainBm25(talk.notes)
    session_of = {turn: path for path, held in talk.turns.items() for _start, turn in held}
    options = RecallOptions(now=NOW, k=DEPTH)
    for number, question in enumerate(talk.questions, start=1):
        answer = watch.timed(partial(recall, question.text, options, sources))
        row = _Row(talk.name, number, question)
        if question.category == UNANSWERABLE:
            negative = question_of(row.ranked((), frozenset()), answer.verdict, question.text)
            yield _Asked(False, answer.verdict, negative, None, None, None, None)
            continue
        if not question.evidence:
            yield _Asked(True, answer.verdict, None, None, None, None, None)
            continue
        # Evidence may name a turn that the talk does not hold: it counts as not found.
        right = frozenset(session_of.get(turn, turn) for turn in question.evidence)
        ranked = row.ranked(_turns(talk, question.text, sources), question.evidence)
        yield _Asked(
            True,
            answer.verdict,
            question_of(ranked, answer.verdict, question.text),
            ranked,
            row.ranked([hit.path for hit in answer.hits], right),
            row.ranked(turns.rank(question.text, DEPTH), question.evidence),
            row.ranked(sessions.rank(question.text, DEPTH), right),
        )


def _turns(talk: Conversation, text: str, sources: Sources) -> list[str | None]:
    answer = recall(text, RecallOptions(now=NOW, k=DEPTH, per="section"), sources)
    return [talk.turn_at(hit.path, hit.start) for hit in answer.hits]


@dataclass(frozen=True, slots=True)
class _Row:
    """What is the same in every ranking of one question."""

    talk: str
    number: int
    question: Question

    def ranked(self, found: Sequence[str | None], right: frozenset[str]) -> Ranked:
        return Ranked(
            id=f"{self.talk}/{self.number}",
            group=CATEGORIES[self.question.category],
            part=self.talk,
            found=tuple(found),
            right=right,
        )
