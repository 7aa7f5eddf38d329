"""Code, comments and maths, checked by hand and against another CommonMark parser."""

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agentm_assets.contract.lines import line_of, line_starts, split_lines
from agentm_assets.extract.mask import ALL, HIDDEN, blank, blocks_of, find_regions, region_at

ORACLE = MarkdownIt("commonmark", {"maxNesting": 200})


def regions(text: str) -> list[tuple[str, str]]:
    return [(region.kind, text[region.start : region.end]) for region in find_regions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\na\n```\nb", [("fence", "```\na\n```")]),
        ("```\na", [("fence", "```\na")]),
        ("   ~~~ x `y\na\n   ~~~~  \nb", [("fence", "~~~ x `y\na\n   ~~~~  ")]),
        ("~~~\n```\n~~~", [("fence", "~~~\n```\n~~~")]),
        ("```\n    ```\n``` x\na", [("fence", "```\n    ```\n``` x\na")]),
        ("> ```\n> a\nb", [("fence", "```\n> a")]),
        ("> ```\n>     ```\n> a", [("fence", "```\n>     ```\n> a")]),
        ("- ```\n  a\n\n  b\n\nc", [("fence", "```\n  a\n\n  b\n")]),
        ("1. a\n   ```\n   b\n   ```\n   c", [("fence", "```\n   b\n   ```")]),
        ("a\n\n    b\n\n    c\nd", [("indented", "    b\n\n    c")]),
        ("- a\n\n      b", [("indented", "    b")]),
        ("-     a", [("indented", "    a")]),
        ("a\n\n\tb", [("indented", "\tb")]),
        ("<pre>\na\n\n</pre> b", [("html", "<pre>\na\n\n</pre>")]),
        ("<script>\n`a\n</script>\n`b`", [("html", "<script>\n`a\n</script>"), ("code", "`b`")]),
        ("<!-- a\n\nb --> `c`", [("comment", "<!-- a\n\nb -->"), ("code", "`c`")]),
        ("<!--> a", [("comment", "<!-->")]),
        ("a <!-- b --> c <!-- d", [("comment", "<!-- b -->")]),
        ("`a` ``b ` c`` `d", [("code", "`a`"), ("code", "``b ` c``")]),
        ("\\`a` b`", [("code", "` b`")]),
        ("`a\\` b", [("code", "`a\\`")]),
        ("<a b='`'>`c`", [("code", "`c`")]),
        ("# a `b\nc`", []),
        ("- a `b\n- c`", []),
        ("a `b\n> c`", []),
        ("`a <!-- b` --> c", [("code", "`a <!-- b`")]),
        ("a <!-- `b --> c`", [("comment", "<!-- `b -->")]),
        ("a %%b%% c", [("comment", "%%b%%")]),
        ("%%a\nb%% c", [("comment", "%%a\nb%%")]),
        ("%%a%%%%b%%", [("comment", "%%a%%"), ("comment", "%%b%%")]),
        ("%%all of 100%%%", [("comment", "%%all of 100%%%")]),
        ("%%%%%%%% rule %%%%%%%%", []),
        ("%%\na\n\nb %%c%% d\n%%\ne", [("comment", "%%\na\n\nb %%c%% d\n%%")]),
        ("%% a\n\nb %%c%% d", [("comment", "%%c%%")]),
        ("a %% b\n\nc %% d", []),
        ("- a %%b\n- c%% d", []),
        ("%%\n```\n%%\n```\n%%", [("comment", "%%\n```\n%%\n```\n%%")]),
        ("> %%\n> a\n>\n> b\n> %%", [("comment", "%%\n> a\n>\n> b\n> %%")]),
        ("a%%20b c%%2Fd", []),
        ("%%a x://b%%20c d%% e", [("comment", "%%a x://b%%20c d%%")]),
        ("5%% to 9%%", []),
        ("[[a %% b]] %%c%%", [("comment", "%%c%%")]),
        ("$$\na\n\nb\n$$\nc", [("math", "$$\na\n\nb\n$$")]),
        ("a $$b$$ c", [("math", "$$b$$")]),
        ("the pid is $$\n\nand $$ there", []),
        ("a $b$, $c d$.", [("math", "$b$"), ("math", "$c d$")]),
        ("$ a$ b $c $ d", []),
        ("$5 and $6", []),
        ("$5-$6, US$7, 8$", []),
        ("$5$ and $2x + 3$", [("math", "$5$"), ("math", "$2x + 3$")]),
        ("\\$a$ \\$", []),
        ("H$_2$O", [("math", "$_2$")]),
        ("a$b c$d", []),
        ("`$a` b$", [("code", "`$a`")]),
        ("$a `b` c$", [("math", "$a `b` c$")]),
        ("$a\n\nb$", []),
        ("```compressed-json\na\n```", [("payload", "```compressed-json\na\n```")]),
        ("| `a | b` |\n|---|---|\n| `c` | d |", [("code", "`c`")]),
    ],
)
def test_regions(text: str, expected: list[tuple[str, str]]) -> None:
    assert regions(text) == expected


MARKS = (
    *("```\n", "~~~\n", "`", "``", "%%", "$", "$$", "<!-- ", " -->", "<pre>\n", "</pre>\n", "    "),
    *("\n", "\n\n", "\r\n", "\r", "a", " ", "> ", "- ", "1. ", "# ", "|", "\\", "[[a]]", "](b)"),
    *("://c", "\u2028", "\udcff", "\x00", "%%20", "===\n", "---\n", "\t"),
)


@given(st.lists(st.sampled_from(MARKS), max_size=30).map("".join))
@settings(max_examples=500, deadline=None)
def test_regions_are_in_order_disjoint_and_not_empty(text: str) -> None:
    found = find_regions(text)
    for region in found:
        assert 0 <= region.start < region.end <= len(text)
        assert region_at(found, region.start) == region
        assert region_at(found, region.end - 1) == region
    for before, after in pairwise(found):
        assert before.end <= after.start
    for start, end in blocks_of(text).segments:
        assert 0 <= start <= end <= len(text)


@given(st.lists(st.sampled_from(MARKS), max_size=30).map("".join))
@settings(max_examples=300, deadline=None)
def test_blank_keeps_length_and_lines(text: str) -> None:
    found = find_regions(text)
    for kinds in (ALL, HIDDEN, frozenset[str]()):
        masked = blank(text, found, kinds)  # type: ignore[arg-type]
        assert len(masked) == len(text)
        assert line_starts(masked) == line_starts(text)
        for offset, (char, shown) in enumerate(zip(text, masked, strict=True)):
            region = region_at(found, offset)
            if region is None or region.kind not in kinds:
                assert shown == char
            else:
                assert shown == " " or (shown == char and char in "\r\n")


def oracle_blocks(text: str) -> list[tuple[str, int, int]]:
    names = {"fence": "fence", "code_block": "indented"}
    found = []
    for token in ORACLE.parse(text):
        if token.map and (token.type in names or token.type == "heading_open"):
            found.append((names.get(token.type, token.tag), token.map[0], token.map[1]))
    return [trimmed(text, block) for block in sorted(found)]


def our_blocks(text: str) -> list[tuple[str, int, int]]:
    starts = line_starts(text)
    blocks = blocks_of(text)
    found = [
        (block.kind, line_of(starts, block.start) - 1, line_of(starts, block.end - 1))
        for block in blocks.blocks
        if block.kind in ("fence", "indented")
    ]
    found += [
        (f"h{heading.level}", line_of(starts, heading.start) - 1, line_of(starts, heading.end - 1))
        for heading in blocks.headings
    ]
    return [trimmed(text, block) for block in sorted(found)]


def trimmed(text: str, block: tuple[str, int, int]) -> tuple[str, int, int]:
    """Blank lines at the end of a block belong to it or not, as the parser likes."""
    kind, first, last = block
    lines = split_lines(text)
    while last > first + 1 and (last > len(lines) or not lines[last - 1].strip(" \t>\n")):
        last -= 1
    return kind, first, last


CONTAINERS = (
    *("a", "b c", "# h", "## ", "#x", "- ", "-", "1. ", "2) ", "* ", "+ ", "> ", ">", "10. "),
    *("```", "````", "~~~", "``` sh", "  ", " ", "---", "===", "***", "=", "\n", "\n", "\n\n"),
)
LEAVES = (
    *("a", "b c", "# h", "```", "    ", "    ", "  ", "\t", "---", "===", "=", "`x`", "~~~"),
    *("\n", "\n", "\n", "\n\n"),
)
INLINES = (
    *("a ", "b", "`", "``", "`", "```", "\\`", "<b>", '<a href="`">', "<!-- ", " -->", "<x:y`>"),
    *("*", "\\", "\nw ", "\n\nw ", "\n# w", "\n- w", "\n> w"),
)


def texts(pieces: Sequence[str], size: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=size).map("".join)


@given(st.one_of(texts(CONTAINERS, 14), texts(LEAVES, 14)))
@settings(max_examples=1500, deadline=None)
def test_blocks_are_those_of_another_parser(text: str) -> None:
    # The other parser takes a quote mark behind four blanks for a quote (5.1 says at most three).
    assume(not re.search(r"(?:\t| {4,})>", text))
    assert our_blocks(text) == oracle_blocks(text)


@given(texts(INLINES, 16))
@settings(max_examples=1500, deadline=None)
def test_code_spans_are_those_of_another_parser(text: str) -> None:
    text = "w " + text
    expected = [
        child.content
        for token in ORACLE.parse(text)
        for child in token.children or []
        if child.type == "code_inline"
    ]
    found = [span.strip("`") for kind, span in regions(text) if kind == "code"]

    def folded(spans: Sequence[str]) -> list[str]:
        return [re.sub(r"[\s>]+", "", span) for span in spans]

    assert folded(found) == folded(expected)


def test_line_ends_are_three_and_no_more() -> None:
    for end in ("\n", "\r\n", "\r"):
        text = f"```{end}a{end}```{end}`b`"
        assert regions(text) == [("fence", f"```{end}a{end}```"), ("code", "`b`")]
    for other in ("\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"):
        assert regions(f"a{other}```{other}b") == []
