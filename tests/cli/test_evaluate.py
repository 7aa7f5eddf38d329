"""`agentm eval` as a process."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.demo import questions_file, sample_vault

Run = Callable[..., subprocess.CompletedProcess[str]]

TALKS = Path(__file__).resolve().parents[1] / "evaluation" / "data" / "two_talks.json"


def test_locomo_prints_json_alone_for_the_chosen_conversations(agentm: Run) -> None:
    done = agentm("eval", "locomo", str(TALKS), "--conversations", "2", "--no-embeddings", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["conversations"] == [2]
    assert list(found["turn"]["by_conversation"]) == ["choir"]
    assert found["turn"]["n"] == found["session"]["n"] == found["bm25_floor"]["n"] == 2


def test_gold_says_which_index_it_asked_and_what_it_missed(agentm: Run) -> None:
    # The bundled vault itself: a run that wrote into it would change the package.
    before = {file: file.read_bytes() for file in sample_vault().rglob("*") if file.is_file()}
    arguments = ("eval", "gold", str(sample_vault()), str(questions_file()), "--no-embeddings")
    done = agentm(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "distinctive-token  2  1.000" in done.stdout
    assert "unanswerable: " in done.stdout
    assert "index made for this run (asked by words alone)" in done.stdout
    after = {file: file.read_bytes() for file in sample_vault().rglob("*") if file.is_file()}
    assert after == before
    assert json.loads(agentm(*arguments, "--json").stdout)["negatives"]["n"] == 2


def test_bad_files_and_ranges_end_with_2_and_a_sentence(
    agentm: Run, vault: Path, tmp_path: Path
) -> None:
    (vault / "a.md").write_text("# A note of mine\n\nText.\n")
    other = tmp_path / "other.json"
    other.write_text(
        '[{"id": "q", "question": "w?", "stratum": "s", "expected_note_paths": ["b"]}]'
    )
    for arguments, said in (
        (("locomo", "absent.json"), "does not exist"),
        (("locomo", str(other)), "not in LoCoMo's form"),
        (("locomo", str(TALKS), "--conversations", "2-3"), "give 1-2"),
        (("locomo", str(TALKS), "--conversations", "two"), "give 1-2"),
        (("gold", str(vault), str(TALKS)), "expected_note_paths"),
        (("gold", str(vault), str(other)), "holds no note 'b' (question q)"),
        (("gold", str(tmp_path / "gone"), str(other)), "does not exist"),
    ):
        done = agentm("eval", *arguments, "--json")
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert said in " ".join(done.stderr.replace("│", " ").split()), arguments
        assert "Traceback" not in done.stderr


def test_a_void_run_ends_with_3_and_prints_no_result(
    agentm: Run, vault: Path, tmp_path: Path
) -> None:
    questions = tmp_path / "questions.json"
    questions.write_text(
        '[{"id": "q", "question": "w?", "stratum": "s", "expected_note_paths": []}]'
    )
    done = agentm("eval", "gold", str(vault), str(questions), "--no-embeddings", "--json")
    assert (done.returncode, done.stdout) == (3, "")
    assert "no known item" in done.stderr


@pytest.mark.parametrize(
    ("written", "numbers"),
    [(None, [1, 2, 3]), ("2", [2]), ("1-3", [1, 2, 3]), ("3, 1-2", [1, 2, 3])],
)
def test_ranges_of_conversations(written: str | None, numbers: list[int]) -> None:
    from agentm_assets.cli.evaluate import _numbers

    assert _numbers(written, 3) == numbers
