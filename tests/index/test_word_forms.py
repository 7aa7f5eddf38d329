"""Forms that no stemmer brings together, and questions that use another one than the note."""

from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.index.lexical import LexicalDoc, LexicalReader
from agentm_assets.index.lexical_terms import words
from agentm_assets.index.word_forms import other_forms


def test_forms_name_each_other() -> None:
    assert set(other_forms("go")) == {"went", "gone"}
    assert other_forms("child") == ("children",)
    for form in ("went", "bought", "children", "written"):
        (term,) = words(form)
        assert all(term in other_forms(other) for other in other_forms(term))
        assert term not in other_forms(term)


@given(st.text(max_size=20))
def test_any_text_may_be_asked_for(text: str) -> None:
    assert isinstance(other_forms(text), tuple)


def doc(number: int, body: str) -> LexicalDoc:
    return LexicalDoc(number, f"{number}.md", "Title", "", "", body, f"Title\n{body}")


def test_a_form_finds_the_other_and_the_asked_one_comes_first() -> None:
    others = [doc(n, f"The kettle number {n} stands here.") for n in range(10, 30)]
    reader = LexicalReader.in_memory(
        [doc(1, "We went to the harbour."), doc(2, "They go to the harbour."), *others]
    )
    assert [hit.chunk_id for hit in reader.search("Who went?", 5)] == [1, 2]
    assert [hit.chunk_id for hit in reader.search("Who will go?", 5)] == [2, 1]


def test_a_rare_form_earns_no_more_than_the_common_one_that_was_asked() -> None:
    common = [doc(n, "They buy things here every day.") for n in range(10, 40)]
    reader = LexicalReader.in_memory([doc(1, "They bought things here every day."), *common])
    scores = {hit.chunk_id: hit.score for hit in reader.search("buy", 50)}
    assert scores[1] <= scores[10] * 1.001
