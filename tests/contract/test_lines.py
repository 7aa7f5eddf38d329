"""Line ends are LF, CRLF and CR; everything else is text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.contract.lines import line_of, line_starts, split_lines

_PIECES = st.lists(
    st.sampled_from(["a", "", "## H", "\n", "\r\n", "\r", "\u2028", "\x0b", "\x0c", "\x85", "\x1c"])
)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_only_three_line_ends_exist(separator: str) -> None:
    text = f"first{separator}still first\n## Second"
    assert split_lines(text) == [f"first{separator}still first\n", "## Second"]
    assert line_of(line_starts(text), text.index("##")) == 2


def test_a_bare_carriage_return_ends_a_line_and_a_pair_ends_one() -> None:
    text = "a\rb\r\nc\n\rd"
    assert split_lines(text) == ["a\r", "b\r\n", "c\n", "\r", "d"]
    assert line_starts(text) == [0, 2, 5, 7, 8]
    assert [line_of(line_starts(text), i) for i in (0, 1, 2, 3, 4, 5, 8)] == [1, 1, 2, 2, 2, 3, 5]


def test_ends_of_the_text() -> None:
    assert split_lines("") == []
    assert line_starts("") == [0]
    assert split_lines("x\n") == ["x\n"]
    assert line_of(line_starts("x\n"), 2) == 2


@given(_PIECES)
def test_lines_join_to_the_text_and_agree_with_the_starts(pieces: list[str]) -> None:
    text = "".join(pieces)
    lines = split_lines(text)
    assert "".join(lines) == text
    starts = line_starts(text)
    offset = 0
    for number, line in enumerate(lines, start=1):
        assert line
        assert starts[number - 1] == offset
        assert {line_of(starts, offset + i) for i in range(len(line))} == {number}
        offset += len(line)
    data = text.encode()
    assert [line.encode() for line in lines] == split_lines(data)
    assert len(line_starts(data)) == len(starts)
