import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.evaluation.metrics import mean, place_of, recall_at, reciprocal, wilson


def test_recall_is_the_share_of_the_right_items_that_were_found() -> None:
    ranked = ["d", "a", "x", "b", "y"]
    assert recall_at(ranked, {"a", "b", "c"}, 2) == pytest.approx(1 / 3)
    assert recall_at(ranked, {"a", "b", "c"}, 5) == pytest.approx(2 / 3)
    assert recall_at(["a", "a", "a"], {"a", "b"}, 3) == 0.5  # found thrice is found once
    assert recall_at([], {"a"}, 5) == 0.0


def test_the_place_of_the_first_right_item_counts_from_one() -> None:
    assert place_of(["x", "b", "a"], {"a", "b"}) == 2
    assert place_of(["x"], {"a"}) is None
    assert [reciprocal(place) for place in (1, 4, None)] == [1.0, 0.25, 0.0]


def test_the_mean_of_nothing_is_nothing() -> None:
    assert mean([]) is None
    assert mean([0.25, 0.75]) == 0.5


def test_wilson_intervals_are_those_of_the_tables() -> None:
    # Newcombe 1998, table I, method 3: 81/263, 15/148, 0/20, 1/29.
    for (successes, n), (low, high) in {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }.items():
        assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)
    assert wilson(0, 0) is None


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_share_and_is_mirrored(case: tuple[int, int]) -> None:
    successes, n = case
    bounds, mirrored = wilson(successes, n), wilson(n - successes, n)
    assert bounds is not None
    assert mirrored is not None
    assert -1e-12 <= bounds[0] <= successes / n + 1e-12
    assert successes / n - 1e-12 <= bounds[1] <= 1.0
    assert mirrored == pytest.approx((1 - bounds[1], 1 - bounds[0]))
