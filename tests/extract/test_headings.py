"""Headings: sections, paths, and how anchors find them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.extract.headings import find_headings, find_section, first_title

NOTE = """# Lamp

intro

## Parts

### Wick
a
### Oil [[Sorts|kinds]]
b
## Use & care: C#, `set_x`
c
> ## Inside a callout
> d
# Other

## Parts
e
"""


def section(anchor: str, note: str = NOTE) -> str | None:
    heading = find_section(note, anchor)
    return None if heading is None else note[heading.start : heading.section_end]


@pytest.mark.parametrize(
    ("anchor", "first_line", "last_line"),
    [
        ("Lamp", "# Lamp", "> d"),
        ("parts", "## Parts", "b"),
        ("Parts#Wick", "### Wick", "a"),
        ("Lamp#Parts#Wick", "### Wick", "a"),
        ("Lamp#Wick", "### Wick", "a"),
        ("Other#Parts", "## Parts", "e"),
        ("Oil kinds", "### Oil [[Sorts|kinds]]", "b"),
        ("oil   KINDS ", "### Oil [[Sorts|kinds]]", "b"),
        ("Use & care: C#, set_x", "## Use & care: C#, `set_x`", "> d"),
        ("Use care C set_x", "## Use & care: C#, `set_x`", "> d"),
        ("use--care-c-set_x", "## Use & care: C#, `set_x`", "> d"),
        ("Inside a callout", "> ## Inside a callout", "> d"),
    ],
)
def test_anchors(anchor: str, first_line: str, last_line: str) -> None:
    found = section(anchor)
    assert found is not None
    lines = found.strip().split("\n")
    assert (lines[0], lines[-1]) == (first_line, last_line)


@pytest.mark.parametrize("anchor", ["", "#", "Nowhere", "Wick#Parts", "Other#Wick", "^parts"])
def test_anchors_without_heading(anchor: str) -> None:
    assert section(anchor) is None


def test_composed_and_decomposed_anchors_meet() -> None:
    assert section("Caf\u00e9", "# Cafe\u0301\n") == "# Cafe\u0301\n"


def test_an_exact_anchor_wins_over_one_without_punctuation() -> None:
    assert section("b#c", "> # b\n> > ## c\n") == "> > ## c\n"
    assert section("C++", "# C\na\n# C++\nb\n") == "# C++\nb\n"


def test_section_of_a_list_item_ends_with_the_item() -> None:
    note = "- ## Intro\n  - x\n- y\n- ## Next\n  ## Deeper\n  z\n\nend\n"
    assert section("Intro", note) == "- ## Intro\n  - x\n"
    assert section("Next", note) == "- ## Next\n"
    assert section("Deeper", note) == "  ## Deeper\n  z\n\n"
    assert [heading.path for heading in find_headings(note)] == [
        ("Intro",),
        ("Next",),
        ("Deeper",),
    ]


def test_title_is_the_first_heading_of_level_one_that_shows_something() -> None:
    assert first_title("## a\n#\n> # b\n```\n# c\n```\n# [[d|e]] *f*\n# g\n") == "e f"
    assert first_title("## a\ntext") is None
    assert first_title("") is None
    assert first_title("T\n===\n") == "T"


def test_marks_in_the_private_use_area_are_kept() -> None:
    (heading,) = find_headings("# \U000f0000 `a\U000f0001` \\* \U000f0002 **b**\n")
    assert heading.text == "\U000f0000 a\U000f0001 * \U000f0002 b"


PIECES = (
    *("# a\n", "## b\n", "### c\n", "- # d\n", "  ## e\n", "  - ## f\n", "> # g\n", "x\n", "\n"),
    *("h\n---\n", "```\n", "%%\n", "- i\n", "\r", "  j\n"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
@settings(max_examples=500, deadline=None)
def test_sections_nest_and_paths_follow_them(text: str) -> None:
    headings = find_headings(text)
    dividing = [heading for heading in headings if heading.container != "quote"]
    for heading in headings:
        assert 0 <= heading.start < heading.end <= heading.section_end <= len(text)
        assert heading.start == 0 or text[heading.start - 1] in "\r\n"
        assert heading.path[-1:] == (heading.text,)
    for index, heading in enumerate(dividing):
        around = [
            other.text
            for other in dividing[:index]
            if other.section_end > heading.start and other.text
        ]
        assert heading.path == (*around, heading.text)
        for other in dividing[index + 1 :]:
            inside = other.start < heading.section_end
            assert not inside or other.section_end <= heading.section_end
