"""Placing by time what is equally near."""

from datetime import date

import pytest

from agentm_assets.recall.chronology import NEAR, in_order
from agentm_assets.recall.timephrases import Order

DAYS = {"old": date(2020, 1, 1), "mid": date(2022, 1, 1), "new": date(2024, 1, 1)}


@pytest.mark.parametrize(
    ("order", "first", "last"), [("newest", "new", "old"), ("oldest", "old", "new")]
)
def test_of_near_hits_time_decides(order: Order, first: str, last: str) -> None:
    ranked = [(last, 1.0), (first, NEAR + 0.01), ("mid", NEAR)]
    assert [key for key, _score in in_order(ranked, DAYS, order)] == [first, last, "mid"]


def test_a_far_hit_is_not_raised_for_its_day() -> None:
    ranked = [("old", 1.0), ("mid", 0.9), ("new", NEAR - 0.01)]
    assert [key for key, _score in in_order(ranked, DAYS, "newest")] == ["mid", "old", "new"]


def test_what_has_no_day_is_not_raised() -> None:
    ranked = [("undated", 1.0), ("old", 0.9), ("new", 0.9)]
    assert [key for key, _score in in_order(ranked, DAYS, "newest")] == ["new", "undated", "old"]


def test_without_hits_there_is_no_order() -> None:
    assert in_order([], DAYS, "oldest") == []
