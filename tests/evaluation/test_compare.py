"""Results as files, and two of them side by side."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.evaluation.compare import NotComparable, changes, compare
from agentm_assets.evaluation.report import Ranked
from agentm_assets.evaluation.saved import (
    ResultUnusable,
    SavedQuestion,
    SavedResult,
    asked_digest,
    parse_result,
    question_of,
    read_result,
    saved_text,
)

HEAD = {
    "corpus_sha256": "c0ffee",
    "seed": 7,
    "mode": "hybrid",
    "model": "m",
    "versions": {"python": "3"},
}


def question(id_: str, place: int | None = 1, **more: Any) -> SavedQuestion:
    found = {k: int(place is not None and place <= k) for k in (5, 10)}
    entry = {
        "id": id_,
        "asked": f"asked {id_}",
        "group": "plain",
        "verdict": "answer",
        "place": place,
        "right": 1,
        "found@5": found[5],
        "found@10": found[10],
    }
    return SavedQuestion.model_validate({**entry, **more})


def negative(id_: str, verdict: str) -> SavedQuestion:
    return question(id_, None, verdict=verdict, right=0, group="negative")


def result(*questions: SavedQuestion, kind: Any = "gold", **head: Any) -> SavedResult:
    text = saved_text(kind, "mine", "2026-08-19T10:00:00+00:00", {**HEAD, **head}, questions)
    return parse_result(text.encode(), "it")


def test_gained_and_lost_are_exact() -> None:
    before = result(
        question("kept", 1),
        question("up", 9),
        question("down", 2),
        question("worse but there", 1),
        question("gone", None),
        negative("n1", "none"),
        negative("n2", "weak"),
        question("old", 1),
    )
    after = result(
        question("new", 1),
        question("down", 6),
        question("kept", 3),
        question("worse but there", 5),
        question("up", 5),
        question("gone", None),
        negative("n1", "answer"),
        negative("n2", "none"),
    )
    found = compare(before, after)
    everything = found.groups["all"]
    assert everything.changes.gained == ("up",)
    assert everything.changes.lost == ("down",)
    assert everything.changes.paired == 5
    assert found.groups["negatives"].changes.gained == ("n2",)
    assert found.groups["negatives"].changes.lost == ("n1",)
    assert (found.only_before, found.only_after) == (("old",), ("new",))
    assert changes(before, after).gained == ("up", "n2")
    assert changes(before, after).lost == ("down", "n1")
    measured = everything.measures["hit@5"]
    assert (measured.before, measured.after, measured.test.p) == (0.6, 0.6, 1.0)
    assert everything.measures["hit@1"].before == 0.4
    assert everything.measures["hit@1"].after == 0.0
    assert everything.measures["hit@1"].test.p == 0.5
    json.dumps(found.json())


PLACES = st.one_of(st.none(), st.integers(1, 10))


@given(st.dictionaries(st.text("abcdef", min_size=1), st.tuples(PLACES, PLACES), min_size=1))
def test_for_any_places_gained_and_lost_are_who_crossed_the_fifth(
    places: dict[str, tuple[int | None, int | None]],
) -> None:
    before = result(*(question(id_, pair[0]) for id_, pair in places.items()))
    after = result(*(question(id_, pair[1]) for id_, pair in places.items()))

    def within(place: int | None) -> bool:
        return place is not None and place <= 5

    found = compare(before, after).groups["all"].changes
    assert set(found.gained) == {i for i, (a, b) in places.items() if within(b) and not within(a)}
    assert set(found.lost) == {i for i, (a, b) in places.items() if within(a) and not within(b)}
    assert found.paired == len(places)


def test_part_of_the_evidence_counts_as_part() -> None:
    def talk(*found: int) -> SavedResult:
        return result(
            *(
                question(f"q{number}", 1, right=3, **{"found@5": held, "found@10": 3})
                for number, held in enumerate(found)
            ),
            kind="locomo",
        )

    found = compare(talk(1, 3, 2), talk(2, 1, 2)).groups["all"]
    assert found.changes.gained == ("q0",)
    assert found.changes.lost == ("q1",)
    assert set(found.measures) == {"r@5", "r@10", "mrr", "kept"}
    assert found.measures["r@5"].before == pytest.approx(2 / 3)
    assert found.measures["r@5"].test.differing == 2


def test_another_question_of_the_same_id_is_not_its_pair() -> None:
    found = compare(
        result(question("a"), question("b")), result(question("a"), question("b", asked="else"))
    )
    assert found.groups["all"].changes.paired == 1
    assert found.asked_otherwise == ("b",)
    assert asked_digest("w?", ["a", "b"]) == asked_digest("w?", ["b", "a"])
    assert asked_digest("w?", ["a"]) != asked_digest("w?", ["b"])


def test_other_corpora_kinds_and_strangers_are_refused() -> None:
    before = result(question("a"))
    with pytest.raises(NotComparable, match=r"different corpora \(c0ffee .* and decaf\)"):
        compare(before, result(question("a"), corpus_sha256="decaf"))
    with pytest.raises(NotComparable, match="measure different things"):
        compare(before, result(question("a"), kind="locomo"))
    with pytest.raises(NotComparable, match="no question in common"):
        compare(before, result(question("b")))


def test_a_saved_question_knows_its_place_and_how_much_was_found() -> None:
    ranked = Ranked("q", "g", "p", ("x", "b", *"klm", "a"), frozenset("ab"))
    whole = question_of(ranked, "weak", "w?")
    assert (whole.place, whole.right, whole.found_5, whole.found_10) == (2, 2, 1, 2)
    either = question_of(ranked, "weak", "w?", any_of=True)
    assert (either.right, either.found_5, either.found_10) == (1, 1, 1)
    assert not question_of(Ranked("q", "g", "p", ("x",), frozenset()), "none", "w?").answerable


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    asked = (question("ä"), negative("n", "none"))
    file.write_text(saved_text("gold", "mine", "2026", {**HEAD, "all": {}}, asked), "utf-8")
    assert read_result(file).questions == asked
    assert json.loads(file.read_text("utf-8"))["all"] == {}
    file.write_text(saved_text("gold", "mine", "2026", HEAD, ()), "utf-8")
    assert read_result(file).questions == ()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file"),
        (b"[]", "the file"),
        (b'{"v": 2}', "v: "),
        (b"[" * 100_000, "the file"),
        (saved_text("gold", "m", "", HEAD, [question("a")] * 2).encode(), "the same id"),
        (saved_text("gold", "m", "", HEAD, []).replace("c0ffee", "").encode(), "corpus_sha256"),
    ],
)
def test_other_files_are_refused(content: bytes, said: str) -> None:
    with pytest.raises(ResultUnusable, match=said):
        parse_result(content, "it")
