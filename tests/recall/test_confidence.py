"""Confidence: bounds, direction, and what a question names that no note holds."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.index.build import name_key
from agentm_assets.recall import names
from agentm_assets.recall.confidence import (
    ANSWER_FROM,
    WEAK_FROM,
    Evidence,
    coverage,
    judge,
    telling,
)

Asker = Any  # the class in conftest.py, which cannot be imported from here
SHARES = st.none() | st.floats(0.0, 1.0)
COSINES = st.none() | st.floats(-1.0, 1.0)
EVIDENCE = st.builds(Evidence, SHARES, COSINES, st.booleans(), st.booleans())


def of(share: float | None, cosine: float | None) -> Evidence:
    return Evidence(share, cosine, named=False, in_time=False)


@given(evidence=st.lists(EVIDENCE, max_size=5), unknown=st.booleans())
def test_confidence_lies_between_0_and_1_and_decides_the_verdict(
    evidence: list[Evidence], unknown: bool
) -> None:
    confidence, verdict = judge(evidence, names_unknown=unknown)
    assert 0.0 <= confidence <= 1.0
    assert (verdict == "answer") == (confidence >= ANSWER_FROM)
    assert (verdict == "none") == (confidence < WEAK_FROM)
    assert confidence >= judge(evidence, names_unknown=True)[0]


@given(low=st.floats(0.0, 1.0), high=st.floats(0.0, 1.0), other=st.floats(0.0, 1.0))
def test_more_words_and_nearer_meaning_never_lower_it(
    low: float, high: float, other: float
) -> None:
    low, high = sorted((low, high))
    for less, more in (
        (of(low, other), of(high, other)),
        (of(other, low), of(other, high)),
        (of(low, None), of(high, None)),
    ):
        assert judge([less], names_unknown=False) <= judge([more], names_unknown=False) or (
            judge([less], names_unknown=False)[0] <= judge([more], names_unknown=False)[0]
        )


def test_no_hit_is_no_answer() -> None:
    assert judge([], names_unknown=False) == (0.0, "none")


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (of(1.0, 0.7), "answer"),
        (of(1.0, None), "answer"),
        (of(0.3, 0.4), "weak"),
        (of(0.15, 0.25), "none"),
        (of(0.1, None), "none"),
        (of(None, 0.2), "none"),
        (of(0.0, -1.0), "none"),
        (Evidence(0.0, None, named=True, in_time=False), "answer"),
        (Evidence(None, None, named=False, in_time=True), "answer"),
        (Evidence(0.0, 0.1, named=False, in_time=True), "none"),
    ],
)
def test_verdicts(evidence: Evidence, verdict: str) -> None:
    assert judge([evidence], names_unknown=False)[1] == verdict


def test_an_unknown_name_makes_the_best_evidence_no_answer() -> None:
    assert judge([of(1.0, 0.9)], names_unknown=False)[1] == "answer"
    assert judge([of(1.0, 0.9)], names_unknown=True)[1] != "answer"
    assert judge([of(0.6, 0.6)], names_unknown=True)[1] == "none"


def test_the_mention_of_what_is_asked_for_counts_but_is_not_all() -> None:
    bare = judge([Evidence(0.0, 0.0, named=True, in_time=False)], names_unknown=False)[0]
    full = judge([Evidence(1.0, 0.9, named=True, in_time=False)], names_unknown=False)[0]
    assert ANSWER_FROM < bare < full


def test_the_best_hit_counts() -> None:
    assert judge([of(0.1, 0.1), of(1.0, 0.8)], names_unknown=False)[1] == "answer"


def test_coverage_weighs_rare_words_more() -> None:
    terms = {"kettle": 6.0, "water": 1.0, "red": 1.0}
    assert coverage(terms, ["kettle", "kettle", "x"]) == 0.75
    assert coverage(terms, ["water", "red"]) == 0.25
    assert coverage({}, ["water"]) is None
    assert coverage({"the": 0.0}, ["the"]) is None


def test_stop_words_are_not_telling() -> None:
    terms = {"what": 0.5, "did": 0.5, "kettl": 5.0}
    assert telling(terms, str.split) == {"kettl": 5.0}


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("How do I restore a pgBackRest backup onto the Kettle?", ("pgBackRest",)),
        ("What did we learn about MongoDB and Kettle?", ("MongoDB",)),
        ("Is max_wal_size set for the kettle?", ("max_wal_size",)),
        ("Does the kettle use python3?", ("python3",)),
        ("Where is the kettle of Lisbon, and that of Berlin?", ("Lisbon",)),
        ("Sourdough for the kettle. Hydration matters", ()),
        ("how does the kettle boil sourdough", ()),
        ("Who Boils Water In A Copper Kettle Here", ()),
        ("Is 1789 a kettle?", ()),
        ("I ask what the kettle is", ()),
        ("the U.S. kettle", ()),
        ("", ()),
    ],
)
def test_names_that_no_note_holds(
    vault_of: Callable[[Mapping[str, str]], Asker], question: str, unknown: tuple[str, ...]
) -> None:
    asker = vault_of({"kettle.md": "# Kettle\n\nThe Berlin kettle boils water.\n"})
    assert names.unknown_names(question, (), asker.sources().lexical) == unknown


def test_words_of_a_time_phrase_are_no_names(
    vault_of: Callable[[Mapping[str, str]], Asker],
) -> None:
    asker = vault_of({"kettle.md": "# Kettle\n\nThe kettle boils water.\n"})
    lexical = asker.sources().lexical
    question = "what about the kettle on the 3rd of March"
    assert names.unknown_names(question, (), lexical) == ("3rd", "March")
    assert names.unknown_names(question, ((22, len(question)),), lexical) == ()


def test_a_question_with_an_unknown_name_is_no_answer(
    vault_of: Callable[[Mapping[str, str]], Asker],
) -> None:
    asker = vault_of({"kettle.md": "# Kettle\n\nHow to restore the backup of the kettle.\n"})
    assert asker.ask("How do I restore the backup of the kettle?").verdict == "answer"
    assert asker.ask("How do I restore the Lisbon backup of the kettle?").verdict != "answer"


@given(name=st.text())
def test_names_are_looked_up_as_the_index_keys_them(name: str) -> None:
    assert names._key(name) == name_key(name)
