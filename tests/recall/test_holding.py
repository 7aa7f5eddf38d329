"""The short way says the same as cutting the whole text into terms."""

from collections.abc import Callable
from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.index.lexical_terms import normal, words
from agentm_assets.recall.holding import Holding

Growth = Callable[[Callable[[], object], Callable[[], object], float], float]

_SAMPLE = """
kettle kettles boil boiled boiling flies fly dying die lie lying sky skies Größe größer grosse
naïve i18n x y iy git its 42 4200 snake_case getHTTP ﬁne fine İstanbul café cafés ééé
入門 日本語 サーバ カフェ 한국어 ไทย
"""
WORDS = st.sampled_from(_SAMPLE.split())
# Marks of other scripts belong to a word for the index, and to none for Python.
ANY = st.text(st.characters(exclude_categories=("Mn", "Mc", "Me", "Cs")), max_size=6)
TEXT = (
    st.lists(st.one_of(WORDS, ANY), max_size=12)
    .map(" ".join)
    .filter(lambda text: not any(category(sign)[0] == "M" for sign in normal(text)))
)


@given(question=TEXT, text=TEXT)
def test_it_holds_what_the_analysed_text_has(question: str, text: str) -> None:
    terms = dict.fromkeys(words(normal(question)), 1.0)
    found = Holding(terms).held(text)
    plain = {term for term in terms if term.isascii()}
    assert found & plain == plain & set(words(normal(text)))
    assert found <= terms.keys()


def test_scripts_without_blanks_are_found_by_their_pairs() -> None:
    holding = Holding(dict.fromkeys(words("日本語入門"), 1.0))
    assert holding.share(holding.held("これは日本語入門です")) == 1.0
    assert 0 < holding.share(holding.held("日本語だけ")) < 1
    assert not holding.held("中文")


def test_another_form_of_a_word_counts_as_the_word() -> None:
    holding = Holding({"go": 3.0, "harbour": 1.0})
    assert holding.held("We went away.") == {"go"}
    assert holding.share({"go"}) == 0.75
    assert Holding({"went": 1.0}).held("Let us go") == {"went"}


def test_without_terms_nothing_is_held() -> None:
    holding = Holding({})
    assert holding.held("anything at all, größer") == frozenset()
    assert holding.share(()) == 0.0


def test_a_long_text_takes_time_in_proportion(growth: Growth) -> None:
    holding = Holding(dict.fromkeys(words("kettle boil grosse fly"), 1.0))

    def text(size: int) -> str:
        return "ö" + "kettleboil ö" * size + "a" * size

    small, large = text(20_000), text(80_000)
    assert growth(lambda: holding.held(small), lambda: holding.held(large), 0.01) < 8
