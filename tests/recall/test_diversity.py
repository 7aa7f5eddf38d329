"""Folding near-duplicates, and keeping what only looks like one."""

import pytest

from agentm_assets.recall.diversity import Wording, first_that_covers, wording

LONG = "The kettle in the kitchen takes two litres of water and boils in four minutes on gas. "


def of(text: str, fingerprint: str = "") -> Wording:
    return wording(fingerprint or text, text)


@pytest.mark.parametrize(
    "other",
    [
        LONG.upper(),
        "**" + LONG.strip() + "**",
        LONG.replace(" ", "\n"),
        LONG.replace(".", "!"),
        LONG[:-1].removesuffix("gas.") + "gas",
    ],
)
def test_the_same_words_fold(other: str) -> None:
    assert first_that_covers([of("something else"), of(LONG)], of(other)) == 1


def test_a_part_of_the_better_hit_folds() -> None:
    assert first_that_covers([of(LONG + "It is red.")], of(LONG)) == 0


@pytest.mark.parametrize(
    ("old", "new"), [("two", "three"), ("kitchen", "office"), ("gas", "gas 7"), ("four", "4.5")]
)
def test_another_value_keeps_a_hit_on_its_own(old: str, new: str) -> None:
    assert first_that_covers([of(LONG)], of(LONG.replace(old, new))) is None


def test_a_better_hit_that_says_less_folds_nothing() -> None:
    assert first_that_covers([of(LONG)], of(LONG + "It is red.")) is None


def test_the_order_of_words_counts() -> None:
    assert first_that_covers([of("Ada reports to Bob now")], of("Bob reports to Ada now")) is None


def test_an_equal_fingerprint_folds_whatever_the_section() -> None:
    assert first_that_covers([of("one part", "same")], of("another part", "same")) == 0


def test_empty_texts_do_not_fold_into_everything() -> None:
    assert first_that_covers([of(LONG)], of("…")) is None
    assert first_that_covers([of(LONG)], of("gas")) is None
