import math

from agentm_assets.evaluation.bm25 import PlainBm25

TEXTS = {"b": "green apple pie here now", "a": "Red red apple", "c": "a boat"}


def test_scores_order_as_worked_out_by_hand() -> None:
    # Mean length 10/3. "red" is in 1 of 3 texts, twice in `a`; "pie" in 1 of 3, once in `b`.
    rare = math.log(1 + 2.5 / 1.5)
    a = rare * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / (10 / 3)))
    b = rare * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 5 / (10 / 3)))
    assert a > b
    assert PlainBm25(TEXTS).rank("PIE red?", 10) == ["a", "b"]
    assert PlainBm25(TEXTS).rank("PIE red?", 1) == ["a"]


def test_a_shorter_text_stands_before_a_longer_one_and_equals_keep_their_order() -> None:
    assert PlainBm25(TEXTS).rank("apple", 10) == ["a", "b"]
    assert PlainBm25({"z": "same words", "y": "same words"}).rank("words", 10) == ["z", "y"]


def test_words_are_not_stemmed_and_nothing_shared_is_nothing_found() -> None:
    assert PlainBm25(TEXTS).rank("apples", 10) == []
    assert PlainBm25(TEXTS).rank("", 10) == []
    assert PlainBm25({}).rank("apple", 10) == []
    assert PlainBm25({"empty": ""}).rank("apple", 10) == []


def test_other_scripts_have_words_too() -> None:
    assert PlainBm25({"ja": "船 を 買った", "el": "Βάρκα"}).rank("βάρκα", 10) == ["el"]
