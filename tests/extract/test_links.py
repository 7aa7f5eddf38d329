"""Properties of link extraction; the forms of links are in test_markdown_cases."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.contract.lines import line_of, line_starts
from agentm_assets.extract.links import LABEL_LIMIT, extract_links, is_external
from agentm_assets.extract.percent import percent_decode

PIECES = (
    *("[[a]]", "![[b#c|d]]", "[e](f.md)", "![g](<h i.png>)", "[j][k]", "[k]: l.md\n", "[k]", "[["),
    *("]]", "[", "]", "](", ")", "!", "|", "#", "\\", "`", "%%", "$", "```\n", "> ", "- ", "    "),
    *("\n", "\n\n", "\r\n", "\r", "é", "🚀", "\x00", "\u2028", '<img src="m.png">', "<a href=n>"),
    *("https://example.net", "%20", "<!--", "-->", "^", " "),
)
NOTES = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=30).map(lambda pieces: "".join(pieces).encode()),
    st.binary(max_size=100),
    st.lists(st.one_of(st.sampled_from(PIECES).map(str.encode), st.binary(max_size=3)), max_size=20)
    .map(b"".join),
)  # fmt: skip


@given(NOTES, st.sampled_from([b"", b"---\n---\n", b"---\r\na: 1\r\n---\r\n", b"\xef\xbb\xbf"]))
@settings(max_examples=600, deadline=None)
def test_every_link_is_where_it_says(body: bytes, before: bytes) -> None:
    data = before + body
    links = extract_links(data, len(before))
    lines = line_starts(data)
    assert [link.ordinal for link in links] == list(range(len(links)))
    assert [link.start for link in links] == sorted(link.start for link in links)
    opened = {"wikilink": b"[", "embed": b"![[", "markdown": b"[", "image": b"![", "html": b"<"}
    for link in links:
        assert data.startswith(opened[link.kind], link.start)
        assert link.line == line_of(lines, link.start)
        assert link.source == "body"
        assert link.target or link.anchor
        assert link.target == link.target.strip()
        for text in (link.target, link.anchor or "", link.label or ""):
            assert "\x00" not in text
            text.encode()


@given(NOTES)
@settings(max_examples=200, deadline=None)
def test_quoting_a_note_as_code_leaves_no_link(body: bytes) -> None:
    text = body.decode("utf-8", "replace").replace("\r", " ").replace("~", " ")
    assert extract_links(f"~~~\n{text}\n~~~\n".encode(), 0) == ()
    assert extract_links(f"~~~\n{text}".encode(), 0) == ()


@given(st.text(max_size=60))
def test_decoding_never_fails_and_is_text(text: str) -> None:
    percent_decode(text.replace("\ud800", "")).encode("utf-8", "surrogatepass")


def test_decoding() -> None:
    assert percent_decode("a%20b%C3%BC") == "a bü"
    assert percent_decode("%FF%20%c3") == "%FF %C3"
    assert percent_decode("100%") == "100%"
    assert percent_decode("%zz%2") == "%zz%2"
    assert percent_decode("a%00b") == "a%00b"
    assert percent_decode("%2520") == "%20"


def test_a_very_long_label_is_cut() -> None:
    label = "x" * (LABEL_LIMIT + 5)
    for note in (f"[{label}](a.md)", f"[[a|{label}]]"):
        (link,) = extract_links(note.encode(), 0)
        assert link.label == "x" * LABEL_LIMIT


def test_what_leaves_the_vault() -> None:
    for target in ("https://a", "HTTP://a", "mailto:a@b", "data:x", "x-y://z", "git+ssh://a"):
        assert is_external(target)
        assert is_external(target, wikilink=True)
    for target in ("C:/a", "a b: c", "Note: x", "note:%20x", "a/b", "12:30", "a:", ""):
        assert not is_external(target)
        assert not is_external(target, wikilink=True)
    assert is_external("//host/a")
    assert is_external("other:a")
    assert not is_external("other:a", wikilink=True)
    assert not is_external("other:a.md#b")


def test_repeated_links_are_all_given() -> None:
    links = extract_links(b"[[a]] [[A]] [[a.md]]\n", 0)
    assert [(link.target, link.start) for link in links] == [("a", 0), ("A", 6), ("a.md", 12)]
