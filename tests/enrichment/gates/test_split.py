"""Long notes in fragments: along headings first, then paragraphs, and nothing lost."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.enrichment.split import Fragment, split_source
from agentm_assets.enrichment.subject import Subject

Note = Callable[..., Subject]


@pytest.fixture(scope="session")
def split(note: Note) -> Callable[..., tuple[Fragment, ...]]:
    def cut(text: str, limit: int) -> tuple[Fragment, ...]:
        return split_source(note(text, title="The whole"), limit)

    return cut


def test_a_note_that_fits_is_one_fragment(split: Callable[..., tuple[Fragment, ...]]) -> None:
    (only,) = split("# One\n\ntext\n", 100)
    assert (only.text, only.title, only.number, only.total) == ("# One\n\ntext\n", "One", 1, 1)
    assert split("", 10) == ()


def test_headings_divide_before_paragraphs_do(
    split: Callable[..., tuple[Fragment, ...]],
) -> None:
    text = (
        "Before all.\n\n# One\n\naaaa aaaa\n\naaaa aaaa\n\n# Two\n\n## Inner\n\nbbbb bbbb bbbb\n\n"
        "## Outer\n\ncccc cccc cccc\n"
    )
    parts = split(text, 34)
    assert [part.text.strip().partition("\n")[0] for part in parts] == [
        "Before all.",
        "# One",
        "# Two",
        "## Outer",
    ]
    assert [part.title for part in parts] == ["The whole", "One", "Two", "Outer"]
    assert [(part.number, part.total) for part in parts] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert {part.derived_from.key for part in parts} == {
        "Agent/memory/procedural/2026/04/watchdog.md"
    }


def test_a_long_section_is_cut_between_paragraphs_not_in_code(
    split: Callable[..., tuple[Fragment, ...]],
) -> None:
    code = "```\none\n\ntwo\n```"
    parts = split(f"aaaa aaaa aaaa\n\n{code}\n\nbbbb bbbb bbbb\n", 20)
    assert [part.text.strip() for part in parts] == ["aaaa aaaa aaaa", code, "bbbb bbbb bbbb"]
    # The first half of the code would fit beside what stands before it.
    assert [part.text.strip() for part in split(f"aa\n\n{code}\n", 18)] == ["aa", code]


def test_then_lines_then_words_then_anywhere(
    split: Callable[..., tuple[Fragment, ...]],
) -> None:
    assert [part.text for part in split("aaaa\nbbbb\ncccc", 9)] == ["aaaa\nbbbb\n", "cccc"]
    assert [part.text for part in split("aaaa bbbb cccc", 9)] == ["aaaa bbbb ", "cccc"]
    assert [part.text for part in split("a" * 25, 10)] == ["a" * 10, "a" * 10, "a" * 5]


def test_a_heading_in_code_or_a_quote_divides_nothing(
    split: Callable[..., tuple[Fragment, ...]],
) -> None:
    parts = split("```\n# no\n```\n\n> # nor this\n\n# Yes\n\ntext\n", 30)
    assert [part.title for part in parts] == ["The whole", "Yes"]


_BITS = st.sampled_from(
    [
        "# A\n",
        "## B\n\n",
        "word ",
        "\n\n",
        "\r\n",
        "\r",
        "```\n",
        "> ",
        "- x\n",
        "=====\n",
        "%%",
        " ",
    ]
)


@given(
    st.lists(st.one_of(_BITS, st.text(max_size=12)), max_size=40).map("".join),
    st.integers(1, 60),
)
def test_nothing_is_lost_and_each_fragment_fits(
    split: Callable[..., tuple[Fragment, ...]], text: str, limit: int
) -> None:
    text = text.encode("utf-8", "replace").decode()
    parts = split(text, limit)
    assert "".join(part.text for part in parts) == text
    assert all(len(part.text.strip()) <= limit for part in parts)
    assert all(part.text for part in parts)
    assert parts == split(text, limit)


@pytest.mark.parametrize(
    "piece", ["# A\n\ntext\n\n", "text\n\n", "a b ", "a", "\n", "- a\n", "## B\n"]
)
def test_time_grows_with_the_text_and_not_faster(
    split: Callable[..., tuple[Fragment, ...]],
    piece: str,
    growth: Callable[[Callable[[], object], Callable[[], object], float], float],
) -> None:
    small, large = (piece * (size // len(piece)) for size in (50_000, 200_000))
    assert growth(lambda: split(small, 1_000), lambda: split(large, 1_000), 0.01) < 8
