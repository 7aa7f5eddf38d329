import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.contract.rules import default_rules_text
from agentm_assets.evaluation.control import RunVoid
from agentm_assets.evaluation.locomo import Conversation, NotLocomo, read_locomo
from agentm_assets.evaluation.locomo_run import LocomoReport, run_locomo

TALK = b'[{"sample_id": "x", "conversation": {"speaker_a": "A", "speaker_b": "B"}, "qa": [%s]}]'


def run(talks: list[Conversation], env: Mapping[str, str], **more: Any) -> LocomoReport:
    return run_locomo(talks, env, corpus_sha256="c0ffee", **{"embed": False, **more})


def test_a_conversation_is_a_note_a_session_and_a_section_a_turn(talks: list[Conversation]) -> None:
    boat = talks[0]
    assert list(boat.notes) == ["session-01.md", "session-02.md"]
    note = boat.notes["session-01.md"]
    assert note.startswith(
        "---\nkind: conversation\ncaptured: 2023-03-03T09:15:00\n---\n"
        "# Runa and Teodor on 9:15 am on 3 March, 2023\n"
    )
    assert "## Runa\n\nThe mast is rotten" in note
    assert "[photo: a boat on a trailer]\n" in note
    at = note.encode().index(b"## Teodor\n\nLovely")
    assert boat.turn_at("session-01.md", at) == "D1:2"
    assert boat.turn_at("session-01.md", at - 1) == "D1:1"
    assert boat.turn_at("session-01.md", 0) is None
    texts = boat.turn_texts()
    assert list(texts) == ["D1:1", "D1:2", "D1:3", "D1:4", "D2:1", "D2:2"]
    assert texts["D1:4"] == "## Teodor\n\nHa!\n\n"
    assert "".join(texts.values()) == "".join(n[n.index("## ") :] for n in boat.notes.values())


def test_evidence_is_split_stripped_of_zeros_and_left_out_when_malformed(
    talks: list[Conversation],
) -> None:
    evidence = [sorted(question.evidence) for question in talks[0].questions]
    assert evidence == [["D1:1"], ["D1:3", "D2:2"], ["D2:1"], [], ["D1:1"]]


def test_only_answerable_questions_with_evidence_are_scored(
    talks: list[Conversation], env: dict[str, str], tmp_path: Path
) -> None:
    report = run(talks, env)
    for rankings in (report.ours, report.bm25):
        for ranked in (rankings.turns, rankings.sessions):
            assert [each.id for each in ranked] == [
                *("boat/1", "boat/2", "boat/3"),
                *("choir/1", "choir/2"),
            ]
    first, second, *_, last = report.ours.turns
    assert first.found[0] == "D1:1"
    assert len([turn for turn in first.found if str(turn).startswith("D1:")]) > 1, "each turn apart"
    assert {"D1:3", "D2:2"} <= set(second.found[:5])
    assert last.found[0] == "D1:3"
    assert report.ours.sessions[0].found[0] == "session-01.md"
    assert report.ours.sessions[1].right == {"session-01.md", "session-02.md"}
    assert report.ours.sessions[-1].right == {"session-01.md", "D9:9"}  # in no session: not found
    assert report.answerable.n == 5
    assert report.unanswerable.n == 1
    assert not (tmp_path / "state").exists(), "the operator's own state is left alone"


def test_json_has_the_rows_the_floor_and_what_the_result_depends_on(
    talks: list[Conversation], env: dict[str, str]
) -> None:
    found = run(talks, env, seed=11).json()
    assert list(found)[:3] == ["turn", "session", "bm25_floor"]
    turn: Any = found["turn"]
    assert list(turn) == ["n", "r@5", "r@10", "mrr", "by_category", "by_conversation"]
    assert turn["n"] == 5
    assert turn["by_category"]["single-hop"]["n"] == 3
    assert set(turn["by_category"]) == {"single-hop", "multi-hop", "temporal"}
    # The second question names a turn that is nowhere: half of its evidence can be found.
    assert turn["by_conversation"]["choir"] == {"n": 2, "r@5": 0.75, "r@10": 0.75, "mrr": 1.0}
    floor: Any = found["bm25_floor"]
    assert list(floor) == [*turn, "session"]
    assert floor["by_conversation"]["choir"]["r@5"] == 0.75
    assert floor["session"]["n"] == 5
    unanswerable: Any = found["unanswerable"]
    assert unanswerable["n"] == 1
    assert sum(unanswerable[verdict] for verdict in ("answer", "weak", "none")) == 1
    assert found["answerable_lost"] == found["answerable"]["none"]  # type: ignore[index]
    assert (found["corpus_sha256"], found["seed"]) == ("c0ffee", 11)
    assert (found["mode"], found["model"]) == ("lexical", None)
    assert {"python", "agentm", "tantivy"} <= set(found["versions"])  # type: ignore[call-overload]
    json.dumps(found)


def test_with_a_model_meaning_is_asked_too(
    talks: list[Conversation], env: dict[str, str], minilm_folder: Path
) -> None:
    model_env = {**env, "XDG_CACHE_HOME": str(minilm_folder.parents[2])}
    report = run(talks[1:], model_env, embed=True)
    assert report.provenance.mode == "hybrid"
    assert report.provenance.model == minilm_folder.name
    assert report.ours.turns[0].found[0] == "D1:2"


def test_the_rules_of_the_operator_have_no_say(
    talks: list[Conversation], env: dict[str, str], tmp_path: Path
) -> None:
    hiding = tmp_path / "rules.md"
    rules = default_rules_text().decode()
    hiding.write_text(rules.replace("excludes: []", 'excludes: ["session-*.md"]'))
    assert hiding.read_text() != rules
    strange = {**env, "AGENTM_STORAGE_RULES": str(hiding), "AGENTM_VAULT": "/nowhere"}
    assert run(talks[1:], strange).ours == run(talks[1:], env).ours


def test_a_run_without_known_items_is_void(talks: list[Conversation], env: dict[str, str]) -> None:
    silent = dataclasses.replace(
        talks[1],
        notes={"session-01.md": "# Talk\n\n## Ilse\n\nHa!\n"},
        turns={"session-01.md": [(8, "D1:1")]},
    )
    with pytest.raises(RunVoid, match="conversation choir holds no known item"):
        run([silent], env)


def test_a_run_whose_turns_are_mixed_up_is_void(
    talks: list[Conversation], env: dict[str, str]
) -> None:
    """An index whose sections lead elsewhere than the corpus says gives no result."""
    mixed = dataclasses.replace(
        talks[1], notes={"session-01.md": talks[1].notes["session-01.md"].replace("\n## ", "\n")}
    )
    with pytest.raises(RunVoid, match="known items don't come back"):
        run([mixed], env)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "JSONDecodeError"),
        (b"\xff\xfe\x00", "not in LoCoMo's form"),
        (b"[]", "no conversation"),
        (b"{}", "no conversation"),
        (b"7", "TypeError"),
        (b'[{"qa": []}]', "conversation"),
        (b"[" * 100_000, "RecursionError"),
        (b'[{"sample_id": "x", "conversation": {}, "qa": [7]}]', "speaker_a"),
        (TALK % b"7", "AttributeError"),
        (TALK % b'{"question": "w?", "category": 6}', "6 is no category"),
        (TALK % b'{"question": "w?", "category": 1, "evidence": "D1:1"}', "no list"),
        (b'[{"sample_id": "x", "conversation": [], "qa": []}]', "no conversation"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "other.json"
    file.write_bytes(content)
    with pytest.raises(NotLocomo, match=said):
        read_locomo(file)


def test_two_conversations_of_one_name_are_refused(tmp_path: Path, two_talks: Path) -> None:
    samples = json.loads(two_talks.read_text())
    file = tmp_path / "twice.json"
    file.write_text(json.dumps([samples[0], samples[0]]))
    with pytest.raises(NotLocomo, match="same sample_id"):
        read_locomo(file)


def test_a_turn_without_a_usable_id_is_refused(tmp_path: Path, two_talks: Path) -> None:
    samples = json.loads(two_talks.read_text())
    samples[0]["conversation"]["session_1"][0]["dia_id"] = "first"
    file = tmp_path / "ids.json"
    file.write_text(json.dumps(samples))
    with pytest.raises(NotLocomo, match="'first' is no id of a turn"):
        read_locomo(file)
