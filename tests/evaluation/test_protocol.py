"""A run from its bars to the history, without Dagster and without a command."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.config.settings import Settings
from agentm_assets.evaluation.bars import BarUnusable, parse_bar
from agentm_assets.evaluation.compare import NotComparable
from agentm_assets.evaluation.cost import Cost, Stopwatch, percentile
from agentm_assets.evaluation.gold import GoldReport, gold_measures, run_gold
from agentm_assets.evaluation.gold_questions import (
    GoldQuestion,
    QuestionsUnusable,
    read_questions,
)
from agentm_assets.evaluation.locomo import Conversation
from agentm_assets.evaluation.locomo_run import locomo_measures, run_locomo
from agentm_assets.evaluation.nightly import Options, measure_vault
from agentm_assets.evaluation.protocol import Plan, finish, start
from agentm_assets.evaluation.saved import parse_result
from agentm_assets.evaluation.score_log import LOG, ScoreLog, trend
from agentm_assets.evaluation.scratch import build_index

NOW = datetime(2026, 8, 19, 10, 30, tzinfo=UTC)
QUESTIONS = (
    GoldQuestion("kettle", "What is the gasket made of?", ("kettle.md",), "plain"),
    GoldQuestion("chess", "Who won the chess tournament in Reykjavik?", (), "negative"),
)


@pytest.fixture
def settings(tmp_path: Path, env: dict[str, str]) -> Settings:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "kettle.md").write_text("# The big kettle\n\nIts gasket is made of silicone.\n")
    (vault / "roof.md").write_text("# The old roof\n\nIts slate is from Trier.\n")
    return Settings.load(env, vault=str(vault))


def report(settings: Settings, env: dict[str, str], **more: Any) -> GoldReport:
    return run_gold(QUESTIONS, settings, env, embed=False, now=NOW, **more)


def test_the_bars_stand_in_the_history_before_the_first_question(
    settings: Settings, env: dict[str, str]
) -> None:
    build_index(settings, env, None)
    log = ScoreLog(settings.location)
    seen: list[tuple[str, ...]] = []

    def listen(stage: str, done: int, total: int) -> None:
        if stage == "ask":
            seen.extend(entry.begun.bars for entry in log.read(9) if entry.ended is None)

    scores = measure_vault(settings, env, Options(n=2), NOW, listen)
    assert seen == [("all.hit@5>=.9",)] * 2
    assert scores.faults == ()
    [entry] = log.read(9)
    assert entry.ended is not None
    assert entry.met is True
    assert entry.measures["all.hit@5"] == 1.0


def test_a_run_that_was_ended_leaves_its_bars_behind(
    settings: Settings, env: dict[str, str]
) -> None:
    log = ScoreLog(settings.location)
    bars = (parse_bar("all.hit@5>=.5"),)
    start(Plan("gold", "mine", 7, "c0ffee", bars, log=log), gold_measures(QUESTIONS), NOW)
    [entry] = log.read(9)
    assert (entry.begun.bars, entry.why) == (
        ("all.hit@5>=.5",),
        "it was ended before its last question",
    )
    assert trend([entry])[0][-1] == "it was ended before its last question"


def test_nothing_is_entered_for_a_run_that_may_not_begin(
    settings: Settings, env: dict[str, str]
) -> None:
    log = ScoreLog(settings.location)
    first = finish(
        start(Plan("gold", "mine", 7, "c0ffee"), gold_measures(QUESTIONS), NOW),
        report(settings, env),
    )
    earlier = parse_result(first.text.encode(), "it")
    with pytest.raises(NotComparable, match="different corpora"):
        start(Plan("gold", "mine", 7, "decaf", against=earlier, log=log), (), NOW)
    with pytest.raises(BarUnusable):
        start(Plan("gold", "mine", 7, "decaf", (parse_bar("a.b>=1"),), log=log), {"c.d"}, NOW)
    assert log.read(9) == []


def test_the_history_can_be_unwritable_and_the_result_stands(
    settings: Settings, env: dict[str, str]
) -> None:
    log = ScoreLog(settings.location)
    log.file.parent.parent.mkdir(parents=True)
    log.file.parent.write_text("a file where the folder should be")
    plan = Plan("gold", "mine", 7, "c0ffee", log=log)
    finished = finish(start(plan, gold_measures(QUESTIONS), NOW), report(settings, env))
    assert "can't be written" in str(finished.remark)
    assert finished.payload["all"]


def test_torn_and_foreign_lines_of_the_history_are_left_out(
    settings: Settings, env: dict[str, str]
) -> None:
    log = ScoreLog(settings.location)
    assert log.read(9) == []
    for number in range(3):
        plan = Plan("gold", f"set {number}", 7, "c0ffee", log=log)
        start(plan, gold_measures(QUESTIONS), NOW)
    line = log.file.read_text().split("\n")[1]
    with log.file.open("a") as file:
        file.write(f'{line[:40]}\n[]\n{{"v": 2}}\n{line.replace("gold", "dust")}\n' + "[" * 9999)
    assert [entry.begun.name for entry in log.read(9)] == ["set 0", "set 1", "set 2"]
    assert [entry.begun.name for entry in log.read(1)] == ["set 2"]
    assert log.file.name == LOG


def test_every_figure_that_a_bar_may_name_is_measured(
    settings: Settings, env: dict[str, str], talks: list[Conversation]
) -> None:
    measured = report(settings, env).measures()
    assert gold_measures(QUESTIONS) <= set(measured)
    assert measured["negatives.rejected"] in (0.0, 1.0)
    assert "all.hit@5" not in gold_measures(QUESTIONS[1:]), "a set of negatives has no hits"
    found = run_locomo(talks, env, corpus_sha256="c0ffee", embed=False).measures()
    assert locomo_measures(talks) <= set(found)
    assert {"turn.r@5", "turn.single-hop.r@5", "session.mrr"} <= locomo_measures(talks)


def test_a_run_out_of_time_asks_the_same_questions_whatever_their_order(
    settings: Settings, env: dict[str, str]
) -> None:
    stopped = report(settings, env, seconds=-1.0)
    assert (stopped.unasked, stopped.questions) == (2, ())
    assert report(settings, env, seconds=60.0).questions == report(settings, env).questions


def test_costs_are_of_the_calls_after_the_first() -> None:
    watch = Stopwatch()
    assert watch.timed(lambda: 7) == 7
    assert Cost.of(watch).p50_ms is None
    watch.seconds = [9.0, *(number / 1000 for number in range(1, 101))]
    cost = Cost.of(watch)
    assert (cost.calls, cost.first_ms, cost.p50_ms, cost.p95_ms) == (101, 9000.0, 50.0, 95.0)
    assert cost.peak_mb > 1
    assert percentile([3.0], 95) == 3.0
    json.dumps(cost.json())


@pytest.mark.parametrize(
    "gone", ["personal/diary/secret.md", "Personal/secret.md", "./personal/secret.md"]
)
def test_what_is_recorded_of_a_lacking_note_names_no_path_of_personal(
    settings: Settings, env: dict[str, str], gone: str
) -> None:
    questions = [
        {"id": f"q{number}", "question": "Where?", "stratum": "mine", "expected_note_paths": [path]}
        for number, path in enumerate((gone, "gone.md"))
    ]
    standards = settings.location.root / "standards"
    standards.mkdir()
    (standards / "recall-questions.json").write_text(json.dumps(questions))
    scores = measure_vault(settings, env, Options(), NOW)
    [fault] = scores.faults
    assert "secret" not in fault
    assert "(question q0), the note 'gone.md' (question q1)" in fault
    log = ScoreLog(settings.location).file
    assert not log.exists() or "secret" not in log.read_text()
    asked = read_questions(standards / "recall-questions.json")
    with pytest.raises(QuestionsUnusable) as caught:  # the operator is told all of it
        run_gold(asked, settings, env, embed=False, now=NOW)
    assert f"holds no note {gone!r} (question q0), 'gone.md'" in str(caught.value)
