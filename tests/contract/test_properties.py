"""Title, tags, aliases and dates, in every form that has one sensible meaning."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.properties import (
    aliases,
    captured,
    parse_date,
    read_date,
    tags,
    text_of,
    title,
    updated,
)


def block(content: str) -> Frontmatter:
    return read_frontmatter(f"---\n{content}\n---\nbody".encode())


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("tags:\n  - boats\n  - boats/oars", ("boats", "boats/oars")),
        ("tags: [boats, oars]", ("boats", "oars")),
        ("tags: boats", ("boats",)),
        ("tags: boats, read", ("boats", "read")),
        ("tags: inbox boats/oars", ("inbox", "boats/oars")),
        ("tags: dry dock, slipway", ("dry dock", "slipway")),
        ("tags: |\n  boats\n  oars", ("boats", "oars")),
        ("tags:", ()),
        ("tags: []", ()),
        ("tags: ''", ()),
        ("tags: ','", ()),
        ("tags:\n- ", ()),
        ("tags:\n-\n- boats\n- ~\n- null", ("boats",)),
        ('tags: ["#boats"]', ("boats",)),
        ('tags: "#boats #oars"', ("boats", "oars")),
        ('tags: ["##boats"]', ("#boats",)),
        ("tags: #boats", ()),
        ("tags:\n- red team", ("red team",)),
        ("tags:\n- boats, oars", ("boats, oars",)),
        ("tags: [Boats, boats, BOATS]", ("Boats",)),
        ("tags: [2024, no, 1.10, 012]", ("2024", "no", "1.10", "012")),
        ("tags: 2024", ("2024",)),
        ('tags: \'["boats", "a, b"]\'', ("boats", "a, b")),
        ("tags: '[boats, oars]'", ("boats", "oars")),
        ("tags: '[\"boats\", 3]'", ("boats", "3")),
        ('tags: \'["boats", ["x"]]\'', ()),
        ("tags: '[\"boats\"'", ('["boats"',)),
        ("tags: {a: b}", ()),
        ("Tags: [boats]\ntag: oars", ("boats", "oars")),
        ("tags:\n- 名前\n- größe", ("名前", "größe")),
        ('tags: \'["\\u0000a", "\\ud800"]\'', ("\ufffda", "\ufffd")),
        ("other: x", ()),
    ],
)
def test_tags(written: str, expected: tuple[str, ...]) -> None:
    assert tags(block(written)) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("aliases:\n- Ruler\n- Straight edge", ("Ruler", "Straight edge")),
        ("aliases: Ruler, Straight edge", ("Ruler", "Straight edge")),
        ("aliases: Straight edge", ("Straight edge",)),
        ("aliases:\n- iter, iter_mut", ("iter, iter_mut",)),
        ("aliases:", ()),
        ("aliases:\n-", ()),
        ("aliases:\n- Lab: Notes & Co", ("Lab: Notes & Co",)),
        ("aliases:\n- Yes\n- 12\n- true\n- ?", ("Yes", "12", "true", "?")),
        ("aliases:\n- 0x1F\n- 012\n- 12:30", ("0x1F", "012", "12:30")),
        ("aliases: ['it''s', \"a \\\"b\\\"\"]", ("it's", 'a "b"')),
        ("aliases: [Ruler, ruler]", ("Ruler",)),
        ('aliases: \'["Ruler", "a, b"]\'', ("Ruler", "a, b")),
        ("aliases:\n- '#1 ruler'", ("#1 ruler",)),
        ("alias: Ruler", ("Ruler",)),
        ("aliases: [[Ruler]]", ("Ruler",)),
        ("aliases:\n- >-\n  two\n  lines\n- 'a\n\n  b'", ("two lines", "a b")),
    ],
)
def test_aliases(written: str, expected: tuple[str, ...]) -> None:
    assert aliases(block(written)) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("title: Harbour log", "Harbour log"),
        ("title: 2020-06-03", "2020-06-03"),
        ("title: '  Harbour   log '", "Harbour log"),
        ("title: >\n  Harbour\n  log", "Harbour log"),
        ("title:", None),
        ("title: ''", None),
        ("title: ~", None),
        ("title: 'null'", "null"),
        ("title: no", "no"),
        ("title: [a]", None),
        ("image:\n  title: inner", None),
        ("x: y", None),
    ],
)
def test_title(written: str, expected: str | None) -> None:
    assert title(block(written)) == expected


def test_no_title_comes_from_a_block_that_cannot_be_read() -> None:
    assert title(block("title: Tides: a study")) is None
    assert title(read_frontmatter(b"---\ntitle: x\n")) is None


def local(year: int, month: int, day: int, *clock: int) -> datetime:
    """A datetime without an offset, as it was written."""
    return datetime(year, month, day, *clock, tzinfo=UTC).replace(tzinfo=None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-05", date(2024, 1, 5)),
        ("1789-06-01", date(1789, 6, 1)),
        ("2024-01-05T09:30", local(2024, 1, 5, 9, 30)),
        ("2024-01-05 09:30", local(2024, 1, 5, 9, 30)),
        ("2024-01-05T09:30:01.5", local(2024, 1, 5, 9, 30, 1, 500_000)),
        (
            "2024-01-05T09:30:00+02:00",
            datetime(2024, 1, 5, 9, 30, tzinfo=timezone(timedelta(hours=2))),
        ),
        ("2024-01-05T09:30:00Z", datetime(2024, 1, 5, 9, 30, tzinfo=UTC)),
        ("2024-01-05 09:30:00 +0200", datetime(2024, 1, 5, 7, 30, tzinfo=UTC)),
        ("2024-02-30", None),
        ("2024-13-01", None),
        ("0000-01-01", None),
        ("2024-01-05T25:00", None),
        ("2024-01", None),
        ("20240105", None),
        ("05/01/2024", None),
        ("[[2024-01-05]]", None),
        ("٢٠٢٤-٠١-٠٥", None),
        ("2024-01-05 ", None),
        ("", None),
    ],
)
def test_dates(text: str, expected: date | datetime | None) -> None:
    found = parse_date(text)
    assert found == expected
    assert type(found) is type(expected)


def test_captured_falls_back_to_the_keys_other_tools_write_and_keeps_the_text() -> None:
    found = captured(block("date: 2020-01-01\ncreated: 2021-01-01\ncaptured: 2022-01-01 08:00"))
    assert found is not None
    assert (found.key, found.text, found.line) == ("captured", "2022-01-01 08:00", 4)
    found = captured(block("captured: last spring\ncreated:\ndate: '2020-01-01'"))
    assert found is not None
    assert (found.key, found.value) == ("date", date(2020, 1, 1))
    assert captured(block("captured: '[[2020-01]]'")) is None
    assert captured(block("x: y")) is None


def test_updated_and_single_dates() -> None:
    found = updated(block("modified: 2020-01-01"))
    assert found is not None
    assert found.value == date(2020, 1, 1)
    wrong = read_date(block("captured: soon"), "captured")
    assert wrong is not None
    assert (wrong.text, wrong.value) == ("soon", None)
    assert read_date(block("captured: [a]"), "captured") is None


def test_text_of_reads_scalars_only() -> None:
    found = block("a: ' x '\nb: [x]\nc:\nd: no")
    assert [text_of(found, key) for key in "abcde"] == ["x", None, None, "no", None]


@given(st.text(max_size=60))
def test_readers_never_fail_and_give_storable_text(text: str) -> None:
    data = f"---\ntags: {text}\naliases: '{text}'\ntitle: {text}\ncaptured: {text}\n---\n"
    found = read_frontmatter(data.encode("utf-8", "surrogatepass"))
    for value in (*tags(found), *aliases(found), title(found) or "x"):
        assert value == value.strip() != ""
        assert "\0" not in value
        value.encode()
    captured(found)
