"""What of its neighbours goes with a chunk into the search by words."""

from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.index.window import MOST_CHARS, REACH, windows


def test_two_neighbours_on_each_side_go_along() -> None:
    found = windows("T", ["a", "b", "c", "d", "e", "f"])
    assert found[0] == ("T", "a", "b", "c")
    assert found[2] == ("T", "a", "b", "c", "d", "e")
    assert found[5] == ("T", "d", "e", "f")
    assert windows("T", []) == []


def test_of_a_long_neighbour_the_near_end_goes_along_without_torn_words() -> None:
    long = " ".join(f"word{number:03}" for number in range(200))
    title, before, own, after = windows("T", [long, "own", long])[1]
    assert (title, own) == ("T", "own")
    assert long.endswith(f" {before}") and long.startswith(f"{after} ")
    assert MOST_CHARS - 8 <= len(before) <= MOST_CHARS
    assert MOST_CHARS - 8 <= len(after) <= MOST_CHARS


@given(st.lists(st.text(max_size=700), max_size=6))
def test_the_own_text_is_whole_and_the_rest_bounded(texts: list[str]) -> None:
    for text, window in zip(texts, windows("T", texts), strict=True):
        assert text in window
        assert sum(map(len, window)) <= len(text) + 2 * REACH * MOST_CHARS + 1
