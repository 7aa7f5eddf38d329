"""Folding near-duplicates, and keeping what only looks like one."""

import pytest

from agentm_assets.recall.diversity import covers, wording

LONG = "The kettle in the kitchen takes two litres of water and boils in four minutes on gas. "


@pytest.mark.parametrize(
    "other",
    [
        LONG.upper(),
        "**" + LONG.strip() + "**",
        LONG.replace(" ", "\n"),
        LONG.replace(".", "!"),
        "## " + LONG,
    ],
)
def test_the_same_words_add_nothing(other: str) -> None:
    assert covers(wording(LONG), wording(other))


def test_a_part_adds_nothing_and_the_whole_does() -> None:
    assert covers(wording(LONG + "It is red."), wording(LONG))
    assert not covers(wording(LONG), wording(LONG + "It is red."))


@pytest.mark.parametrize(
    ("old", "new"), [("two", "three"), ("kitchen", "office"), ("gas", "gas 7"), ("four", "4.5")]
)
def test_another_value_adds_something(old: str, new: str) -> None:
    assert not covers(wording(LONG), wording(LONG.replace(old, new)))


def test_the_order_of_words_counts() -> None:
    assert not covers(wording("Ada reports to Bob now"), wording("Bob reports to Ada now"))


def test_texts_without_words_are_not_covered_by_everything() -> None:
    assert not covers(wording(LONG), wording("…"))
    assert not covers(wording(LONG), wording("gas"))
