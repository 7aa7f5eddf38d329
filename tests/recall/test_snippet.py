"""Extracts around the words of the question."""

import itertools
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.recall.snippet import ELLIPSIS, find_matches, make_snippet


def analyse(text: str) -> list[str]:
    """Lower-case words, a plural `s` cut; pairs of characters for scripts without blanks."""
    terms = []
    for word in re.findall(r"\w+", text.lower()):
        if re.search(r"[\u3040-\u9fff]", word):
            terms += [word[i : i + 2] for i in range(len(word) - 1)]
        else:
            terms.append(word.rstrip("s") or word)
    return terms


def marked(text: str, question: str, limit: int = 280) -> str:
    terms = dict.fromkeys(analyse(question), 1.0)
    snippet = make_snippet(text, terms, analyse, limit)
    out, at = [], 0
    for start, end in snippet.matches:
        out += [snippet.text[at:start], "[", snippet.text[start:end], "]"]
        at = end
    return "".join([*out, snippet.text[at:]])


def test_a_short_text_is_shown_whole_with_its_matches() -> None:
    assert marked("The kettle whistles.\n\nTwo  kettles do not.", "kettle") == (
        "The [kettle] whistles. Two [kettles] do not."
    )


def test_the_window_lies_around_the_match() -> None:
    text = "lorem ipsum " * 100 + "the blue kettle sings " + "dolor sit " * 100
    found = marked(text, "kettle", 60)
    assert "[kettle]" in found
    assert found.startswith(ELLIPSIS)
    assert found.endswith(ELLIPSIS)
    assert len(found) <= 60 + 4
    assert not re.search(r"…\S*m ", found.replace("ipsum", "").replace("lorem", ""))


def test_distinct_words_count_more_than_repeated_ones() -> None:
    text = "kettle kettle kettle " + "x " * 200 + "the kettle has a spout " + "y " * 200
    assert "[spout]" in marked(text, "kettle spout", 50)


def test_rare_words_count_more_than_common_ones() -> None:
    text = "where is it and the " + "x " * 200 + "gasket " + "y " * 200
    terms = {"where": 0.1, "i": 0.1, "it": 0.1, "gasket": 5.0}
    assert "gasket" in make_snippet(text, terms, analyse, 40).text


def test_without_a_match_it_is_the_beginning() -> None:
    assert marked("One two three. " * 50, "kettle", 30) == "One two three. One two three.…"


def test_scripts_without_blanks_match_by_pairs() -> None:
    assert marked("東京都の天気予報です", "天気予報") == "東京都の[天気予報]です"


def test_parts_of_identifiers_match() -> None:
    assert marked("use gin.trgm-ops here", "trgm") == "use gin.[trgm]-ops here"


def test_an_empty_text_gives_an_empty_snippet() -> None:
    assert marked("", "kettle") == ""
    assert marked(" \n ", "kettle") == ""


@given(
    text=st.text(alphabet=st.sampled_from("kettle spout\n\t.é東京天気🫖\u0301"), max_size=300),
    question=st.sampled_from(["kettle", "spout kettle", "天気", "é", ""]),
    limit=st.integers(1, 80),
)
def test_any_text_gives_a_line_whose_matches_are_the_words_asked_for(
    text: str, question: str, limit: int
) -> None:
    terms = dict.fromkeys(analyse(question), 1.0)
    snippet = make_snippet(text, terms, analyse, limit)
    assert not re.search(r"[\n\t]|  ", snippet.text)
    assert len(snippet.text) <= max(limit, max((len(w) for w in text.split()), default=0)) + 2
    ends = [0]
    for start, end in snippet.matches:
        assert ends[-1] <= start < end <= len(snippet.text)
        ends.append(end)


def test_matches_are_disjoint_and_in_order() -> None:
    terms = dict.fromkeys(analyse("天気予報 kettle"), 1.0)
    found = find_matches("kettle 天気予報天気 kettle", terms, analyse)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("piece", ["kettle ", "a", "天気", "a.", " ", "kettle spout x "])
def test_time_is_linear_in_the_text(piece: str, growth: Callable[..., float]) -> None:
    def snippet(size: int) -> None:
        make_snippet((piece * size)[:size], {"kettle": 1.0, "天気": 1.0}, analyse)

    assert growth(lambda: snippet(50_000), lambda: snippet(200_000), 0.01) < 8
