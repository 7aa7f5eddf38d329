"""Taking a question apart, and refusing what cannot be used."""

from datetime import UTC, date, datetime

import pytest

from agentm_assets.recall.errors import QuestionRefused
from agentm_assets.recall.periods import Period
from agentm_assets.recall.question import LONGEST_QUESTION, RecallOptions, understand

NOW = datetime(2026, 8, 19, 10, 30, tzinfo=UTC)
OPTIONS = RecallOptions(now=NOW)


@pytest.mark.parametrize("question", ["", "  ", "\n\t"])
def test_an_empty_question_is_refused(question: str) -> None:
    with pytest.raises(QuestionRefused, match="empty"):
        understand(question, OPTIONS)


@pytest.mark.parametrize("k", [0, -1, 101])
def test_k_has_bounds(k: int) -> None:
    with pytest.raises(QuestionRefused, match="from 1 to 100"):
        understand("x", RecallOptions(now=NOW, k=k))


def test_a_long_question_is_shortened_and_that_is_said() -> None:
    asked = understand("kettle " * 3_000, OPTIONS)
    assert len(asked.text) == LONGEST_QUESTION
    assert asked.shortened
    assert not understand("x" * LONGEST_QUESTION, OPTIONS).shortened


def test_what_cannot_be_encoded_is_replaced() -> None:
    assert understand("a\udc80b\0c", OPTIONS).text == "a\ufffdb\ufffdc"


def test_words_about_the_clock_leave_the_topic_and_dates_stay() -> None:
    relative = understand("What did I note yesterday about kettles?", OPTIONS)
    assert relative.topic == "What did I note about kettles?"
    assert relative.text == "What did I note yesterday about kettles?"
    absolute = understand("What about kettles in March 2019?", OPTIONS)
    assert absolute.topic == absolute.text
    assert understand("yesterday", OPTIONS).topic == ""


@pytest.mark.parametrize(
    ("after", "before", "first", "last"),
    [
        ("2026-08-01", None, date(2026, 8, 1), None),
        (None, "2026-08-01", None, date(2026, 7, 31)),
        ("2026", "2026-03", date(2026, 1, 1), date(2026, 2, 28)),
        ("last week", None, date(2026, 8, 10), None),
        ("2026-08-01", "2026-08-02", date(2026, 8, 1), date(2026, 8, 1)),
        ("9999-12-31", None, date(9999, 12, 31), None),
        ("9999-12", "9999-12-31", date(9999, 12, 1), date(9999, 12, 30)),
        ("9999", None, date(9999, 1, 1), None),
        ("0001-01-01", "0001-01-02", date(1, 1, 1), date(1, 1, 1)),
        ("1815-06-18", "1816-01", date(1815, 6, 18), date(1815, 12, 31)),
    ],
)
def test_options_bound_the_day_of_capture(
    after: str | None, before: str | None, first: date | None, last: date | None
) -> None:
    asked = understand("x", RecallOptions(now=NOW, after=after, before=before))
    assert asked.bounds == Period(first, last)


@pytest.mark.parametrize(
    ("after", "before", "said"),
    [
        ("soon", None, "after 'soon' is no time"),
        (None, "", "before '' is no time"),
        ("2026-08-02", "2026-08-01", "Swap the two"),
        ("2026-08-01", "2026-08-01", "Swap the two"),
        (None, "0001-01-01", "no day is before '0001-01-01'"),
        ("2026-02-30", None, "is no time"),
        ("2026-13", None, "is no time"),
    ],
)
def test_impossible_bounds_are_refused(after: str | None, before: str | None, said: str) -> None:
    with pytest.raises(QuestionRefused, match=said):
        understand("x", RecallOptions(now=NOW, after=after, before=before))


def test_an_archive_query_is_recognised_in_words_and_as_an_option() -> None:
    assert understand("what is in the archive about kettles", OPTIONS).wants_archive
    assert understand("x", RecallOptions(now=NOW, include_archived=True)).wants_archive
    assert not understand("what about archivists", OPTIONS).wants_archive
