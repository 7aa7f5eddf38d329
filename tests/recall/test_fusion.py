"""Fusion: normalising, weighing, and the guard for a strong lexical first hit."""

from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.recall.fusion import (
    GUARD_MARGIN,
    GUARD_RANK,
    WEIGHTS,
    combine,
    fuse,
    keep_first_lexical,
    normalise,
)

SCORES = st.dictionaries(
    st.sampled_from("abcdefgh"), st.floats(-1e6, 1e6, allow_nan=False), max_size=8
)
UNIT = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.0, 1.0), max_size=8)


@given(scores=SCORES, complete=st.booleans())
def test_normalised_scores_keep_the_order_and_lie_between_0_and_1(
    scores: dict[str, float], complete: bool
) -> None:
    normal = normalise(scores, complete=complete)
    assert normal.keys() == scores.keys()
    assert all(0.0 <= score <= 1.0 for score in normal.values())
    for one in scores:
        for other in scores:
            if scores[one] > scores[other]:
                assert normal[one] >= normal[other]


def test_equal_scores_are_all_the_best() -> None:
    assert normalise({"a": 3.0, "b": 3.0}, complete=False) == {"a": 1.0, "b": 1.0}
    assert normalise({"a": 0.0}, complete=True) == {"a": 1.0}
    assert normalise({}, complete=True) == {}


def test_the_worst_of_a_complete_arm_is_not_worthless() -> None:
    assert normalise({"a": 4.0, "b": 3.0}, complete=False) == {"a": 1.0, "b": 0.0}
    assert normalise({"a": 4.0, "b": 3.0}, complete=True) == {"a": 1.0, "b": 0.75}
    assert normalise({"a": 1.0, "b": -1.0}, complete=True) == {"a": 1.0, "b": 0.0}
    assert normalise({"a": 0.5, "b": 0.25}, complete=True, zero=0.25) == {"a": 1.0, "b": 0.0}


def test_the_best_of_an_arm_counts_fully_only_from_a_mark_on() -> None:
    assert normalise({"a": 0.2, "b": 0.0}, complete=False, full=0.4) == {"a": 0.5, "b": 0.0}
    assert normalise({"a": 0.6, "b": 0.0}, complete=False, full=0.4) == {"a": 1.0, "b": 0.0}


def test_arms_are_weighed_and_an_absent_arm_is_left_out() -> None:
    assert combine({"a": 1.0}, {"b": 1.0}) == {"a": WEIGHTS.lexical, "b": WEIGHTS.dense}
    assert combine({"a": 1.0, "b": 0.5}, {}) == {"a": 1.0, "b": 0.5}
    assert combine({}, {"a": 0.25}) == {"a": 0.25}


def test_a_bonus_alone_makes_a_candidate_and_can_decide() -> None:
    assert fuse({"a": 1.0}, {"b": 3.0})[0] == ("b", 1.0)
    assert fuse({}, {"b": 0.05}) == [("b", 0.05)]
    assert fuse({}, {}) == []


def test_equal_scores_are_in_path_order() -> None:
    assert [path for path, _ in fuse({"b": 1.0, "a": 1.0, "c": 1.0}, {})] == ["a", "b", "c"]


@given(lexical=UNIT, dense=UNIT, bonus=UNIT)
def test_fused_scores_lie_between_0_and_1_and_fall(
    lexical: dict[str, float], dense: dict[str, float], bonus: dict[str, float]
) -> None:
    ranked = fuse(combine(lexical, dense), bonus)
    scores = [score for _path, score in ranked]
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert {path for path, _ in ranked} == {*lexical, *dense, *bonus}


RANKED = [("w", 0.9), ("x", 0.8), ("y", 0.7), ("z", 0.6), ("first", 0.5)]


def test_a_strong_lexical_first_hit_is_not_buried() -> None:
    kept = keep_first_lexical(RANKED, {"first": 10.0, "x": 10.0 / GUARD_MARGIN})
    assert [path for path, _ in kept] == ["w", "x", "first", "y", "z"]
    assert [path for path, _ in kept].index("first") == GUARD_RANK - 1
    assert [score for _, score in kept] == sorted((s for _, s in kept), reverse=True)


def test_a_weak_lexical_first_hit_gets_no_help() -> None:
    assert keep_first_lexical(RANKED, {"first": 10.0, "x": 9.9}) == RANKED


def test_a_lexical_first_hit_that_is_placed_well_stays() -> None:
    assert keep_first_lexical(RANKED, {"x": 10.0, "first": 1.0}) == RANKED


def test_without_lexical_hits_nothing_moves() -> None:
    assert keep_first_lexical(RANKED, {}) == RANKED
    assert keep_first_lexical(RANKED, {"first": 0.0}) == RANKED
    assert keep_first_lexical(RANKED, {"first": 1.0})[2][0] == "first"
