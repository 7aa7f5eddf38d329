"""`agentm eval` as a process."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.contract.rules import default_rules_text
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


GOLD = [
    {
        "id": "kettle",
        "question": "What is the gasket of the kettle made of?",
        "expected_note_paths": ["kettle.md"],
        "stratum": "plain",
    },
    {
        "id": "roof",
        "question": "Who replaced the slate above the chimney?",
        "expected_note_paths": ["roof.md"],
        "stratum": "plain",
    },
]


@pytest.fixture
def asked(vault: Path, tmp_path: Path) -> Path:
    """A vault in git with two notes, and questions about them."""
    (vault / "kettle.md").write_text(
        "# What to know of the kettle\n\nThe gasket of the kettle is made of silicone.\n"
    )
    (vault / "roof.md").write_text(
        "# What to know of the roof\n\nA roofer replaced the slate above the chimney.\n"
    )
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        identity = ["-c", "user.name=op", "-c", "user.email=op@localhost"]
        subprocess.run(["git", "-C", str(vault), *identity, *command], check=True)
    questions = tmp_path / "mine.json"
    questions.write_text(json.dumps(GOLD))
    return questions


def history_of(agentm: Run) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(agentm("eval", "history", "--json").stdout)
    return found


def test_a_bar_that_is_missed_ends_with_3_after_the_result(
    agentm: Run, vault: Path, asked: Path, tmp_path: Path
) -> None:
    bars = tmp_path / "bars.txt"
    bars.write_text("# mine\nplain.hit@5>=.5\n")
    gold = ("eval", "gold", str(vault), str(asked), "--no-embeddings", "--json")
    done = agentm(*gold, "--bars", str(bars), "--bar", "memory.peak_mb<=1", "--accept")
    assert done.returncode == 3
    assert "missed: memory.peak_mb<=1" in done.stderr
    assert "not accepted" in done.stderr
    found = json.loads(done.stdout)
    assert found["strata"]["plain"]["n"] == 2
    assert [each["met"] for each in found["bars"]["each"]] == [False, True]
    assert found["bars"]["met"] is False
    assert found["latency"]["calls"] > 2
    assert found["latency"]["p95_ms"] >= found["latency"]["p50_ms"] > 0
    assert found["memory"]["peak_mb"] > 10
    assert not (vault / "Agent").exists()
    [entry] = history_of(agentm)
    assert entry["bars"] == ["memory.peak_mb<=1", "plain.hit@5>=.5"]
    assert str(entry["at"]) <= str(entry["ended"])
    assert found["bars"]["written"] == entry["at"]
    assert agentm(*gold, "--bars", str(bars)).returncode == 0


def test_bars_are_written_down_before_the_first_question(
    agentm: Run, vault: Path, asked: Path
) -> None:
    """Also those of a run that never came to a result: it stands there as ended."""
    rules = vault / "standards" / "storage-rules.md"
    rules.parent.mkdir()
    rules.write_text(default_rules_text().decode().replace("excludes: []", 'excludes: ["*.md"]'))
    gold = ("eval", "gold", str(vault), str(asked), "--no-embeddings", "--json")
    done = agentm(*gold, "--bar", "all.hit@5>=.9")
    assert (done.returncode, done.stdout) == (3, "")
    assert "known items don't come back" in done.stderr
    [entry] = history_of(agentm)
    assert (entry["bars"], entry["measures"]) == (["all.hit@5>=.9"], {})
    assert "known items don't come back" in str(entry["why"])


def test_what_cannot_be_asked_for_is_refused_before_anything_is_entered(
    agentm: Run, vault: Path, asked: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps([{**GOLD[0], "expected_note_paths": ["gone.md"]}]))
    gold = ("eval", "gold", str(vault))
    for arguments, said in (
        ((*gold, str(wrong)), "holds no note 'gone.md'"),
        ((*gold, str(asked), "--bar", "al.hit@5>=.9"), "Nothing was asked. Near it: all.hit@5"),
        ((*gold, str(asked), "--bar", "all.hit@5=.9"), "is no bar"),
        ((*gold, str(asked), "--against", str(asked)), "is no result of `agentm eval --out`"),
        (("eval", "locomo", str(TALKS), "--accept"), "--vault PATH"),
        (("eval", "compare", str(asked), str(asked)), "is no result"),
    ):
        done = agentm(*arguments, "--json")
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert said in " ".join(done.stderr.replace("│", " ").split()), arguments
    assert history_of(agentm) == []


def test_what_is_accepted_is_committed_and_later_runs_are_held_against_it(
    agentm: Run, vault: Path, asked: Path, tmp_path: Path
) -> None:
    gold = ("eval", "gold", str(vault), str(asked), "--no-embeddings", "--json")
    out = tmp_path / "first.json"
    first = agentm(*gold, "--accept", "--out", str(out))
    assert first.returncode == 0, first.stderr
    assert "accepted" not in json.loads(first.stdout)
    kept = vault / "Agent/_meta/evaluation/gold-mine.json"
    assert kept.read_bytes() == out.read_bytes()
    assert [each["place"] for each in json.loads(kept.read_text())["questions"]] == [1, 1]
    log = subprocess.run(
        ["git", "-C", str(vault), "log", "-1", "--format=%an|%s", "--name-only"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "agentm-evaluation|Accept the evaluation of gold-mine" in log
    assert "Agent/_meta/evaluation/gold-mine.json" in log

    same = json.loads(agentm(*gold, "--questions").stdout)
    assert same["accepted"]["compared"] is True
    assert same["accepted"]["groups"]["all"]["lost"] == []
    assert [each["id"] for each in same["questions"]] == ["kettle", "roof"]

    (vault / "roof.md").write_text("# Blank\n")
    later = agentm(*gold)
    assert later.returncode == 0
    assert "different corpora" in later.stderr
    assert json.loads(later.stdout)["accepted"]["compared"] is False

    refused = agentm(*gold, "--against", str(out), "--out", str(tmp_path / "never.json"))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "different corpora" in refused.stderr
    assert not (tmp_path / "never.json").exists()
    assert [entry["lost"] for entry in history_of(agentm)] == [None, 0, 1], "not the refused one"
    shown = agentm("eval", "history").stdout
    assert shown.count("mine") == 3


def test_two_files_are_compared_by_id_and_other_corpora_refused(
    agentm: Run, vault: Path, asked: Path, tmp_path: Path
) -> None:
    one, two, other = (tmp_path / f"{name}.json" for name in ("one", "two", "other"))
    gold = ("eval", "gold", str(vault), str(asked), "--no-embeddings")
    assert agentm(*gold, "--out", str(one)).returncode == 0
    result = json.loads(one.read_text())
    result["questions"][0] |= {"place": None, "found@5": 0, "found@10": 0}
    two.write_text(json.dumps(result))
    found = json.loads(agentm("eval", "compare", str(one), str(two), "--json").stdout)
    assert found["groups"]["all"]["lost"] == ["kettle"]
    assert found["groups"]["all"]["measures"]["hit@5"] == {
        "before": 1.0,
        "after": 0.5,
        "difference": -0.5,
        "p": 1.0,
        "method": "exact",
        "draws": None,
        "differing": 1,
    }
    shown = agentm("eval", "compare", str(two), str(one)).stdout
    assert "gained: 1 kettle" in shown
    other.write_text(json.dumps({**result, "corpus_sha256": "0" * 64}))
    done = agentm("eval", "compare", str(one), str(other), "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "different corpora" in done.stderr
    against = agentm(*gold, "--against", str(two), "--json")
    assert json.loads(against.stdout)["against"]["groups"]["all"]["gained"] == ["kettle"]


def test_known_items_are_made_asked_and_written_out(
    agentm: Run, vault: Path, asked: Path, tmp_path: Path
) -> None:
    (vault / "personal").mkdir()
    (vault / "personal" / "p.md").write_text("# What nobody else may read\n")
    known = ("eval", "known", str(vault), "--n", "5", "--seed", "3")
    found = json.loads(agentm(*known, "--no-embeddings", "--json", "--questions").stdout)
    assert found["strata"]["title"]["hit@5"] == 1.0
    assert found["all"]["n"] == 2
    paths = {each["id"].partition("#")[0] for each in found["questions"]}
    assert paths == {"kettle.md", "roof.md"}
    out = tmp_path / "set.json"
    assert agentm(*known, "--write-questions", str(out)).returncode == 0
    written = json.loads(out.read_text())
    assert {each["question"] for each in written} == {
        "What to know of the kettle",
        "What to know of the roof",
    }
    assert agentm("eval", "gold", str(vault), str(out), "--no-embeddings").returncode == 0
    [latest] = [entry["set"] for entry in history_of(agentm) if entry["kind"] == "known"]
    assert latest == "known 5 seed 3"


def test_locomo_is_kept_with_a_vault_that_is_named(
    agentm: Run, vault: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    run = ("eval", "locomo", str(TALKS), "--no-embeddings", "--json", "--out", str(out))
    found = json.loads(agentm(*run, "--bar", "turn.single-hop.r@5>=.1").stdout)
    assert found["bars"]["met"] is True
    kept = json.loads(out.read_text())
    assert len(kept["questions"]) == found["turn"]["n"] + found["unanswerable"]["n"]
    shares = [each["found@5"] / each["right"] for each in kept["questions"] if each["right"]]
    assert found["turn"]["r@5"] == pytest.approx(sum(shares) / len(shares), abs=1e-4)
    assert history_of(agentm) == []
    done = agentm(*run, "--vault", str(vault), "--accept", "--against", str(out))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["against"]["groups"]["all"]["gained"] == []
    assert (vault / "Agent/_meta/evaluation/locomo-conversations-1-2.json").exists()
    assert [entry["set"] for entry in history_of(agentm)] == ["conversations 1-2"]
