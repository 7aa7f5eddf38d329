"""Confidence: bounds, direction, and what a question names that no note holds."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.index.build import name_key
from agentm_assets.recall import names
from agentm_assets.recall.answer import Grounds, Verdict
from agentm_assets.recall.confidence import (
    ANSWER_FROM,
    LEXICAL_WEAK_FROM,
    WEAK_FROM,
    Evidence,
    coverage,
    grounds,
    judge,
    telling,
)

Asker = Any  # the class in conftest.py, which cannot be imported from here
SHARES = st.none() | st.floats(0.0, 1.0)
COSINES = st.none() | st.floats(-1.0, 1.0)
EVIDENCE = st.builds(Evidence, SHARES, COSINES, st.booleans(), st.booleans())
MARGINS = st.none() | st.floats(-1.0, 1.0)
SIZES = st.integers(1, 1_000_000)
GROUNDS = st.builds(
    grounds,
    st.lists(EVIDENCE, min_size=1, max_size=5),
    sections=SIZES,
    unseen=st.floats(0.0, 1.0),
    unknown_name=st.booleans(),
    unknown_thing=st.booleans(),
    speaker=MARGINS,
)


def of(words: float | None, meaning: float | None, **more: Any) -> Grounds:
    found = Evidence(words, meaning, named=False, in_time=False)
    return grounds([found], **{"sections": 2_000, **more})


@given(found=GROUNDS)
def test_confidence_lies_between_0_and_1_and_decides_the_verdict(found: Grounds) -> None:
    confidence, verdict = judge(found)
    least = LEXICAL_WEAK_FROM if found.meaning is None else WEAK_FROM
    assert 0.0 <= confidence <= 1.0
    assert (verdict == "answer") == (confidence >= ANSWER_FROM)
    assert (verdict == "none") == (confidence < least)


@given(
    found=GROUNDS,
    field=st.sampled_from(["words", "meaning", "unseen", "speaker"]),
    pair=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)),
)
def test_each_ground_speaks_in_one_direction(
    found: Grounds, field: str, pair: tuple[float, float]
) -> None:
    less, more = (replace(found, **{field: value}) for value in sorted(pair))
    if field == "unseen":
        less, more = more, less
    assert judge(less)[0] <= judge(more)[0]


@given(found=GROUNDS)
def test_an_unknown_name_or_thing_never_raises_it(found: Grounds) -> None:
    for field in ("unknown_name", "unknown_thing"):
        known, unknown = (replace(found, **{field: value}) for value in (False, True))
        assert judge(unknown)[0] <= judge(known)[0]


def test_no_hit_is_no_answer() -> None:
    assert judge(None) == (0.0, "none")


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (of(1.0, 0.7), "answer"),
        (of(0.4, 0.45), "answer"),  # a paraphrase
        (of(0.3, 0.2), "weak"),
        (of(0.1, 0.15), "none"),
        (of(0.1, 0.3, unseen=0.8), "none"),
        (of(1.0, None), "answer"),
        (of(0.1, None, unseen=0.8), "none"),
        (of(None, 0.3), "none"),  # words of every question alone
        (of(0.0, -1.0), "none"),
        (of(0.9, 0.6, speaker=-0.3), "none"),  # another one said all of it
        (of(0.9, 0.6, speaker=0.3), "answer"),
        (of(0.9, 0.6, unknown_name=True, sections=5_000), "none"),
        (of(0.9, 0.6, unknown_name=True, sections=50), "answer"),
        (of(0.9, 0.6, unknown_thing=True), "none"),
        (grounds([Evidence(0.0, None, True, False)], sections=9), "answer"),
        (grounds([Evidence(None, None, False, True)], sections=9), "answer"),
        (grounds([Evidence(0.0, 0.1, False, True)], sections=2_000), "none"),
    ],
)
def test_verdicts(found: Grounds, verdict: Verdict) -> None:
    assert judge(found)[1] == verdict


def test_confidence_does_not_saturate() -> None:
    cosines = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    found = [judge(of(0.6, cosine))[0] for cosine in cosines]
    assert all(second - first > 0.005 for first, second in itertools.pairwise(found))


def test_the_mention_of_what_is_asked_for_counts_but_is_not_all() -> None:
    bare = judge(grounds([Evidence(0.0, 0.0, True, False)], sections=9))[0]
    full = judge(grounds([Evidence(1.0, 0.9, True, False)], sections=9))[0]
    assert ANSWER_FROM < bare < full


def test_the_best_hit_counts() -> None:
    first, second = Evidence(0.1, 0.1, False, False), Evidence(1.0, 0.8, False, False)
    assert judge(grounds([first, second], sections=9))[1] == "answer"


def test_coverage_weighs_rare_words_more() -> None:
    terms = {"kettle": 6.0, "water": 1.0, "red": 1.0}
    assert coverage(terms, ["kettle", "kettle", "x"]) == 0.75
    assert coverage(terms, ["water", "red"]) == 0.25
    assert coverage({}, ["water"]) is None
    assert coverage({"the": 0.0}, ["the"]) is None


def test_stop_words_are_not_telling() -> None:
    terms = {"what": 0.5, "did": 0.5, "kettl": 5.0}
    assert telling(terms, str.split) == {"kettl": 5.0}


def test_the_weight_of_words_that_no_section_holds(
    vault_of: Callable[[Mapping[str, str]], Asker],
) -> None:
    lexical = vault_of({"kettle.md": "# Kettle\n\nThe kettle boils.\n"}).sources().lexical
    none, half, whole = (
        names.unseen_share(dict(lexical.question_terms(question)), lexical)
        for question in ("kettle boils", "kettle zeppelin", "zeppelin harbour")
    )
    assert none == 0.0 < half < whole == 1.0
    assert names.unseen_share({}, lexical) == 0.0


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


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("boilDetectC", "answer"),
        ("what is boilDetectC set to?", "answer"),
        ("boil_detect_c", "answer"),
        ("max_retry_backoff_ms", "answer"),
        ("maxRetryBackoffMs", "answer"),
        ("OTC_THRESHOLD_C", "answer"),
        ("boilDetectD", "none"),  # one of its parts stands in no section with the others
        ("boilRetryC", "none"),
    ],
)
def test_an_identifier_in_its_other_spelling_is_known(
    vault_of: Callable[[Mapping[str, str]], Asker], question: str, verdict: Verdict
) -> None:
    notes = {f"n{n}.md": f"# Note {n}\n\nPlain words about tea number {n}.\n" for n in range(150)}
    asker = vault_of(
        notes
        | {
            "boil.md": "# Boil\n\nThe kettle stops when `boil_detect_c` says 96.\n",
            "retry.md": "# Retry\n\nWe set `maxRetryBackoffMs` to 500.\n",
            "otc.md": "# Threshold\n\nThe lid opens at `otcThresholdC`.\n",
        }
    )
    assert asker.ask(question).verdict == verdict


def test_a_name_that_a_hit_spells_otherwise_is_no_unknown_one(
    vault_of: Callable[[Mapping[str, str]], Asker],
) -> None:
    lexical = vault_of({"kettle.md": "# Kettle\n\nSet `boil_detect_c`.\n"}).sources().lexical
    known = {"boildetectc"}
    assert names.unknown_names("is boilDetectC set?", (), lexical) == ("boilDetectC",)
    assert names.unknown_names("is boilDetectC set?", (), lexical, known) == ()
    terms = dict(lexical.question_terms("boilDetectC zeppelin"))
    assert names.unseen_share(terms, lexical, known) == 0.5
