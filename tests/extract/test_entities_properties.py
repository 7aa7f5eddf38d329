"""What holds for every text: order, offsets, determinism, and time that grows with length alone."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.extract.entities import entities_in_question, extract_entities
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.extract.model import EntityMention

CONTEXT = EntityContext(
    repo="acme/kettle",
    jira_projects=("KET",),
    gerrit_hosts=("review.example.org",),
    gitlab_hosts=("gl.example.org",),
)

PIECES = st.sampled_from(
    [
        "acme/kettle#12", "Acme/Kettle#12", "acme/lid@9fceb02d", "#12", "#123456", "GH-7", "@ann",
        "https://github.com/acme/kettle/issues/12", "https://x.org/a_(b)", "KET-3", "CL 12345",
        "commit 9fceb02", "see ", "issue ", "[", "]", "](", ")", "[[", "]]", "|", "`", " ", "\n",
        "\n\n", "\r\n", "[k]: ", "<", ">", '="', '"', "é", "薬", "\ud800", "\0", ".", ",", "and ",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=30).map("".join)


def extract(text: str) -> tuple[EntityMention, ...]:
    return extract_entities(text, text, CONTEXT, lambda at: at)


@given(TEXTS)
def test_mentions_are_distinct_ordered_and_in_the_text(text: str) -> None:
    found = extract(text)
    keys = [each.key for each in found]
    assert len(keys) == len(set(keys))
    assert [each.start for each in found] == sorted(each.start for each in found)
    for each in found:
        assert each.count >= 1
        assert each.key.startswith(f"{each.kind}:")
        if each.kind != "repo" and "\0" not in each.surface and "@" not in each.surface:
            assert text.startswith(each.surface.split("\ufffd")[0], each.start)
        each.key.encode("utf-8")
        each.surface.encode("utf-8")


@given(TEXTS)
def test_text_after_a_blank_line_changes_no_earlier_key(text: str) -> None:
    before = {each.key for each in extract(text) if each.kind in ("issue", "jira", "person")}
    after = {each.key for each in extract(text + "\n\nThe end.\n")}
    assert before <= after


@given(TEXTS)
def test_blanked_text_names_nothing(text: str) -> None:
    blank = "".join(char if char in "\r\n" else " " for char in text)
    assert extract_entities(text, blank, CONTEXT, lambda at: at) == ()


@given(TEXTS)
def test_question_keys_are_distinct(question: str) -> None:
    keys = entities_in_question(question, CONTEXT)
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    "unit",
    [
        "#", "@", "a/", " a/", "(", "[", "](", "[](", "[](<", "[](a", "[[a|b", "https://", "https://x(",
        "[k]: ", '="', "#1 ", "see #1, ", "commit 9fceb02, ", "a1", "A-1-", "CVE-2024-", "@a ",
        "[see #1](https://github.com/a/b/issues/1) ", "[a][b]\n\n[b]: https://x.org\n", "!1 ",
        ",a/a/a/a/a", " ",
    ],
)  # fmt: skip
def test_time_is_linear_in_repeats(unit: str, growth: Callable[..., float]) -> None:
    small = (unit * 25_000)[:25_000]
    large = (unit * 100_000)[:100_000]
    assert growth(lambda: extract(small), lambda: extract(large), 0.004) < 8


@pytest.mark.parametrize(
    ("head", "unit", "tail"),
    [
        ("https://x.org/", "(", ""),
        ("https://x.org/", ")", ""),
        ("https://x.org/", "[]", ""),
        ("https://x.org/?", "a&", ""),
        ("[k]:", " ", ""),
        ("[x](", " ", ")"),
        ("", "[", "x" + "](u)" * 9),
    ],
)
def test_time_is_linear_in_one_long_piece(
    head: str, unit: str, tail: str, growth: Callable[..., float]
) -> None:
    small, large = head + unit * 25_000 + tail, head + unit * 100_000 + tail
    assert growth(lambda: extract(small), lambda: extract(large), 0.004) < 8


def test_time_is_linear_where_angle_brackets_never_close(growth: Callable[..., float]) -> None:
    small, large = "[](<薬" * 12_500, "[](<薬" * 50_000
    assert growth(lambda: extract(small), lambda: extract(large), 0.004) < 8
