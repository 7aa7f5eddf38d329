"""What time phrases mean, for a clock that is given."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.recall.periods import Period, captured_day
from agentm_assets.recall.timephrases import (
    asked_order,
    asks_about_time,
    find_time_phrase,
    parse_when,
)

NOW = datetime(2026, 8, 19, 10, 30, tzinfo=UTC)  # a Wednesday


def days(first: str | None, last: str | None) -> Period:
    return Period(
        None if first is None else date.fromisoformat(first),
        None if last is None else date.fromisoformat(last),
    )


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what did I note yesterday about backups", "2026-08-18", "2026-08-18"),
        ("what changed today?", "2026-08-19", "2026-08-19"),
        ("what did we try last night", "2026-08-18", "2026-08-18"),
        ("the day before yesterday I wrote", "2026-08-17", "2026-08-17"),
        ("Which shell trick came up last week?", "2026-08-10", "2026-08-16"),
        ("decisions of this week", "2026-08-17", "2026-08-23"),
        ("what did I learn last month", "2026-07-01", "2026-07-31"),
        ("what did I learn this month", "2026-08-01", "2026-08-31"),
        ("what did I learn last year", "2025-01-01", "2025-12-31"),
        ("what was last quarter about", "2026-04-01", "2026-06-30"),
        ("over the weekend", "2026-08-15", "2026-08-16"),
        ("in the last week", "2026-08-10", "2026-08-19"),
        ("in the last 3 days", "2026-08-16", "2026-08-19"),
        ("within the past two months", "2026-06-19", "2026-08-19"),
        ("over the past year", "2025-08-19", "2026-08-19"),
        ("three days ago", "2026-08-16", "2026-08-16"),
        ("a couple of weeks ago", "2026-08-03", "2026-08-09"),
        ("a month ago", "2026-07-01", "2026-07-31"),
        ("two years ago", "2024-01-01", "2024-12-31"),
        ("last Monday", "2026-08-17", "2026-08-17"),
        ("on Friday we said", "2026-08-14", "2026-08-14"),
        ("last Wednesday", "2026-08-12", "2026-08-12"),
        ("last summer", "2025-06-01", "2025-08-31"),
        ("last December", "2025-12-01", "2025-12-31"),
        ("What did I learn about pipelines in March 2019?", "2019-03-01", "2019-03-31"),
        ("notes from May 2024", "2024-05-01", "2024-05-31"),
        ("in may", "2026-05-01", "2026-05-31"),
        ("in October", "2025-10-01", "2025-10-31"),
        ("in early June", "2026-06-01", "2026-06-10"),
        ("in 2019", "2019-01-01", "2019-12-31"),
        ("during summer 2024", "2024-06-01", "2024-08-31"),
        ("in Q3 2025", "2025-07-01", "2025-09-30"),
        ("on 2026-08-01", "2026-08-01", "2026-08-01"),
        ("in 2026-08", "2026-08-01", "2026-08-31"),
        ("in 2026-W32", "2026-08-03", "2026-08-09"),
        ("on 17 Feb 2022", "2022-02-17", "2022-02-17"),
        ("on February 17th, 2022", "2022-02-17", "2022-02-17"),
        ("on the 3rd of August", "2026-08-03", "2026-08-03"),
        ("on December 24", "2025-12-24", "2025-12-24"),
        ("since 2026-08-01", "2026-08-01", None),
        ("since last Friday", "2026-08-14", None),
        ("since yesterday", "2026-08-18", None),
        ("after March 2019", "2019-04-01", None),
        ("after 2026-08-01", "2026-08-02", None),
        ("from January onwards", "2026-01-01", None),
        ("before 2026-08-01", None, "2026-07-31"),
        ("earlier than last month", None, "2026-06-30"),
        ("until the end of July", None, "2026-07-31"),
        ("by 2026-08-01", None, "2026-08-01"),
        ("between 2024 and 2025", "2024-01-01", "2025-12-31"),
        ("between March and May", "2026-03-01", "2026-05-31"),
        ("from July 2023 to June 2027", "2023-07-01", "2027-06-30"),
        ("since June and before August", "2026-06-01", "2026-07-31"),
        ("on 07.05.2023", "2023-05-07", "2023-05-07"),
        ("on 7-5-2023", "2023-05-07", "2023-05-07"),
        ("on 5/7/2023", "2023-05-07", "2023-05-07"),
        ("on 13/7/2023", "2023-07-13", "2023-07-13"),
        ("in 05/2023", "2023-05-01", "2023-05-31"),
        ("from 3 to 7 May 2024", "2024-05-03", "2024-05-07"),
        ("between 3 and 7 May", "2026-05-03", "2026-05-07"),
        ("between May and July 2024", "2024-05-01", "2024-07-31"),
        ("from November to February 2024", "2023-11-01", "2024-02-29"),
        ("at Christmas 2024", "2024-12-24", "2024-12-26"),
        ("before Christmas", None, "2025-12-23"),
        ("since New Year", "2026-01-01", None),
        ("on New Year's Eve", "2025-12-31", "2025-12-31"),
        ("at Easter", "2026-04-03", "2026-04-06"),
        ("at Easter 2024", "2024-03-29", "2024-04-01"),
        ("on Thanksgiving 2024", "2024-11-28", "2024-11-28"),
        ("around Halloween", "2025-10-28", "2025-11-03"),
        ("at the end of 2025", "2025-09-02", "2025-12-31"),
        ("at the beginning of July", "2026-07-01", "2026-07-10"),
        ("late July", "2026-07-22", "2026-07-31"),
        ("in mid-May", "2026-05-11", "2026-05-21"),
        ("in Q3", "2026-07-01", "2026-09-30"),
        ("in 2025-Q4", "2025-10-01", "2025-12-31"),
        ("in the third quarter of 2025", "2025-07-01", "2025-09-30"),
        ("in the first half of 2025", "2025-01-01", "2025-06-30"),
        ("in H2 2025", "2025-07-01", "2025-12-31"),
        ("in week 14 of 2026", "2026-03-30", "2026-04-05"),
        ("calendar week 33", "2026-08-10", "2026-08-16"),
        ("in week 50", "2025-12-08", "2025-12-14"),
        ("in the summer", "2026-06-01", "2026-08-31"),
        ("in the winter of 2025", "2025-12-01", "2026-02-28"),
        ("this spring", "2026-03-01", "2026-05-31"),
        ("in the 2010s", "2010-01-01", "2019-12-31"),
        ("earlier this year", "2026-01-01", "2026-08-19"),
        ("the other day", "2026-08-05", "2026-08-18"),
        ("the week before last", "2026-08-03", "2026-08-09"),
        ("two quarters ago", "2026-01-01", "2026-03-31"),
        ("this past quarter", "2026-05-19", "2026-08-19"),
        ("an hour ago", "2026-08-19", "2026-08-19"),
        ("on the 7th?", "2026-08-07", "2026-08-07"),
        ("on the 30th", "2026-07-30", "2026-07-30"),
        ("Tuesday last week", "2026-08-11", "2026-08-11"),
        ("last week's Tuesday", "2026-08-11", "2026-08-11"),
        ("Monday's rehearsal", "2026-08-17", "2026-08-17"),
        ("since Monday", "2026-08-17", None),
    ],
)
def test_phrases_become_days(question: str, first: str | None, last: str | None) -> None:
    phrase = find_time_phrase(question, NOW)
    assert phrase is not None
    assert phrase.periods == (days(first, last),)


@pytest.mark.parametrize(
    "question",
    [
        "may I ask how this works",
        "I may 5 times try",
        "we march on",
        "in 2048 bits",
        "since 2000 rows were read",
        "is 2019 a prime",
        "python 3.2019 and version 2019.03",
        "acme/kettle#2019 and rfc-2019",
        "before the fall",
        "what happens on 2024-02-30",
        "the second option",
        "a list of Christmas presents",
        "Monday is a day",
        "in spring boot",
        "on the 2nd try",
        "Q3 is a name, and so is H2",
        "week 14 of the course",
        "version 1.2.2023.4 and 99/99/2023",
        "30.02.2024",
        "",
    ],
)
def test_ordinary_words_and_numbers_are_no_time(question: str) -> None:
    assert find_time_phrase(question, NOW) is None


def test_two_closed_phrases_are_alternatives() -> None:
    question = "What was added on 17 Feb 2022 and what did the September 2023 follow-up say?"
    phrase = find_time_phrase(question, NOW)
    assert phrase is not None
    assert phrase.periods == (days("2022-02-17", "2022-02-17"), days("2023-09-01", "2023-09-30"))
    assert [question[a:b] for a, b in phrase.spans] == ["on 17 Feb 2022", "September 2023"]
    assert phrase.holds(date(2023, 9, 4))
    assert not phrase.holds(date(2022, 3, 1))


def test_relative_phrases_are_told_from_absolute_ones() -> None:
    yesterday, march = (find_time_phrase(q, NOW) for q in ("yesterday", "in March 2019"))
    assert yesterday is not None
    assert yesterday.relative
    assert march is not None
    assert not march.relative


@pytest.mark.parametrize(
    ("question", "assumed"),
    [
        ("on 5/7/2023", ("5/7/2023 was read as 2023-05-07, the month first",)),
        ("on 13/7/2023", ()),
        ("on 7/7/2023", ()),
        ("on 05.07.2023", ()),
    ],
)
def test_what_was_assumed_of_a_date_is_said(question: str, assumed: tuple[str, ...]) -> None:
    phrase = find_time_phrase(question, NOW)
    assert phrase is not None
    assert phrase.assumed == assumed


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("the latest note on pumps", "newest"),
        ("what did I do lately", "newest"),
        ("the most recent entry", "newest"),
        ("has it failed recently?", "newest"),
        ("when was the first time", "oldest"),
        ("when did we first meet", "oldest"),
        ("the oldest entry", "oldest"),
        ("oldest and newest", None),
        ("the first step of the recipe", None),
        ("what was it", None),
    ],
)
def test_questions_for_the_new_or_the_old_are_recognised(question: str, order: str | None) -> None:
    assert asked_order(question) == order


def test_contradictory_bounds_are_no_phrase() -> None:
    assert find_time_phrase("after 2026-05-01 and before 2026-04-01", NOW) is None


def test_yesterday_follows_the_clocks_time_zone() -> None:
    moment = datetime(2026, 8, 19, 23, 30, tzinfo=UTC)
    tokyo = moment.astimezone(timezone(timedelta(hours=9)))
    phrase = find_time_phrase("yesterday", tokyo)
    assert phrase is not None
    assert phrase.periods == (days("2026-08-19", "2026-08-19"),)


@pytest.mark.parametrize(
    ("captured", "day"),
    [
        ("2026-08-01", "2026-08-01"),
        ("2026-08-01T23:30:00", "2026-08-01"),
        ("2026-08-01 23:30", "2026-08-01"),
        ("2026-08-01T23:30:00Z", "2026-08-02"),
        ("2026-08-01T00:30:00+09:00", "2026-07-31"),
        ("1789-06-01", "1789-06-01"),
        ("August", None),
        ("2026-02-30", None),
        ("", None),
    ],
)
def test_the_day_of_capture_is_the_operators_calendar_day(captured: str, day: str | None) -> None:
    found = captured_day(captured, timezone(timedelta(hours=2)))
    assert found == (None if day is None else date.fromisoformat(day))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026", "2026-01-01", "2026-12-31"),
        ("2026-08", "2026-08-01", "2026-08-31"),
        ("2026-08-01", "2026-08-01", "2026-08-01"),
        ("2026-08-01T12:00:00Z", "2026-08-01", "2026-08-01"),
        ("last week", "2026-08-10", "2026-08-16"),
        ("March 2019", "2019-03-01", "2019-03-31"),
        ("march", "2026-03-01", "2026-03-31"),
        (" yesterday ", "2026-08-18", "2026-08-18"),
    ],
)
def test_options_take_dates_and_phrases(text: str, first: str, last: str) -> None:
    assert parse_when(text, NOW) == days(first, last)


@pytest.mark.parametrize("text", ["", "soon", "2026-13", "2026-08-01 or so", "yesterday evening x"])
def test_options_refuse_what_is_no_time(text: str) -> None:
    assert parse_when(text, NOW) is None


@pytest.mark.parametrize(
    ("question", "temporal"),
    [
        ("When did I switch from one editor to the other?", True),
        ("What did I use before 2024?", True),
        ("Which editor did we use originally?", True),
        ("Which editor do we use?", False),
        ("whenever it rains", False),
    ],
)
def test_questions_about_time_are_recognised(question: str, temporal: bool) -> None:
    assert asks_about_time(question, find_time_phrase(question, NOW)) is temporal


@given(question=st.text(max_size=200), now=st.datetimes(timezones=st.just(UTC)))
def test_any_text_and_clock_give_sound_days_or_none(question: str, now: datetime) -> None:
    phrase = find_time_phrase(question, now)
    if phrase is not None:
        assert phrase.periods
        assert all(not period.is_empty for period in phrase.periods)
        assert all(0 <= a < b <= len(question) for a, b in phrase.spans)


WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        "in on since before after between and to from the last past 3 999 days weeks months years "
        "ago march may 17 feb 2019 2026-08-01 yesterday monday week summer q1 onwards by until",
    )
)


@given(words=st.lists(WORDS, max_size=12), now=st.datetimes(timezones=st.just(UTC)))
def test_any_pile_of_time_words_is_survived(words: list[str], now: datetime) -> None:
    phrase = find_time_phrase(" ".join(words), now)
    assert phrase is None or all(not period.is_empty for period in phrase.periods)


@pytest.mark.parametrize("piece", ["since ", "1 ", "the ", "a few ", "in the early ", "may 1 "])
def test_long_questions_take_no_longer_than_their_first_part(
    piece: str, growth: Callable[..., float]
) -> None:
    def find(repeats: int) -> None:
        find_time_phrase(piece * repeats, NOW)

    assert growth(lambda: find(2_000), lambda: find(40_000), 0.005) < 8
