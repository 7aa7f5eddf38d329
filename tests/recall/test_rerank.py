"""The second look at the best sections: what it changes, what it may cost, and how it fails."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.models.reranker import Pair, Reranker
from agentm_assets.recall.opening import WarmSources
from agentm_assets.recall.penalties import PenaltyContext
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.pool import gather
from agentm_assets.recall.question import RecallOptions, understand
from agentm_assets.recall.rank import rank
from agentm_assets.recall.rerank import MOST_PAIRS, RERANK_WEIGHT, Reranking

Asker = Any  # the class in conftest.py, which cannot be imported from here

SYNONYMS = (("pictures", "images"), ("kettle",), ("slow", "lazy"))
NOW = datetime(2026, 8, 19, tzinfo=UTC)
QUESTION = "slow pictures kettle"
NOTES = {
    "words.md": "# Words\n\nkettle slow kettle slow kettle\n",
    "other.md": "# Other\n\nkettle\n\nthe kettle stands on the stove in the kitchen\n",
    "meant.md": "# Meant\n\nlazy images, and a kettle beside all of the many other things\n",
}


@pytest.fixture
def model_folder(tmp_path: Path, build_cross_encoder: Callable[..., Path]) -> Path:
    return build_cross_encoder(tmp_path / "overlap", SYNONYMS)


@pytest.fixture
def judged(asker: Asker, model_folder: Path) -> Asker:
    """A vault that is asked with a cross-encoder, and with all the time it needs."""
    asker.env["AGENTM_RERANKER"] = str(model_folder)
    asker.env["AGENTM_RERANKER_BUDGET_MS"] = "60000"
    asker.write(NOTES)
    asker.index()
    return asker


def without(asker: Asker, question: str = QUESTION, **options: object) -> Any:
    return asker.ask(question, replace(asker.sources(), reranking=None), **options)


def said(answer: Any) -> str:
    """What the answer remarks on, but for the vectors that this vault has none of."""
    before, _, rest = answer.why.partition("run `agentm index`")
    assert before.startswith("searched by words alone")
    return str(rest.removeprefix("; "))


def test_without_a_model_there_is_no_such_stage(asker: Asker) -> None:
    asker.write(NOTES)
    asker.index()
    answer = asker.ask(QUESTION)
    assert answer.trace.rerank is None
    assert said(answer) == ""
    assert {hit.parts.rerank for hit in answer.hits} == {None}


def test_the_order_follows_what_the_model_says(judged: Asker) -> None:
    plain, answer = without(judged), judged.ask(QUESTION)
    assert plain.hits[0].path == "words.md"
    assert {hit.path: hit.parts.rerank for hit in answer.hits} == {
        "meant.md": 3.0,
        "words.md": 2.0,
        "other.md": 1.0,
    }
    assert [hit.path for hit in answer.hits].index("meant.md") < [
        hit.path for hit in plain.hits
    ].index("meant.md")
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert max(scores) <= plain.hits[0].score
    trace = answer.trace.rerank
    assert (trace.pairs, trace.why, trace.trouble) == (3, None, False)
    assert trace.ms > 0
    assert trace.model.startswith("overlap@")
    assert said(answer) == ""


def test_sections_are_judged_as_notes_are(judged: Asker) -> None:
    judged.write({"two.md": "# Two\n\n## Tea\n\nkettle kettle\n\n## Page\n\nlazy images kettle\n"})
    judged.index()
    scores = {
        hit.header_path: hit.parts.rerank for hit in judged.ask(QUESTION, per="section", k=10).hits
    }
    assert (scores["Two > Tea"], scores["Two > Page"]) == (1.0, 3.0)


def test_title_and_headings_are_read_with_the_section(judged: Asker) -> None:
    judged.write({"title.md": "---\ntitle: Lazy images\n---\n# Kettle\n\nslow, as I said.\n"})
    judged.index()
    parts = {hit.path: hit.parts for hit in judged.ask(QUESTION).hits}
    assert parts["title.md"].rerank == 3.0


def test_a_penalty_holds_whatever_the_model_says(judged: Asker) -> None:
    sources = judged.sources()
    options = RecallOptions(now=NOW)
    asked = understand(QUESTION, options)
    context = PenaltyContext(sources.rules, False, 0.0, False)
    ranked = rank(gather(asked, options, sources), asked, context, 10)
    order = {
        penalty: sources.reranking.order(
            QUESTION,
            [
                replace(each, parts=replace(each.parts, penalty=penalty))
                if each.path == "meant.md"
                else each
                for each in ranked
            ],
            {},
            sources,
        )[0]
        for penalty in (1.0, 0.3)
    }
    free, lowered = ({each.path: each.score for each in order[by]} for by in (1.0, 0.3))
    span = ranked[0].score - ranked[-1].score
    assert free["meant.md"] - lowered["meant.md"] == pytest.approx(0.7 * RERANK_WEIGHT * span)
    assert {path for path in free if free[path] != lowered[path]} == {"meant.md"}


def test_a_note_that_the_question_names_needs_no_judge(judged: Asker) -> None:
    judged.write({"issue.md": "# Leak\n\nSee acme/kettle#12, it drips.\n"})
    judged.index()
    answer = judged.ask("slow images acme/kettle#12")
    assert answer.hits[0].path == "issue.md"
    assert answer.hits[0].parts.rerank < max(hit.parts.rerank for hit in answer.hits)


def test_those_behind_the_best_twenty_keep_their_places(judged: Asker) -> None:
    judged.write({f"n{n:02}.md": f"# N{n}\n\n{'kettle ' * (30 - n)}\n" for n in range(30)})
    judged.index()
    plain, answer = without(judged, k=30), judged.ask(QUESTION, k=30)
    assert answer.trace.rerank.pairs == MOST_PAIRS
    first, behind = answer.hits[:MOST_PAIRS], answer.hits[MOST_PAIRS:]
    assert behind
    assert {hit.parts.rerank for hit in behind} == {None}
    assert None not in {hit.parts.rerank for hit in first}
    assert {hit.path for hit in first} == {hit.path for hit in plain.hits[:MOST_PAIRS]}
    assert [hit.path for hit in behind] == [hit.path for hit in plain.hits[MOST_PAIRS:]]
    assert min(hit.score for hit in first) >= max(hit.score for hit in behind)


class Counting(Reranker):
    """The real model, with a clock that runs a millisecond a token while it scores."""

    seconds = 0.0
    pace = 0.001

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        found = super().scores(pairs)
        self.seconds += self.pace * sum(pair.tokens for pair in pairs)
        return found


def counting(folder: Path, budget_ms: float) -> tuple[Counting, Reranking]:
    model = Counting.open(folder, threads=1)
    assert isinstance(model, Counting)
    return model, Reranking(model, budget_ms, clock=lambda: model.seconds)


def test_only_as_many_are_scored_as_fit_the_budget(judged: Asker, model_folder: Path) -> None:
    text = "kettle " * 20 + "images"
    judged.write({f"n{n}.md": f"# N\n\n{text} {'kettle ' * n}\n" for n in range(9)})
    judged.index()
    model, reranking = counting(model_folder, budget_ms=130)
    sources = judged.sources(reranking=reranking)
    for _ in range(2):  # learning its pace, and knowing it
        at = model.seconds
        answer = judged.ask("kettle images", sources, k=9)
        trace = answer.trace.rerank
        assert 2 <= trace.pairs <= 5
        assert trace.ms == pytest.approx((model.seconds - at) * 1000, abs=0.1)
        assert trace.ms <= 130
        assert trace.why == f"{trace.pairs} of 12 sections fit 130 ms"
        assert said(answer) == ""  # an order of the best alone is no fault
        assert sum(hit.parts.rerank is not None for hit in answer.hits) == trace.pairs


def test_a_model_that_is_too_slow_is_left_out_said_and_tried_again(
    judged: Asker, model_folder: Path
) -> None:
    model, reranking = counting(model_folder, budget_ms=40)
    model.pace = 1.0
    sources = judged.sources(reranking=reranking)
    first = judged.ask(QUESTION, sources)  # finds out how slow it is with one pair
    assert first.trace.rerank.pairs == 0
    assert "too slow" in said(first)
    assert [hit.path for hit in first.hits] == [hit.path for hit in without(judged).hits]
    assert {hit.parts.rerank for hit in first.hits} == {None}
    at = model.seconds
    assert "too slow" in said(judged.ask(QUESTION, sources))
    assert model.seconds == at  # knows it, and spends nothing
    model.pace = 0.0001
    answers = [judged.ask(QUESTION, sources) for _ in range(60)]
    assert answers[-1].trace.rerank.pairs == 3
    assert said(answers[-1]) == ""


def test_an_asker_without_time_is_not_kept_waiting(judged: Asker) -> None:
    answer = judged.ask(QUESTION, rerank=False)
    assert answer.trace.rerank.pairs == 0
    assert "no time" in answer.trace.rerank.why
    assert said(answer) == ""
    assert [hit.path for hit in answer.hits] == [hit.path for hit in without(judged).hits]


def test_a_single_candidate_costs_nothing(judged: Asker) -> None:
    answer = judged.ask("stove")
    assert [hit.path for hit in answer.hits] == ["other.md"]
    assert (answer.trace.rerank.pairs, answer.trace.rerank.why) == (0, None)


def test_private_notes_are_read_by_the_model_that_runs_here(judged: Asker) -> None:
    judged.write({"personal/diary.md": "# Diary\n\nlazy images of a kettle\n"})
    judged.index()
    (hit,) = [hit for hit in judged.ask(QUESTION).hits if hit.path == "personal/diary.md"]
    assert hit.parts.rerank == 3.0


def test_a_note_that_vanished_is_no_fault(judged: Asker) -> None:
    (judged.root / "meant.md").unlink()
    answer = judged.ask(QUESTION)
    assert {hit.path for hit in answer.hits} == {"words.md", "other.md"}
    assert answer.trace.rerank.pairs == 3


@pytest.mark.parametrize("harm", ["gone", "no graph", "garbage", "another hash"])
def test_a_model_that_is_no_use_leaves_recall_as_it_was(
    judged: Asker, model_folder: Path, harm: str
) -> None:
    expected = [hit.path for hit in without(judged).hits]
    if harm == "gone":
        shutil.rmtree(model_folder)
    elif harm == "no graph":
        (model_folder / "model.onnx").unlink()
    elif harm == "garbage":
        (model_folder / "model.onnx").write_bytes(b"no graph")
    else:
        judged.env["AGENTM_RERANKER_SHA256"] = "0" * 64
    answer = judged.ask(QUESTION)
    assert said(answer).startswith("not reranked: the reranker in ")
    assert "AGENTM_RERANKER names it" in said(answer)
    assert str(model_folder) in said(answer)
    assert [hit.path for hit in answer.hits] == expected


def test_a_model_that_fails_on_the_question_leaves_recall_as_it_was(
    judged: Asker, model_folder: Path, build_cross_encoder: Callable[..., Path]
) -> None:
    expected = [hit.path for hit in without(judged).hits]
    build_cross_encoder(model_folder, SYNONYMS, outputs=3)
    answer = judged.ask(QUESTION)
    assert "3 numbers a pair" in said(answer)
    assert answer.trace.rerank.pairs == 0
    assert [hit.path for hit in answer.hits] == expected


def test_a_folder_is_opened_once_and_again_when_it_was_mended(
    judged: Asker, model_folder: Path
) -> None:
    good = (model_folder / "model.onnx").read_bytes()
    (model_folder / "model.onnx").write_bytes(b"no graph")
    opened: list[Path] = []

    def open_model(folder: Path, pinned: str | None) -> Reranker:
        opened.append(folder)
        return Reranker.open(folder, pinned=pinned)

    warm = WarmSources(judged.settings, judged.env, open_reranker=open_model)
    try:
        for _ in range(2):
            assert any("not reranked" in remark for remark in warm.current().remarks)
        (model_folder / "model.onnx").write_bytes(good)
        sources = [warm.current() for _ in range(2)]
    finally:
        warm.close()
    assert len(opened) == 2
    assert sources[0].reranking is sources[1].reranking is not None  # keeps what it learnt


def test_a_model_that_is_still_loading_is_said(judged: Asker) -> None:
    warm = WarmSources(judged.settings, judged.env, open_reranker=lambda folder, pinned: None)
    try:
        sources = warm.current()
        answer = recall(QUESTION, RecallOptions(now=NOW), sources)
    finally:
        warm.close()
    assert said(answer) == "not reranked: the model is still loading"
    assert answer.trace.rerank is None
