import hashlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentm_assets.cli.evaluate import app
from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import default_rules_text
from agentm_assets.evaluation.control import KnownItem, RunVoid, check_control, draw
from agentm_assets.evaluation.gold import OWN_INDEX, GoldReport, run_gold
from agentm_assets.evaluation.gold_questions import (
    GoldQuestion,
    QuestionsUnusable,
    read_questions,
)
from agentm_assets.evaluation.own_index import why_not_current
from agentm_assets.evaluation.scratch import build_index, open_embedder
from agentm_assets.index.publish import publish_vectors
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.selection import open_vault

NOW = datetime(2026, 8, 19, 10, 30, tzinfo=UTC)
NOTES = {
    "bread.md": "# Sourdough starter\n\nFeed the starter with rye flour every morning.\n",
    "garden/frost.md": "# Frost on the pear tree\n\nThe pear blossom froze on the ninth of May.\n",
    "bike.md": "# Bicycle chain\n\nThe chain slips; its sprocket has worn teeth.\n",
    "blank.md": "",
}
QUESTIONS = (
    GoldQuestion("q1", "What is the sourdough starter fed with?", ("bread.md",), "distinctive"),
    GoldQuestion("q2", "When did the pear blossom freeze?", ("garden/frost.md",), "distinctive"),
    GoldQuestion("q3", "Why does the chain slip?", ("bike.md", "bread.md"), "other"),
    GoldQuestion("q4", "Why does the chain slip?", ("blank.md",), "other"),
    GoldQuestion("n1", "Who won the chess tournament in Reykjavik?", (), "negative"),
)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    for path, text in NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def model_env(env: dict[str, str], minilm_folder: Path) -> dict[str, str]:
    return {**env, "XDG_CACHE_HOME": str(minilm_folder.parents[2])}


def run(vault: Path, env: Mapping[str, str], *questions: GoldQuestion, **more: Any) -> GoldReport:
    settings = Settings.load(env, vault=str(vault))
    options = {"embed": False, "now": NOW, **more}
    return run_gold(questions or QUESTIONS, settings, env, **options)


def state_of(folder: Path) -> dict[str, tuple[str, int]]:
    """Hash and stamp of everything in a folder."""
    return {
        str(each.relative_to(folder)): (
            hashlib.sha256(each.read_bytes()).hexdigest() if each.is_file() else "",
            each.stat().st_mtime_ns,
        )
        for each in (folder, *sorted(folder.rglob("*")))
    }


def test_strata_negatives_misses_and_floor(vault: Path, env: dict[str, str]) -> None:
    found: Any = run(vault, env).json()
    assert list(found)[:4] == ["strata", "negatives", "answerable_lost", "misses"]
    assert list(found["strata"]) == ["distinctive", "other"]
    row = found["strata"]["distinctive"]
    assert {key: row[key] for key in ("n", "hit@1", "hit@5", "hit@10", "mrr")} == {
        "n": 2,
        "hit@1": 1.0,
        "hit@5": 1.0,
        "hit@10": 1.0,
        "mrr": 1.0,
    }
    assert row["interval"] == [0.3424, 1.0]  # 2 of 2 after Wilson
    assert found["strata"]["other"]["hit@5"] == 0.5  # any of the notes counts; an empty one never
    assert found["misses"] == ["q4"]
    assert found["negatives"]["n"] == 1
    assert (found["negatives"]["none"], found["not_rejected"]) == (1, [])
    assert found["answerable_lost"] == len(found["lost"])
    assert found["bm25_floor"]["distinctive"]["hit@1"] == 1.0
    assert found["now"] == "2026-08-19T10:30:00+00:00"
    json.dumps(found)


def test_the_corpus_hash_follows_every_note_and_its_path(vault: Path, env: dict[str, str]) -> None:
    def digest() -> str:
        return run(vault, env, QUESTIONS[0]).provenance.corpus_sha256

    hashes = [digest(), digest()]
    (vault / "bike.md").write_text("# Bicycle chain\n\nOiled.\n")
    hashes.append(digest())
    (vault / "bike.md").rename(vault / "bicycle.md")
    hashes.append(digest())
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_a_void_run_names_no_note_of_personal() -> None:
    items = [KnownItem("pear", "personal/diary.md"), KnownItem("rye", "bread.md")]
    with pytest.raises(RunVoid) as caught:
        check_control(items, lambda text: (), "the vault")
    assert "a note of personal/, bread.md" in str(caught.value)
    assert "diary" not in str(caught.value)


def test_a_path_that_the_vault_lacks_aborts_before_anything_is_asked(
    vault: Path, env: dict[str, str]
) -> None:
    stages: list[str] = []
    wrong = [GoldQuestion(f"w{n}", "Where?", (f"gone-{n}.md",), "other") for n in range(5)]
    with pytest.raises(QuestionsUnusable) as caught:
        run(vault, env, *QUESTIONS, *wrong, on_progress=lambda stage, *_: stages.append(stage))
    assert "'gone-0.md' (question w0)" in str(caught.value)
    assert "and 2 more" in str(caught.value)
    assert stages == []


def test_a_vault_from_which_nothing_comes_back_makes_the_run_void(
    vault: Path, env: dict[str, str]
) -> None:
    rules = default_rules_text().decode().replace("excludes: []", 'excludes: ["*.md"]')
    assert '["*.md"]' in rules
    (vault / "standards").mkdir()
    (vault / "standards" / "storage-rules.md").write_text(rules)
    with pytest.raises(RunVoid, match=r"5 of 5 known items don't come back"):
        run(vault, env)


def test_an_empty_vault_measures_nothing(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunVoid, match="no known item"):
        run(tmp_path / "empty", env, QUESTIONS[-1])


def test_the_control_forgives_less_than_half() -> None:
    items = [KnownItem(name, name) for name in "abcde"]
    check_control(items, lambda text: [text] if text in "abc" else ["x", None], "it")
    with pytest.raises(RunVoid, match=r"3 of 5 .*\(c, d, e\)"):
        check_control(items, lambda text: [text] if text in "ab" else [], "it")
    assert draw(items, 1) == draw(items, 1)
    assert len(draw(items * 9, 1)) == 5


def test_nothing_is_written_into_the_vault_nor_into_the_state(
    vault: Path, env: dict[str, str], tmp_path: Path
) -> None:
    before = state_of(vault)
    report = run(vault, env)
    assert report.provenance.index == "made for this run (asked by words alone)"
    assert state_of(vault) == before
    assert not (tmp_path / "state").exists()


def test_a_current_index_of_the_vault_is_asked_itself(
    vault: Path, model_env: dict[str, str], minilm_folder: Path
) -> None:
    settings = Settings.load(model_env, vault=str(vault))
    build_index(settings, model_env, open_embedder(settings))
    before = state_of(vault)
    report = run(vault, model_env, embed=True)
    assert (report.provenance.index, report.provenance.mode) == (OWN_INDEX, "hybrid")
    assert report.provenance.model == minilm_folder.name
    assert state_of(vault) == before

    (vault / "new.md").write_text("# New\n\nA goose.\n")
    later = run(vault, model_env, embed=True).provenance
    assert later.index == "made for this run (1 files changed since its last pass)"
    assert later.mode == "hybrid"


def test_an_index_is_not_current_without_its_vectors_or_of_an_older_agentm(
    vault: Path, model_env: dict[str, str]
) -> None:
    settings = Settings.load(model_env, vault=str(vault))

    def reason() -> str | None:
        return why_not_current(settings, model_env, open_vault(settings.location).scan())

    assert reason() == "the vault has no index of its own"
    build_index(settings, model_env, None)
    assert "vectors" in str(reason())
    build_index(settings, model_env, open_embedder(settings))
    assert reason() is None
    with IndexStore(settings.location.duckdb_file).transaction() as connection:
        connection.execute("UPDATE builds SET built_for = '0:0:none' WHERE path = 'bike.md'")
    assert reason() == "an earlier version of agentm read the notes for it"
    settings.location.duckdb_file.unlink()
    assert reason() == "an earlier version of agentm read the notes for it"
    assert not settings.location.duckdb_file.exists()


def test_an_index_is_not_current_while_one_vector_of_many_is_missing(
    vault: Path, model_env: dict[str, str]
) -> None:
    for number in range(30):
        (vault / f"n{number}.md").write_text(f"# Parcel {number}\n\nIt weighs {number} grams.\n")
    settings = Settings.load(model_env, vault=str(vault))
    embedder = open_embedder(settings)
    build_index(settings, model_env, embedder)
    store = IndexStore(settings.location.duckdb_file)
    with store.transaction() as connection:
        connection.execute(
            "DELETE FROM embeddings WHERE embed_hash = (SELECT min(embed_hash) FROM embeddings)"
        )
    publish_vectors(store, settings.location.vectors_dir, embedder.model_id)
    scan = open_vault(settings.location).scan()
    assert why_not_current(settings, model_env, scan) == "it has 32 vectors for 33 sections"


def test_an_unreadable_note_is_left_out(vault: Path, env: dict[str, str]) -> None:
    os.truncate(vault / "bike.md", 17 * 1024 * 1024)  # over what is read as a note
    assert run(vault, env, *QUESTIONS[:2]).misses == ()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("{}", "no list of questions"),
        ("[]", "no list of questions"),
        ("[1]", "question 1 is no object"),
        ('[{"id": "a", "question": "b", "stratum": "c"}]', "`expected_note_paths` must be a list"),
        (
            '[{"id": "a", "question": "b", "stratum": "c", "expected_note_paths": [1]}]',
            "`expected_note_paths` must be a list",
        ),
        (
            '[{"id": "a", "question": " ", "stratum": "c", "expected_note_paths": []}]',
            "`question` must be a text",
        ),
        (
            '[{"id": 7, "question": "b", "stratum": "c", "expected_note_paths": []}]',
            "`id` must be a text",
        ),
        (
            json.dumps(
                2 * [{"id": "a", "question": "b", "stratum": "c", "expected_note_paths": []}]
            ),
            "two questions have the id 'a'",
        ),
    ],
)
def test_a_bad_question_set_is_refused(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "questions.json"
    file.write_text(content)
    with pytest.raises(QuestionsUnusable, match=said):
        read_questions(file)


def test_keys_of_its_own_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "questions.json"
    entry = {"id": "a", "question": "b", "stratum": "c", "expected_note_paths": ["d.md"]}
    file.write_text(json.dumps([{**entry, "note": "mine"}]))
    assert read_questions(file) == (GoldQuestion("a", "b", ("d.md",), "c"),)


@pytest.mark.parametrize("name", ["all", "negatives", " all "])
def test_a_stratum_may_not_be_called_like_a_figure(tmp_path: Path, name: str) -> None:
    file = tmp_path / "mine.json"
    entry = {"id": "q", "question": "Why?", "expected_note_paths": [], "stratum": name}
    file.write_text(json.dumps([entry]))
    with pytest.raises(QuestionsUnusable, match="question 1: `stratum` can't be"):
        read_questions(file)
    done = CliRunner().invoke(app, ["gold", str(tmp_path), str(file)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Call it something else" in done.stderr
