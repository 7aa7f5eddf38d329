"""Hostile notes take time in proportion to their length."""

from collections.abc import Callable

import pytest

from agentm_assets.extract.chunks import split_chunks
from agentm_assets.extract.headings import find_headings
from agentm_assets.extract.links import extract_links, malformed_links
from agentm_assets.extract.mask import blocks_of, find_regions
from agentm_assets.extract.model import Link
from agentm_assets.extract.resolve import LinkIndex

SIZE = 20_000

HOSTILE: dict[str, Callable[[int], str]] = {
    "blanks in a link": lambda n: "[x](" + " " * n,
    "blanks in many links": lambda n: ("[x](" + " " * 100) * (n // 100),
    "list of links": lambda n: "- [[N]]\n" * n,
    "backticks": lambda n: "`" * n,
    "backticks apart": lambda n: "` " * n,
    "runs of all lengths": lambda n: " ".join("`" * (i % 200 + 1) for i in range(n // 40)),
    "opening brackets": lambda n: "[" * n,
    "opening wikilinks": lambda n: "[[a" * n,
    "opening labels": lambda n: "[[a|" * n,
    "closing brackets": lambda n: "]" * n,
    "brackets before links": lambda n: "[" * n + "[a](b)" * (n // 4),
    "nested brackets": lambda n: "[" * n + "a" + "]" * n,
    "nested images": lambda n: "![" * n + "a" + "](b)" * n,
    "references": lambda n: "[k]: a\n\n" + "[k]" * n,
    "nested references": lambda n: "[k]: a\n\n" + "[" * n + "k" + "]" * n,
    "opening destinations": lambda n: "[a](b" * n,
    "parentheses": lambda n: "[a](" + "(" * n,
    "titles": lambda n: '[a](b "' * n,
    "dollars": lambda n: "$" * n,
    "dollars apart": lambda n: "$a " * n,
    "formulas": lambda n: "$$ a\n\n" * n,
    "percent signs": lambda n: "%" * n,
    "comment marks": lambda n: "a %%b\n\n" * n,
    "comment lines": lambda n: "%%\n\n" * n,
    "comments in a URL": lambda n: "x://" + "%%" * n,
    "html comments": lambda n: "a <!-- " * n,
    "open html comments": lambda n: "<!-- \n\n" * n,
    "open tags": lambda n: "`<a " * n,
    "tags and quotes": lambda n: "<a '" * n + '<img src="' * n,
    "quotes": lambda n: ">" * n,
    "quoted lines": lambda n: "> > > a\n" * (n // 4),
    "nested items": lambda n: "- " * n + "x",
    "nested items, then blank lines": lambda n: "- " * 200 + "x\n" + "\n" * n,
    "hashes": lambda n: "#" * n,
    "closing hashes": lambda n: "# " + "# " * n,
    "headings": lambda n: "# a\n" * n,
    "headings in items": lambda n: "- # a\n" * (n // 2),
    "underlines": lambda n: "a\n---\n" * n,
    "emphasis": lambda n: "# " + "*a _b " * n,
    "heading of links": lambda n: "# " + "[a](b) [" * n,
    "fences": lambda n: "```\n~~~\n" * n,
    "table": lambda n: "|a" * n + "\n|-|\n" + "|b" * n,
    "rows": lambda n: "a|b\n" * n + "-|-\n",
    "definitions": lambda n: "[a]: b\n" * n + "---",
    "one word": lambda n: "a" * n,
    "one line": lambda n: "word. " * n,
    "blanks": lambda n: " " * n + "\n\n" + " \n" * n,
    "combining marks": lambda n: "a" + "\u0301" * n,
    "flags": lambda n: "\U0001f1e6" * n,
    "invalid bytes": lambda n: "\udc80" * n,
    "Hangul": lambda n: "\uac00" * n,
    "carets": lambda n: "x^a\n" * 4 * n,
    "block ids": lambda n: " ^a" * n,
}  # fmt: skip


def forget() -> None:
    """What an earlier run remembered would make a second one free."""
    find_regions.cache_clear()
    blocks_of.cache_clear()


def extract(text: str) -> None:
    forget()
    data = text.encode("utf-8", "surrogateescape")
    split_chunks(data, 0)
    extract_links(data, 0)
    malformed_links(data, 0)
    find_headings(text)


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_notes(make: Callable[[int], str], growth: Callable[..., float]) -> None:
    small, large = make(SIZE // 4), make(SIZE)
    assert growth(lambda: extract(small), lambda: extract(large), 0.01) < 8


def test_one_name_for_many_notes(growth: Callable[..., float]) -> None:
    def resolve_all(notes: int) -> None:
        paths = [f"d{i % 50}/e{i}/README.md" for i in range(notes)]
        index = LinkIndex([(path, ["Start"]) for path in paths])
        for target in ("README", "readme", "Start"):
            link = Link(0, "wikilink", target, None, None, 0, 1, "body")
            for path in paths:
                assert index.resolve(path, link).path is not None

    assert growth(lambda: resolve_all(1_000), lambda: resolve_all(4_000), 0.01) < 8
