"""Chunks tile the body, stay within the window and cut where a reader would."""

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentm_assets.extract.chunks import WINDOW, split_chunks
from agentm_assets.extract.tokens import TokenMap, estimated_tokens

PIECES = [
    *("# a\n", "## b c\n", "##\n", "- # d\n", "  - e\n", "> # q\n", "f\n===\n", "\n", "\r\n", "\r"),
    *("```\n", "~~~\n", "%%", "<!--", "-->", "$$\n", " ^id\n", "|a|b|\n", "    i\n", "\t", " "),
    *(
        "word ",
        "Sentence one. ",
        "数据库。",
        "가나",
        "é",
        "e\u0301",
        "🇦🇧",
        "👩\u200d🚀",
        "\x00",
        "\u2028",
    ),
    *("x" * 40, "https://example.net/a_b ", "[[L]]", "`c`", "1234 "),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
BODIES = st.one_of(
    TEXTS.map(lambda text: text.encode()),
    st.binary(max_size=400),
    st.lists(st.one_of(st.sampled_from(PIECES).map(str.encode), st.binary(max_size=4)), max_size=40)
    .map(b"".join),
)  # fmt: skip
WINDOWS = st.sampled_from([16, 20, 40, WINDOW])


@given(BODIES, st.binary(max_size=9), WINDOWS)
@example(b"- # a\n\n%%x\ny%%", b"---\n---\n", 16)
@example(b"\xf0\x9f\x91" * 60, b"", 16)
@example("가".encode() * 60, b"", 16)
@settings(max_examples=400, deadline=None)
def test_chunks_tile_the_body(body: bytes, before: bytes, window: int) -> None:
    data = before + body
    chunks = split_chunks(data, len(before), window=window)
    if not chunks:
        return
    assert chunks[0].start == len(before)
    assert chunks[-1].end == len(data)
    assert b"".join(data[chunk.start : chunk.end] for chunk in chunks) == body
    for previous, chunk in zip((None, *chunks), chunks, strict=False):
        assert chunk.start < chunk.end
        assert chunk.overlap_start <= chunk.start
        if previous is not None:
            assert previous.end == chunk.start
            assert previous.start <= chunk.overlap_start
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))


@given(BODIES, WINDOWS)
@settings(max_examples=300, deadline=None)
def test_no_cut_inside_a_character(body: bytes, window: int) -> None:
    text = body.decode("utf-8", "surrogateescape")
    allowed = {0}
    size = 0
    for char in text:
        size += len(char.encode("utf-8", "surrogateescape"))
        allowed.add(size)
    for chunk in split_chunks(body, 0, window=window):
        assert {chunk.start, chunk.end, chunk.overlap_start} <= allowed
        assert not (body[chunk.start - 1 : chunk.start] == b"\r" and body[chunk.start] == 10)


@given(TEXTS, WINDOWS)
@settings(max_examples=300, deadline=None)
def test_chunks_fit_the_window(text: str, window: int) -> None:
    for chunk in split_chunks(text.encode(), 0, window=window):
        assert estimated_tokens(chunk.text) <= window


@given(BODIES)
@settings(max_examples=200, deadline=None)
def test_texts_can_be_stored(body: bytes) -> None:
    for chunk in split_chunks(body, 0):
        for text in (chunk.text, chunk.header_path):
            assert "\x00" not in text
            text.encode()


@given(TEXTS)
@settings(max_examples=100, deadline=None)
def test_no_chunk_only_when_nothing_shows(text: str) -> None:
    if "%%" not in text and "<!--" not in text:
        assert bool(split_chunks(text.encode(), 0)) == bool(text.strip())


@given(st.text(alphabet="ab1 가é.\n漢\ud800", max_size=40).filter(lambda t: "\ud800" not in t))
def test_token_map_agrees_with_itself(text: str) -> None:
    tokens = TokenMap(text)
    total = tokens.count(0, len(text))
    starts = sorted(set(tokens.starts(0, len(text))))
    plain = len(re.findall(r"[A-Za-z]{1,4}|[0-9]{1,2}|[^\sA-Za-z0-9]", text))
    assert total == plain + len(re.findall("[가-힣]", text))
    assert len(starts) == plain
    for count in range(total):
        place = tokens.start_of(0, count)
        assert tokens.count(0, place) <= count < tokens.count(0, place + 1)
    for count in range(1, 5):
        before = sorted(set(tokens.starts_before(len(text), count, 0)))
        assert before == starts[len(starts) - len(before) :]
        assert tokens.count(before[0], len(text)) <= count if before else True


def prose(sentences: int) -> str:
    return " ".join(f"Sentence number {i} has some words in it." for i in range(sentences))


def chunk_texts(text: str, window: int = 60) -> list[str]:
    data = text.encode()
    return [data[c.start : c.end].decode() for c in split_chunks(data, 0, window=window)]


def test_long_sections_are_cut_between_paragraphs() -> None:
    paragraphs = [prose(3) for _ in range(8)]
    for piece in chunk_texts("# T\n\n" + "\n\n".join(paragraphs), 80)[1:]:
        assert piece.startswith("Sentence number 0")


def test_a_fence_is_not_cut_at_its_blank_lines_while_a_paragraph_ends_near() -> None:
    code = "```\n" + "\n\n".join(f"call_{i}()" for i in range(6)) + "\n```\n"
    text = "\n\n".join([prose(2), code, prose(2), code, prose(2)])
    for piece in chunk_texts(text, 90):
        assert piece.count("```") % 2 == 0


def test_a_paragraph_is_cut_between_sentences() -> None:
    pieces = chunk_texts(prose(40))
    assert len(pieces) > 3
    assert all(piece.startswith("Sentence") for piece in pieces)


def test_chinese_is_cut_between_sentences() -> None:
    pieces = chunk_texts("数据库的索引能加快查询。" * 30)
    assert len(pieces) > 3
    assert all(piece.endswith("。") for piece in pieces)


def test_lists_tables_and_code_are_cut_between_lines() -> None:
    for line in ("- item {} of the list\n", "| cell {} | other |\n", "1. step {}\n"):
        pieces = chunk_texts("".join(line.format(i) for i in range(60)))
        assert len(pieces) > 3
        assert all(piece.startswith(line[0]) and piece.endswith("\n") for piece in pieces)
    code = "```\n" + "".join(f"name_{i} = call(arg)\n" for i in range(60)) + "```\n"
    assert all(piece.startswith("name_") for piece in chunk_texts(code)[1:])


def test_one_long_line_is_cut_between_words_and_one_long_word_anywhere() -> None:
    pieces = chunk_texts("word " * 400)
    assert len(pieces) > 3
    assert all(piece.startswith("word") for piece in pieces)
    pieces = chunk_texts("x" * 6000)
    assert len(pieces) > 20
    assert "".join(pieces) == "x" * 6000


def test_hard_cuts_keep_what_a_reader_sees_as_one_character() -> None:
    for character in (
        "e\u0301",
        "👩\u200d🚀",
        "👍🏽",
        "🇦🇧",
        "1\ufe0f\u20e3",
        "நி",
        "\u1112\u1161\u11ab",
    ):
        pieces = chunk_texts(character * 200, 17)
        assert len(pieces) > 5
        for piece in pieces:
            assert len(piece) % len(character) == 0, character
            assert not unicodedata.category(piece[0]).startswith("M")


def test_broken_utf8_sequences_stay_together() -> None:
    for broken in (b"\xe6\x95", b"\xf0\x9f\x91"):
        data = broken * 200
        starts = [chunk.start for chunk in split_chunks(data, 0, window=16)]
        assert len(starts) > 5
        assert all(start % len(broken) == 0 for start in starts)


def test_pieces_are_even_and_none_is_tiny() -> None:
    for sentences in range(8, 60):
        sizes = [estimated_tokens(piece) for piece in chunk_texts(prose(sentences))]
        assert min(sizes) >= 60 // 4 - 1, sizes


def test_a_break_that_would_leave_a_tiny_rest_is_passed_over() -> None:
    for sentences in range(4, 40):
        pieces = chunk_texts(prose(sentences) + "\n\nShort end.")
        assert min(map(estimated_tokens, pieces)) >= 60 // 4 - 1, sentences


def test_a_continued_piece_repeats_a_tenth() -> None:
    data = prose(120).encode()
    chunks = split_chunks(data, 0, window=200)
    assert chunks[0].overlap_start == chunks[0].start
    for previous, chunk in pairwise(chunks):
        repeated = data[chunk.overlap_start : chunk.start].decode()
        assert 5 <= estimated_tokens(repeated) <= 20
        assert repeated.startswith("Sentence")
        assert chunk.text.startswith(repeated)
        assert previous.text.endswith(repeated)


def test_sections_never_overlap() -> None:
    data = "".join(f"# H{i}\n\n{prose(3)}\n\n" for i in range(5)).encode()
    assert all(chunk.overlap_start == chunk.start for chunk in split_chunks(data, 0, window=100))


def test_what_is_hidden_costs_nothing() -> None:
    text = "before\n\n%%\n" + prose(200) + "\n%%\n\nafter\n"
    (chunk,) = split_chunks(text.encode(), 0)
    assert chunk.text == "before\n\n\n\nafter\n"


def test_a_comment_across_a_cut_is_hidden_on_both_sides() -> None:
    text = prose(12) + "\n\n%%" + "secret words " * 40 + "\n\n" + "secret words " * 40 + "%%\n\n"
    text = "%%x%%" + text + prose(12)
    for chunk in split_chunks(text.encode(), 0, window=60):
        assert "secret" not in chunk.text
        assert "%%" not in chunk.text


def test_every_piece_of_a_section_has_its_path_and_level() -> None:
    data = f"# A\n\n## B\n\n{prose(40)}\n".encode()
    chunks = split_chunks(data, 0, window=60)
    assert {(c.header_path, c.level) for c in chunks[1:]} == {("A > B", 2)}
    assert chunks[1].text.startswith("## B")


def test_levels() -> None:
    chunks = split_chunks(b"p\n# a\n### b\n- ## c\n  d\n- e\n", 0)
    assert [(c.header_path, c.level) for c in chunks] == [
        ("", 0),
        ("a", 1),
        ("a > b", 3),
        ("a > b > c", 2),
        ("a > b", 3),
    ]


def test_a_window_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="window of 8"):
        split_chunks(b"a", 0, window=8)
