"""Chunks that no index holds are searched by the measure of those that it holds."""

import math
from pathlib import Path

import pytest

from agentm_assets.index.lexical import LexicalDoc, LexicalPublisher, LexicalReader
from agentm_assets.index.lexical_fresh import FreshLexical, MeanLengths, analysed

WORDS = "kettle lid hinge sensor probe steam boil lime scale handle plug board".split()  # noqa: SIM905


def doc(number: int, **more: str) -> LexicalDoc:
    body = " ".join(WORDS[(number * step) % len(WORDS)] for step in range(1, 20))
    fields = {
        "title": f"Note {WORDS[number % 7]}",
        "names": "",
        "header_path": f"Note > {WORDS[number % 5]}",
        "body": body,
    }
    fields |= more
    window = (fields["title"], fields["body"])
    return LexicalDoc(chunk_id=number + 1, path=f"n{number}.md", window=window, **fields)


OLD = [doc(number) for number in range(300)]
NEW = [
    doc(1000, title="The zyx valve", body="A valve on the steam pipe. It sticks in the cold."),
    doc(1001, names="Schlüssel\ntea_pot", body="The handle of `boilDetectStep` is `gin_trgm`."),
    doc(1002, title="水壶", body="水壶在厨房里。Docker入門"),
    doc(1003, body="See acme/kettle#12 and python3.13t for the lid. " * 3),
]
QUESTIONS = [
    "the valve sticks",
    "steam pipe cold",
    "zyx",
    "handle",
    "Schlüssel",
    "gin_trgm",
    "detect",
    "厨房",
    "水",
    "acme/kettle#12",
    "python3.13t lid",
    "kettle note sensor",
    "tea pot",
]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> LexicalReader:
    return published(tmp_path_factory.mktemp("before"), OLD)


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> LexicalReader:
    """The same once the new chunks are indexed."""
    return published(tmp_path_factory.mktemp("after"), [*OLD, *NEW])


def published(folder: Path, docs: list[LexicalDoc]) -> LexicalReader:
    LexicalPublisher(folder).publish("index", 1, docs, (), full=True)
    return LexicalReader.open(folder)


def means(docs: list[LexicalDoc]) -> MeanLengths:
    def mean(texts: list[str]) -> float:
        return sum(len(text.encode()) for text in texts) / len(texts)

    return MeanLengths(
        mean([d.title for d in docs]),
        mean([d.header_path for d in docs]),
        mean([d.body for d in docs]),
        mean(["\n".join(d.window) for d in docs]),
    )


@pytest.fixture(scope="module")
def fresh(before: LexicalReader) -> FreshLexical:
    return FreshLexical(before, [analysed(each) for each in NEW], means(OLD))


@pytest.mark.parametrize("question", QUESTIONS)
def test_scores_are_those_that_the_index_will_give(
    question: str, fresh: FreshLexical, after: LexicalReader
) -> None:
    new = {d.chunk_id for d in NEW}
    will_be = {hit.chunk_id: hit.score for hit in after.search(question, 400)}
    now = {hit.chunk_id: hit.score for hit in fresh.search(question, 400)}
    assert will_be.keys() & new
    assert now.keys() & new == will_be.keys() & new
    for chunk in will_be.keys() & new:
        # Lengths are counted in bytes here and in words there, so not to the last digit.
        assert now[chunk] == pytest.approx(will_be[chunk], rel=0.2)
    first = max(will_be, key=lambda chunk: (will_be[chunk], -chunk))
    if first in new:
        assert max(now, key=lambda chunk: (now[chunk], -chunk)) == first


def test_a_chunk_that_changed_stands_for_the_one_in_the_index(before: LexicalReader) -> None:
    changed = doc(7, body="Nothing but zyxword.")
    fresh = FreshLexical(before, [analysed(changed)], means(OLD))
    assert [hit.chunk_id for hit in fresh.search("zyxword", 5)] == [8]
    old_words = OLD[7].body
    assert 8 not in [hit.chunk_id for hit in fresh.search(old_words, 5)]


def test_a_word_that_only_a_new_chunk_has_is_not_unknown(
    fresh: FreshLexical, before: LexicalReader
) -> None:
    unknown = math.log(1 + (before.count + 0.5) / 0.5)
    assert dict(before.question_terms("zyx")) == {"zyx": pytest.approx(unknown)}
    assert dict(fresh.question_terms("zyx"))["zyx"] < unknown - 0.1
    assert dict(fresh.question_terms("qqqq"))["qqqq"] == pytest.approx(unknown)
    assert fresh.question_terms("kettle lid") == before.question_terms("kettle lid")


def test_an_index_in_memory_answers_like_one_on_disk(after: LexicalReader) -> None:
    memory = LexicalReader.in_memory([*OLD, *NEW])
    for question in QUESTIONS:
        assert memory.search(question, 20) == after.search(question, 20)


def test_the_limit_holds(fresh: FreshLexical) -> None:
    hits = fresh.search("steam handle", 3)
    assert len(hits) == 3
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
