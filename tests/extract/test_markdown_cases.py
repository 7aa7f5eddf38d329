"""Forms of markdown that vaults hold, each with what must be read from it."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.extract.chunks import split_chunks
from agentm_assets.extract.headings import find_headings
from agentm_assets.extract.links import extract_links, malformed_links
from agentm_assets.extract.resolve import LinkIndex

DATA = Path(__file__).parents[1] / "data" / "extract"


def cases(name: str) -> list[Any]:
    loaded = json.loads((DATA / f"markdown_{name}.json").read_text("utf-8"))
    return [pytest.param(case, id=case["id"]) for case in loaded]


@pytest.mark.parametrize("case", cases("links"))
def test_links(case: dict[str, Any]) -> None:
    data = case["note"].encode()
    found = extract_links(data, 0)
    assert [[link.kind, link.target, link.anchor, link.label] for link in found] == case["links"]
    assert [link.ordinal for link in found] == list(range(len(found)))
    assert sorted(link.start for link in found) == [link.start for link in found]


@pytest.mark.parametrize("case", cases("structure"))
def test_structure(case: dict[str, Any]) -> None:
    note: str = case["note"]
    headings = find_headings(note)
    assert [[heading.level, heading.text] for heading in headings] == case["headings"]
    chunks = split_chunks(note.encode(), 0)
    assert [chunk.header_path for chunk in chunks] == case["chunks"]
    text = "".join(chunk.text for chunk in chunks)
    for hidden in case.get("hidden", []):
        assert hidden not in text
    for shown in case.get("shown", []):
        assert shown in text


@pytest.mark.parametrize("case", cases("resolution"))
def test_resolution(case: dict[str, Any]) -> None:
    notes = [(n, []) if isinstance(n, str) else (n[0], n[1]) for n in case["notes"]]
    (link,) = extract_links(case["link"].encode(), 0)
    for order in (1, -1):
        index = LinkIndex(notes[::order], case.get("attachments", [])[::order])
        found = index.resolve(case["from"], link)
        assert (found.path, found.how) == (case["path"], case["how"])
        assert list(found.candidates) == case.get("candidates", [])


def test_malformed_links_are_told_with_their_line() -> None:
    lines = [
        b"---",
        b"a: 1",
        b"---",
        b"[k](Oil Lamp.md) [l](M.md)",
        b"`[m](N O.md)`",
        b"[p](q r.png#s t)",
        b"[x](see it)",
    ]
    data = b"\n".join(lines)
    assert malformed_links(data, 13) == (4, 6)


def test_offsets_and_lines_are_those_of_the_file() -> None:
    data = 'ü: "[[Map]]"\r\n---\r\ncafé [[A]]\r\u2028[[B]] 🚀 [c](D.md)\n'.encode()
    body = data.index(b"caf")
    links = extract_links(data, body, [("[[Map]]", data.index(b'"'), 1)])
    assert [(link.target, link.line, link.source) for link in links] == [
        ("Map", 1, "frontmatter"),
        ("A", 3, "body"),
        ("B", 4, "body"),
        ("D.md", 4, "body"),
    ]
    for link, spelled in zip(links, (b"[[Map", b"[[A", b"[[B", b"[c]"), strict=True):
        assert data.startswith(spelled, link.start)


def test_properties_hold_links() -> None:
    data = b'---\nup: "[[Map|m]]"\nsee:\n  - \'[[Oil]] and [[Oil]]\'\n  - "[x](a%20b.md)"\n---\n'
    values = [
        ("[[Map|m]]", data.index(b'"'), 2),
        ("[[Oil]] and [[Oil]]", data.index(b"'"), 4),
        ("[x](a%20b.md)", data.index(b'"[x'), 5),
        ("no link", 1, 1),
    ]
    links = extract_links(data, len(data), values)
    assert [(link.kind, link.target, link.label, link.line) for link in links] == [
        ("wikilink", "Map", "m", 2),
        ("wikilink", "Oil", None, 4),
        ("wikilink", "Oil", None, 4),
        ("markdown", "a%20b.md", "x", 5),
    ]
    assert len({link.start for link in links}) == 4
    assert all(data[link.start : link.start + 1] == b"[" for link in links)


def test_a_property_that_yaml_spells_otherwise_keeps_its_place() -> None:
    data = b'---\nl: "[[a\\\\|b]]"\n---\n'
    (link,) = extract_links(data, len(data), [("[[a\\|b]]", 7, 2)])
    assert (link.target, link.label) == ("a", "b")
    assert data[link.start :].startswith(b"[[a")


def test_invalid_utf8_is_shown_as_replacement_and_moves_nothing() -> None:
    data = b"# caf\xe9\n\xff\xfe [[N\xe4]] [[M]]\n"
    (chunk,) = split_chunks(data, 0)
    assert chunk.header_path == "caf\ufffd"
    assert chunk.text == "# caf\ufffd\n\ufffd\ufffd [[N\ufffd]] [[M]]\n"
    first, second = extract_links(data, 0)
    assert (first.target, second.target) == ("N\ufffd", "M")
    assert data[second.start :].startswith(b"[[M]]")


def test_a_byte_order_mark_before_the_body_is_stepped_over() -> None:
    data = b"\xef\xbb\xbf# T\n[[A]]"
    assert [chunk.header_path for chunk in split_chunks(data, 3)] == ["T"]
    assert extract_links(data, 3)[0].start == data.index(b"[[")
