"""Unknown words of a question and what is searched for instead."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.index.corrections import MOST_UNKNOWN, edits
from agentm_assets.index.lexical import LexicalPublisher, LexicalReader
from agentm_assets.index.lexical_fresh import FreshLexical, MeanLengths, analysed
from agentm_assets.index.lexical_schema import LexicalDoc

TEXT = "kubernetes ingress database whisky Wertpapier Москва größe running pods often seldom"


def doc(number: int, text: str) -> LexicalDoc:
    return LexicalDoc(number, f"{number}.md", "", "", "", text, (text,))


@pytest.fixture
def reader(tmp_path: Path) -> LexicalReader:
    docs = [doc(0, TEXT), doc(1, "bonds bands"), doc(2, "bands")]
    LexicalPublisher(tmp_path).publish("i", 0, docs, (), full=True)
    return LexicalReader.open(tmp_path)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("kuberntes", "kubernetes"),  # one is missing
        ("kubernettes", "kubernetes"),  # one too many
        ("ingresss", "ingress"),
        ("kubernetse", "kubernetes"),  # swapped
        ("Kuvernetes", "kubernetes"),  # wrong
        ("kbuernetes", "kubernetes"),
        ("kobernetes", "kubernetes"),
        ("kkubernetes", "kubernetes"),
        ("kubrntes", "kubernetes"),  # two are missing
        ("ubernetes", "kubernetes"),
        ("iubernetes", "kubernetes"),
        ("ingres", "ingress"),
        ("databse", "database"),
        ("whiskey", "whisky"),
        ("Wertpapeir", "wertpapier"),
        ("Мосва", "москва"),
        ("groesse", "grosse"),
        ("runing", "running"),
    ],
)
def test_a_typo_is_taken_for_the_word_that_was_meant(
    reader: LexicalReader, asked: str, meant: str
) -> None:
    (found,) = reader.corrections(f"what about {asked}?")
    assert (found.word, found.meant) == (asked, meant)
    assert [hit.chunk_id for hit in reader.search(found.meant, 5)] == [0]


@pytest.mark.parametrize(
    "asked",
    [
        "kubernetes and whisky",  # known
        "wiky",  # two edits of four letters
        "ingressor bonder",  # other words, made of known ones
        "ofn",  # short
        "ingres2",  # no word
        "kubr",  # a beginning
        "the what of",
        "東京都",
        "",
    ],
)
def test_other_words_are_left_alone(reader: LexicalReader, asked: str) -> None:
    assert reader.corrections(asked) == []


def test_of_two_near_words_the_more_frequent_is_meant(reader: LexicalReader) -> None:
    assert [each.meant for each in reader.corrections("bunds")] == ["bands"]


def test_only_the_first_unknown_words_are_looked_up(reader: LexicalReader) -> None:
    asked = "ingres databse whiskey Wertpapeir runing"
    assert len(reader.corrections(asked)) == MOST_UNKNOWN


def test_a_word_of_a_note_captured_a_moment_ago_is_known(reader: LexicalReader) -> None:
    means = MeanLengths(1.0, 1.0, 20.0, 20.0)
    fresh = FreshLexical(reader, [analysed(doc(7, "the databse of Ingres"))], means)
    assert fresh.corrections("ingres kuberntes") == reader.corrections("kuberntes")


def test_a_word_of_a_note_captured_a_moment_ago_may_be_meant(reader: LexicalReader) -> None:
    means = MeanLengths(1.0, 1.0, 20.0, 20.0)
    text = "Zookeeper upgrades happen on Sunday, those of kubernatas"
    fresh = FreshLexical(reader, [analysed(doc(7, text))], means)

    def meant(question: str) -> list[tuple[str, str]]:
        return [(each.word, each.meant) for each in fresh.corrections(question)]

    assert reader.corrections("zookeper upgrdes") == []
    assert meant("zookeper upgrdes") == [("zookeper", "zookeeper"), ("upgrdes", "upgrades")]
    assert meant("zookeeper upgrade on Sunday") == []
    assert meant("kuberntes") == [("kuberntes", "kubernetes")]  # the nearer of the two
    assert meant("kuberntas") == [("kuberntas", "kubernatas")]
    assert meant("whiskey") == [("whiskey", "whisky")]  # the index alone has it
    assert [hit.chunk_id for hit in fresh.search("upgrades", 5)] == [7]


def plain_distance(one: str, other: str) -> int:
    rows = [list(range(len(other) + 1))]
    for at, letter in enumerate(one, start=1):
        rows.append([at])
        for to, its in enumerate(other, start=1):
            cost = min(rows[-2][to] + 1, rows[-1][to - 1] + 1, rows[-2][to - 1] + (letter != its))
            if at > 1 and to > 1 and letter == other[to - 2] and its == one[at - 2]:
                cost = min(cost, rows[-3][to - 2] + 1)
            rows[-1].append(cost)
    return rows[-1][-1]


@given(one=st.text("abc", max_size=8), other=st.text("abc", max_size=8))
def test_edits_are_those_of_the_whole_table(one: str, other: str) -> None:
    for most in (1, 2):
        assert edits(one, other, most) == min(most + 1, plain_distance(one, other))


def test_a_page_of_unknown_words_costs_no_more_than_some(
    reader: LexicalReader, growth: Callable[..., float]
) -> None:
    def look(count: int) -> None:
        reader.corrections(
            " ".join(f"qu{'xyz'[n % 3]}{'abc'[n // 3 % 3]}w" * 2 for n in range(count))
        )

    assert growth(lambda: look(100), lambda: look(1_600), 0.01) < 8
