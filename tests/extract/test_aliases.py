"""Aliases that a note's own words give: acronyms, compound identifiers and their parts."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.extract.acronyms import find_acronyms
from agentm_assets.extract.aliases import MAX_ALIASES, code_spans_of, derive_aliases, fold
from agentm_assets.extract.identifiers import find_identifiers, identifier_parts
from agentm_assets.extract.mask import ALL, blank, find_regions
from agentm_assets.extract.model import Alias


def aliases(body: str, title: str = "", own: Sequence[str] = ()) -> tuple[Alias, ...]:
    regions = find_regions(body)
    masked = blank(body, regions, ALL)
    return derive_aliases(title, body, masked, code_spans_of(body, regions), own)


def names(body: str, title: str = "", own: Sequence[str] = ()) -> list[str]:
    return [each.alias for each in aliases(body, title, own)]


@pytest.mark.parametrize(
    ("text", "term", "acronym"),
    [
        ("the Write-Ahead Log (WAL) grows", "Write-Ahead Log", "WAL"),
        ("the WAL (Write-Ahead Log) grows", "Write-Ahead Log", "WAL"),
        ("a time to live (TTL)", "time to live", "TTL"),
        ("a time-to-live (TTL) of", "time-to-live", "TTL"),
        ("Internet of Things (IoT)", "Internet of Things", "IoT"),
        ("the Department of Tea and Kettles (DTK)", "Department of Tea and Kettles", "DTK"),
        ("a proof of concept (PoC)", "proof of concept", "PoC"),
        ("Research and Development (R&D)", "Research and Development", "R&D"),
        ("Research & Development (R&D)", "Research & Development", "R&D"),
        ("Create, Read, Update, Delete (CRUD)", "Create, Read, Update, Delete", "CRUD"),
        ("CRUD (create, read, update and delete)", "create, read, update and delete", "CRUD"),
        ("large language models (LLMs)", "large language models", "LLM"),
        ("SLOs (service level objectives)", "service level objectives", "SLO"),
        ("JavaScript Object Notation (JSON)", "JavaScript Object Notation", "JSON"),
        ("Secure Hash Algorithm 256 (SHA-256)", "Secure Hash Algorithm 256", "SHA-256"),
        ("TTL (time to live, in seconds)", "time to live", "TTL"),
        ("TTL (the time to live)", "time to live", "TTL"),
        ("**Write-Ahead Log** (WAL)", "Write-Ahead Log", "WAL"),
        ("[Write-Ahead Log](https://x.org/wal) (WAL)", "Write-Ahead Log", "WAL"),
        ("Done. Write-Ahead\nLog (WAL)", "Write-Ahead Log", "WAL"),
        ("over temperature and over temperature protection (OTP)",
         "over temperature protection", "OTP"),
        ("Électricité de France (EDF)", None, None),
        ("Über die Welt (ÜDW)", None, None),
    ],
)  # fmt: skip
def test_acronyms(text: str, term: str | None, acronym: str | None) -> None:
    expected = [] if term is None else [(term, acronym)]
    assert find_acronyms(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the write log (WAL)",
        "Write Ahead (WAL)",
        "Write Big Ahead Log (WAL)",
        "Ahead Write Log (WAL)",
        "Hypertext Markup Language (HTML)",
        "the kettle (see below)",
        "the kettle (A)",
        "one two three four five six seven eight nine (OTTFFSSEN)",
        "the kettle (not)",
        "the kettle (Not)",
        "Write-Ahead Log. (WAL)",
        "Write-Ahead\n\nLog (WAL)",
        "- Write-Ahead\n- Log (WAL)",
        "Write-Ahead Log      (WAL)",
        "Write      Ahead Log (WAL)",
        "o" + "w" * 200 + " Ahead Log (WAL)",
        "the water area (Wa)",
        "WAL (a big kettle)",
        "WAL (Write-Ahead Log buffers)",
        "Write Ahead (of) Log (WAL)",
        "Non-Write-Ahead Log (WAL)",
        "",
    ],
)
def test_brackets_that_hold_no_acronym(text: str) -> None:
    assert find_acronyms(text) == []


def test_acronym_both_ways_become_aliases() -> None:
    assert names("The over-temperature cutoff (OTC) trips.") == ["OTC", "over-temperature cutoff"]
    assert names("The `OTC` (over-temperature cutoff) trips.") == names(
        "OTC (over-temperature cutoff)"
    )


def test_acronym_in_fenced_code_or_comment_is_none() -> None:
    assert names("```\nWrite-Ahead Log (WAL)\n```\n<!-- Write-Ahead Log (WAL) -->") == []


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("idx_timestamp_desc", ["idx", "timestamp", "desc"]),
        ("getHTTPResponse", ["get", "HTTP", "Response"]),
        ("OAuth2Token", ["OAuth2", "Token"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("parseURLs", ["parse", "URLs"]),
        ("utf8Decode", ["utf8", "Decode"]),
        ("userID", ["user", "ID"]),
        ("os.path.join", ["os", "path", "join"]),
        ("edit-not-write", ["edit", "write"]),
        ("MAX_BOIL_SECONDS", ["MAX", "BOIL", "SECONDS"]),
        ("kettle.readTemp", ["kettle", "readTemp", "read", "Temp"]),
        ("heater_loop.c", ["heater", "loop"]),
        ("base64", []),
        ("URLs", []),
        ("iPhone", []),
        ("x_1", []),
        ("__init__", ["init"]),
    ],
)
def test_parts(name: str, parts: list[str]) -> None:
    assert identifier_parts(name) == parts


@pytest.mark.parametrize(
    ("prose", "found"),
    [
        ("the idx_timestamp_desc index", ["idx_timestamp_desc"]),
        ("call get_temp() twice", ["get_temp"]),
        ("*heater_loop*, (heater_loop).", ["heater_loop", "heater_loop"]),
        ("in src/heater_loop.c there", ["heater_loop.c"]),
        ("MAX_BOIL_SECONDS", ["MAX_BOIL_SECONDS"]),
        ("os.path.join and asyncio.gather.", ["os.path.join", "asyncio.gather"]),
        ("edit config.toml now", ["config.toml"]),
        ("getHTTPResponse returns", ["getHTTPResponse"]),
        ("an OAuth2Token expires", ["OAuth2Token"]),
        ("an HttpRetryPolicy", ["HttpRetryPolicy"]),
        ("the class RetryPolicy", ["RetryPolicy"]),
        ("a RetryPolicy object", ["RetryPolicy"]),
        ("RetryPolicy() returns", ["RetryPolicy"]),
        ("größe_der_kanne", ["größe_der_kanne"]),
    ],
)
def test_identifiers_in_prose(prose: str, found: list[str]) -> None:
    assert find_identifiers(prose) == found


@pytest.mark.parametrize(
    "prose",
    [
        "Plain prose, with commas; and a well-known, up-to-date, state-of-the-art phrase.",
        "We pushed it to GitHub from a MacBook, in JavaScript, on YouTube.",
        "The URLs, IDs, PRs and APIs of macOS, iOS and iPadOS.",
        "An iPhone, an eBay bid, 3 kWh at 50 MHz, 2 mAh, a PhD, NaN, IPv6.",
        "See e.g. this, i.e. that, at 5 p.m. in the U.S. for Mr.Smith.",
        "The end.Start of the next.",
        "Node.js and ASP.NET at example.com, docs.example.org and www.Example.com/aB_c.",
        "Write to ann_lee@example.org or see https://example.org/some_path/getHTTP.",
        "Version 1.2.3 of 2026-08-18, v1.2 at 12:30.",
        "_emphasis_ and __strong__ and snake_ and _x",
        "x_1, H_2O and y_i",
        "a" * 50 + "_" + "b" * 50,
        "A #multi_word_tag and :white_check_mark: here",
        "[[some_other_note]] and [x](other_note.md) and ![[big_picture.png]]",
        "See tracker.md and IDEAS.md.",
        "<img src=\"big_picture.png\" class='some_class'>",
        "薬缶を火にかける。お茶は八十度。",
    ],
)
def test_plain_prose_yields_none(prose: str) -> None:
    assert names(prose, title=prose) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("edit-not-write", ["edit-not-write"]),
        ("git commit --no-verify", ["no-verify"]),
        ("systemctl restart kettle-agent.service", ["kettle-agent.service"]),
        ("RetryPolicy", ["RetryPolicy"]),
        ("df.to_parquet()", ["df.to_parquet"]),
        ("self.x", ["self.x"]),
        ("src/heater_loop.c", ["heater_loop.c"]),
        ("ls -la", []),
        ("2026-08-18", []),
        ("550e8400-e29b-41d4-a716-446655440000", []),
        ("e29b-41d4-a716", []),
        ("https://example.org/some-path", []),
        ("some-note.md", []),
        ("a" * 50 + "_" + "b" * 50, []),
        ("x", []),
        ("", []),
    ],
)
def test_identifiers_in_code(code: str, found: list[str]) -> None:
    assert find_identifiers(code, in_code=True) == found


def test_kebab_case_counts_in_code_only() -> None:
    assert names("the edit-not-write rule") == []
    assert names("the `edit-not-write` rule") == ["edit", "edit-not-write", "write"]


def test_title_is_scanned() -> None:
    assert names("Text.", title="Why idx_ts broke the Write-Ahead Log (WAL)") == [
        "idx",
        "idx_ts",
        "ts",
        "WAL",
        "Write-Ahead Log",
    ]
    assert names("Text.", title="The `dry-run` flag") == ["dry", "dry-run", "run"]


def test_fenced_code_gives_none() -> None:
    assert names("Run it:\n\n```python\nget_temp(kettle_id)\n```\n\n    other_name()\n") == []


def test_code_spans_of_leaves_out_blocks_and_backticks() -> None:
    body = "a `one-two` ``three`four`` b\n\n```\nfive_six\n```\n"
    assert code_spans_of(body, find_regions(body)) == ("one-two", "three`four")


def test_own_aliases_come_first_in_their_order_and_keep_their_spelling() -> None:
    found = aliases("The idx_ts index.", own=["zeta", "Idx_TS", " the  big\tindex "])
    assert [(each.alias, each.origin) for each in found] == [
        ("zeta", "own"),
        ("Idx_TS", "own"),
        ("the big index", "own"),
        ("idx", "derived"),
        ("ts", "derived"),
    ]


def test_own_aliases_equal_but_for_case_count_once() -> None:
    assert names("", own=["Kettle", "kettle", "KETTLE ", "", "  "]) == ["Kettle"]
    assert names("", own=["Cafe\u0301", "CAFÉ"]) == ["Cafe\u0301"]


def test_own_aliases_are_never_cut() -> None:
    own = [f"name {number}" for number in range(30)]
    assert names("The idx_ts index.", own=own) == own


def test_whole_names_win_over_parts_when_there_is_no_room() -> None:
    body = " ".join(f"name{letter}_part{letter}" for letter in "abcdefghijklmnopqrstuvwx")
    found = names(body, own=["mine"])
    assert found == ["mine", *(f"name{x}_part{x}" for x in "abcdefghijklmnopqrstuvw")]


def test_title_and_acronyms_win_over_other_names() -> None:
    body = "Zebra Crossing (ZC). " + " ".join(
        f"a{letter}_b{letter}" for letter in "abcdefghijklmnopqrstuvwxyz" * 2
    )
    found = names(body, title="The zz_top index")
    assert {"zz_top", "ZC", "Zebra Crossing"} <= set(found)
    assert len(found) == MAX_ALIASES


def test_aliases_are_safe_to_store() -> None:
    (alias,) = aliases("", own=[b"caf\xff\x00e".decode("utf-8", "surrogateescape")])
    assert alias.alias == "caf\ufffd\ufffde"


PIECES = st.sampled_from(
    [
        "idx_timestamp_desc", "getHTTPResponse", "os.path.join", "Write-Ahead Log (WAL)", "`", "``",
        "`edit-not-write`", "WAL (", "(WAL)", ")", " ", "\n", "\n\n", "```", "Idx_Timestamp_Desc",
        "GETHTTP", "_", ".", "-", "[[", "]]", "](", "https://x.org/a_b", "é", "\ud800", "Ab", "AB",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join)


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=4))
def test_aliases_are_distinct_capped_and_sorted(body: str, title: str, own: list[str]) -> None:
    found = aliases(body, title, own)
    keys = [fold(each.alias) for each in found]
    assert len(keys) == len(set(keys))
    assert len(found) <= MAX_ALIASES
    derived = [fold(each.alias) for each in found if each.origin == "derived"]
    assert derived == sorted(derived)
    assert [each.origin for each in found] == sorted((e.origin for e in found), reverse=True)
    assert found == aliases(body, title, own)
    for each in found:
        assert each.alias.strip() == each.alias != ""
        each.alias.encode("utf-8")


@given(TEXTS)
def test_order_of_what_is_found_does_not_depend_on_the_order_of_the_text(body: str) -> None:
    paragraphs = ["The idx_ts index.", "Some `dry-run`.", "Write-Ahead Log (WAL)."]
    assert names("\n\n".join(paragraphs)) == names("\n\n".join(reversed(paragraphs)))


def derive(text: str) -> None:
    derive_aliases(text[:1000], text, text, (text,), ())


@pytest.mark.parametrize(
    "unit",
    [
        "a_", "a.", "A.", "(", "(A", "A(", "A (a ", "WAL (", "aB", "aB,", "AB", "A", "_", ".", "-",
        "a-", "`A", "](", "[](", "a_b ", "aB class ", "Write Log (WAL) ", "a (AA) ", "a ", " ", "1",
    ],
)  # fmt: skip
def test_time_is_linear(unit: str, growth: Callable[..., float]) -> None:
    small, large = (unit * 25_000)[:25_000], (unit * 100_000)[:100_000]
    assert growth(lambda: derive(small), lambda: derive(large), 0.004) < 8
