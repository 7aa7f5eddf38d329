"""Reading the block: where it starts and ends, and what its values are."""

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentm_assets.contract import block
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter


def read(text: str) -> Frontmatter:
    return read_frontmatter(text.encode("utf-8", "surrogateescape"))


def texts(text: str) -> dict[str, str]:
    return {key: field.text for key, field in read(text).fields.items()}


@pytest.fixture(params=["C parser", "Python parser"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of this file holds for both of PyYAML's parsers."""
    if request.param == "Python parser":
        monkeypatch.setattr(block, "_LOADER", yaml.BaseLoader)


# --- where the block is ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "state", "body"),
    [
        (b"", "absent", b""),
        (b" \n\t\n", "absent", b" \n\t\n"),
        (b"# Harbour\n", "absent", b"# Harbour\n"),
        (b"\xef\xbb\xbf# Harbour\n", "absent", b"# Harbour\n"),
        (b"---\nlevel: low\n---\n# Tide\n", "ok", b"# Tide\n"),
        (b"\xef\xbb\xbf---\nlevel: low\n---\n# Tide\n", "ok", b"# Tide\n"),
        (b"---\r\nlevel: low\r\n---\r\n# Tide\r\n", "ok", b"# Tide\r\n"),
        (b"---\rlevel: low\r---\r# Tide", "ok", b"# Tide"),
        (b"--- \t\nlevel: low\n---  \ntext", "ok", b"text"),
        (b"---\nlevel: low\n---", "ok", b""),
        (b"---\n---\n# Tide", "empty", b"# Tide"),
        (b"---\r\n---", "empty", b""),
        (b"---\n\n# only a comment\n---\nx", "empty", b"x"),
        # the body keeps every later rule
        (b"---\na: b\n---\nx\n\n---\n\nb: c\n\n---\n", "ok", b"x\n\n---\n\nb: c\n\n---\n"),
        # not on the first line at column 0
        (b"\n---\ntags: [a]\n---\n", "absent", b"\n---\ntags: [a]\n---\n"),
        (b" ---\ntags: [a]\n---\n", "absent", b" ---\ntags: [a]\n---\n"),
        (b"<!-- x -->\n---\na: b\n---\n", "absent", b"<!-- x -->\n---\na: b\n---\n"),
        (b"----\na: b\n---\n", "absent", b"----\na: b\n---\n"),
        (b"---x\na: b\n---\n", "absent", b"---x\na: b\n---\n"),
        (b"+++\ntitle = 'A'\n+++\nx", "absent", b"+++\ntitle = 'A'\n+++\nx"),
        # never closed: all of it is body
        (b"---\nHarbour log\n\ntext", "unclosed", b"---\nHarbour log\n\ntext"),
        (b"---", "unclosed", b"---"),
        (b"\xef\xbb\xbf---\na: b", "unclosed", b"---\na: b"),
        (b"---\na: b\n...\ntext", "unclosed", b"---\na: b\n...\ntext"),
        (b"---\na: b\n ---\n", "unclosed", b"---\na: b\n ---\n"),
        (b"---\na: b\n----\n", "unclosed", b"---\na: b\n----\n"),
        ("---\na: b\n---\xa0\n".encode(), "unclosed", "---\na: b\n---\xa0\n".encode()),
        # closed, but not YAML
        (b"---\naliases:\n- @ann\n---\n[[B]]", "unreadable", b"[[B]]"),
        (b"---\nwhere: `C:\\tools`\n---\nx", "unreadable", b"x"),
        (b"---\nwhen: {{date}}\n---\nx", "unreadable", b"x"),
        (b"---\n{{properties}}\n---\nx", "unreadable", b"x"),
        (b"---\nk:\n\t- x\n---\nx", "unreadable", b"x"),
        (b"---\ntags: [#a]\n---\nx", "unreadable", b"x"),
        (b"---\na: Tides: a study\n---\nx", "unreadable", b"x"),
        (b"---\na: b\n--- \x0b\nc: d\n---\nx", "unreadable", b"x"),
        # text between two rules is no block of properties, and none of it is lost
        (b"---\nA quiet harbour.\n---\nx", "unreadable", b"---\nA quiet harbour.\n---\nx"),
        (b"---\n- one\n- two\n---\nx", "unreadable", b"---\n- one\n- two\n---\nx"),
    ],
)
def test_where_the_block_ends_and_the_body_begins(data: bytes, state: str, body: bytes) -> None:
    found = read_frontmatter(data)
    assert found.state == state
    assert data[found.body_start :] == body
    assert (found.error is None) == (state in ("absent", "ok", "empty"))


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("---\nHarbour log", 1, "unclosed"),
        ("---\na: b\ntitle: Tides: a study\n---\n", 3, "invalid-yaml"),
        ("---\r\na: b\r\naliases:\r\n- @ann\r\n---\r\n", 4, "invalid-yaml"),
        ("---\na: b\nc: 'half open\nd: e\n---\n", 3, "invalid-yaml"),
        ('---\na: b\nc: "a \\q b"\n---\n', 3, "invalid-yaml"),
        ("---\na: b\nc: d\n\te: f\n---\n", 4, "invalid-yaml"),
        ("---\na: b\nstray line\nc: d\n---\n", 3, "invalid-yaml"),
        ("---\na: *nowhere\n---\n", 2, "invalid-yaml"),
        ("---\na: b\n\nat: {{date}}\n---\n", 4, "template"),
        ("---\ndeep:\n  list:\n    - x: {{y}}\n---\n", 4, "template"),
        ("---\n? [a, b]\n: c\n---\n", 2, "invalid-yaml"),
        ("---\na: &x b\n*x : c\n---\n", 3, "invalid-yaml"),
        ("---\n\nsome words\n---\n", 3, "not-a-mapping"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_without_the_text(
    text: str, line: int, code: str
) -> None:
    found = read(text)
    assert (found.error_line, found.error_code) == (line, code)
    assert found.error
    for word in ("Harbour", "Tides", "ann", "half open", "nowhere", "stray line", "some words"):
        assert word not in found.error
    assert not found.fields


def test_a_fence_inside_a_value_closes_nothing() -> None:
    text = "---\ndrawing: |\n  ---\n  x\nname: high---power\nnext: '--- a'\n---\nbody"
    assert texts(text) == {"drawing": "---\nx\n", "name": "high---power", "next": "--- a"}
    assert read(text).body_start == len(text) - len("body")


# --- values are their source text -----------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        "no",
        "Yes",
        "on",
        "true",
        "1.10",
        "012",
        "0x1F",
        "0x1DA9430",
        "0o17",
        "12:30",
        "1_000",
        "1e3",
        ".inf",
        "2020-06-03",
        "2024-01-05T09:30:00+02:00",
        "2024-01-05 09:30",
        "1789-06-01",
        "=",
        "https://example.org/a#b",
        "a\u2028b",
        "a\u2029b",
        "a\x85b",
        "a\x0cb",
        "a\x0bb",
        "a\x1cb",
        "a\ufeffb",
        "a\x1bb",
        "\ue000 \ue001\x07",
        "Größe 🗂️ 名前",
    ],
)
def test_no_value_is_converted(written: str) -> None:
    text = f"---\none: {written}\ntwo:\n- {written}\n- x\nthree: [{written}]\n---\n## H"
    found = read(text)
    one, two, three = (found.fields[key] for key in ("one", "two", "three"))
    assert (one.kind, one.text) == ("scalar", written)
    assert two.items == (written, "x")
    assert three.items == (written,)
    assert [one.line, two.line, three.line] == [2, 3, 6]


@pytest.mark.parametrize("written", ["", "~", "null", "Null", "NULL", "# text", "&anchor"])
def test_null_is_no_text(written: str) -> None:
    field = read(f"---\nk: {written}\nz: x\n---\n").fields["k"]
    assert (field.kind, field.text, field.items) == ("null", "", ())


def test_quotes_and_escapes_are_undone() -> None:
    text = (
        "---\nsingle: 'it''s'\ndouble: \"a \\\"b\\\" \\u00e9\\n\"\npath: '[[a\\|b]]'\n"
        'escaped: "[[a\\\\|b]]"\nnull: "null"\nempty: ""\n---\n'
    )
    assert texts(text) == {
        "single": "it's",
        "double": 'a "b" é\n',
        "path": "[[a\\|b]]",
        "escaped": "[[a\\|b]]",
        "null": "null",
        "empty": "",
    }
    assert {field.kind for field in read(text).fields.values()} == {"scalar"}


def test_block_scalars_hide_what_looks_like_a_property() -> None:
    text = "---\nnote: |\n  status: fake\n  ---\nfold: >-\n  a\n  b\nstatus: real\n---\n"
    assert texts(text) == {"note": "status: fake\n---\n", "fold": "a b", "status": "real"}


def test_a_quoted_value_may_hold_lines_that_look_like_properties_even_at_column_0() -> None:
    text = "---\nout: 'a\n\nstate: x\n\n  b'\nstate: y\n---\n"
    found = read(text)
    assert list(found.fields) == ["out", "state"]
    assert found.fields["state"].text == "y"
    assert found.fields["state"].line == 7


def test_values_never_carry_a_carriage_return() -> None:
    found = read('---\r\nstatus: open\r\ntags:\r\n- a\r\n- b\r\nq: "x\r\n  y"\r\n---\r\n')
    assert found.fields["status"].text == "open"
    assert found.fields["tags"].items == ("a", "b")
    assert found.fields["q"].text == "x y"


def test_what_is_nested_stays_nested() -> None:
    found = read("---\nimage:\n  title: inner\n  tags: [x]\nlist:\n- - a\n  - b\n---\n")
    assert list(found.fields) == ["image", "list"]
    assert found.fields["image"].kind == "map"
    assert found.fields["list"].items == ("- a - b",)


def test_a_list_item_that_is_a_mapping_is_its_source_line() -> None:
    text = "---\nnames:\n- Lab: Notes & Co # mine\n- ?\n- Yes\n- {a: b}\n- x: 1\n  y: 2\n---\n"
    names = read(text).fields["names"]
    assert names.items == ("Lab: Notes & Co", "?", "Yes", "{a: b}", "x: 1 y: 2")


def test_null_items_are_left_out() -> None:
    assert read("---\nk:\n- \n- a\n-\n- ~\n- null\n- ''\n---\n").fields["k"].items == ("a", "")
    assert read("---\nk: [a, ~, null]\n---\n").fields["k"].items == ("a",)


@pytest.mark.parametrize(
    ("written", "items"),
    [
        ("[[Map]]", ("[[Map]]",)),
        ("[[Map|the map]]", ("[[Map|the map]]",)),
        ("\n- [[A b]]\n- [[B]]", ("[[A b]]", "[[B]]")),
        ("[[[A]], [[B]]]", ("[[A]]", "[[B]]")),
    ],
)
def test_an_unquoted_wikilink_is_kept_and_marked(written: str, items: tuple[str, ...]) -> None:
    field = read(f"---\nup: {written}\n---\n").fields["up"]
    assert field.items == items
    assert [flaw.code for flaw in field.flaws] == ["unquoted-wikilink"] * len(items)


def test_a_list_of_lists_is_no_wikilink() -> None:
    field = read("---\nmatrix: [[1, 2], [3, 4]]\nup: '[[Map]]'\n---\n").fields["matrix"]
    assert field.items == ("[1, 2]", "[3, 4]")
    assert not field.flaws


def test_a_value_that_a_comment_cuts_short_is_marked() -> None:
    found = read(
        "---\ntitle: Leak behind #13 and #14\nnote: fine # a comment\ntags: #todo\n"
        "color: #F7CE46\nlist:\n- see #9\n- 'see #9'\nquoted: 'x' #y\n---\n"
    )
    cut = {
        key: [(flaw.code, flaw.line) for flaw in field.flaws]
        for key, field in found.fields.items()
        if field.flaws
    }
    assert cut == {
        "title": [("cut-by-comment", 2)],
        "tags": [("cut-by-comment", 4)],
        "color": [("cut-by-comment", 5)],
        "list": [("cut-by-comment", 7)],
    }
    assert found.fields["title"].text == "Leak behind"
    assert found.fields["tags"].kind == "null"


def test_anchors_and_aliases_are_read_and_merge_keys_are_not_followed() -> None:
    found = read("---\nbase: &b {type: idea}\nword: &w tide\nagain: *w\nl: [*w, x]\n<<: *b\n---\n")
    assert found.fields["again"].text == "tide"
    assert found.fields["l"].items == ("tide", "x")
    assert "type" not in found.fields
    assert found.fields["<<"].kind == "map"


def test_duplicate_keys_are_all_told() -> None:
    found = read("---\nstate: a\nx: y\nstate: b\n\n'state': c\n---\n")
    assert found.state == "ok"
    assert found.duplicates == {"state": (2, 4, 6)}
    assert found.fields["state"].text == "c"


def test_keys_that_yaml_would_convert_stay_text() -> None:
    assert list(read("---\nno: a\n1: b\n2024-01-05: c\n~: d\n---\n").fields) == [
        "no",
        "1",
        "2024-01-05",
        "~",
    ]


# --- spans ----------------------------------------------------------------------------------------


def test_spans_are_bytes_of_the_file() -> None:
    text = (
        "\ufeff---\nnämé: 'Größe 🗂️' # why\ntags:\n  - é\n  - \"b\" # x\n# end\n\nflow: [é, b]\n"
        "text: |\n  línea\n\n\nnone:\nlast: x\n---\n"
    )
    data = text.encode()
    found = read_frontmatter(data)
    spans = {key: data[field.start : field.end].decode() for key, field in found.fields.items()}
    assert spans == {
        "nämé": "'Größe 🗂️'",
        "tags": '- é\n  - "b"',
        "flow": "[é, b]",
        "text": "|\n  línea",
        "none": "",
        "last": "x",
    }
    for key, field in found.fields.items():
        assert data[field.key_start :].decode().startswith(key)
        assert data[: field.key_start].count(b"\n") + 1 == field.line
    assert [data[at:].decode()[:1] for at in found.fields["tags"].item_starts] == ["é", '"']
    assert [data[at:].decode()[:1] for at in found.fields["flow"].item_starts] == ["é", "b"]


def test_the_blank_lines_that_a_keep_scalar_holds_are_its_own() -> None:
    data = b"---\nkeep: |+\n  x\n\n\nclip: |\n  x\n\n\nlast: y\n---\n"
    found = read_frontmatter(data)
    keep, clip = found.fields["keep"], found.fields["clip"]
    assert keep.text == "x\n\n\n"
    assert data[keep.start : keep.end] == b"|+\n  x\n\n\n"
    assert data[clip.start : clip.end] == b"|\n  x"


# --- damage ---------------------------------------------------------------------------------------


def test_invalid_utf8_is_told_and_shown_as_replacement_characters() -> None:
    data = b"---\ntitle: caf\xe9 \xff\nok: fine\n---\nbody \xe9\n"
    found = read_frontmatter(data)
    assert found.state == "ok"
    assert found.fields["title"].text == "caf\ufffd \ufffd"
    assert found.fields["ok"].text == "fine"
    assert data[found.fields["ok"].start : found.fields["ok"].end] == b"fine"
    assert found.invalid_utf8_line == 2
    assert read_frontmatter(b"# a\r\rb\n caf\xe9").invalid_utf8_line == 4
    assert read_frontmatter("---\nä: é\n---\nü".encode()).invalid_utf8_line is None


def test_nul_is_told_and_never_in_a_text() -> None:
    found = read_frontmatter(b'---\na: x\x00y\nb: "\\0"\nc: [p\x00q]\n---\n')
    assert (found.fields["a"].text, found.fields["b"].text) == ("x\ufffdy", "\ufffd")
    assert found.fields["c"].items == ("p\ufffdq",)
    assert found.nul_line == 2
    assert read_frontmatter(b"one\ntwo\n\x00").nul_line == 3
    assert read_frontmatter(b"one\n").nul_line is None


_PIECES = [
    b"---",
    b"---\n",
    b"\n",
    b"\r",
    b"\r\n",
    b"...\n",
    b"a: ",
    b"b",
    b"- ",
    b"[",
    b"]",
    b"{",
    b"}",
    b"'",
    b'"',
    b"|",
    b">+",
    b"&x ",
    b"*x",
    b"!t ",
    b"? ",
    b": ",
    b"#",
    b" #",
    b"  ",
    b"\t",
    b"%",
    b"@",
    b",",
    b"\\",
    b"\x00",
    b"\xe9",
    "é".encode(),
    "\u2028".encode(),
    b"\xef\xbb\xbf",
    b"<<: ",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map(b"".join) | st.binary(max_size=60))
@example(b"---\n&x [*x]\n---\n")
@example(b"---\na: &x [*x]\n---\n")
@example(b"---\n&x a: *x\n---\n")
@settings(max_examples=400, deadline=None)
def test_reading_never_fails(rest: bytes) -> None:
    for data in (rest, b"---\n" + rest + b"\n---\nbody"):
        found = read_frontmatter(data)
        assert 0 <= found.body_start <= len(data)
        for field in found.fields.values():
            assert 0 <= field.key_start <= field.start <= field.end <= found.body_start
            assert len(field.items) == len(field.item_starts)
            for text in (field.text, *field.items):
                assert "\0" not in text
                text.encode()


@pytest.mark.parametrize(
    "content",
    [
        "a: " + "[" * 50_000,
        "a: " + "[" * 50_000 + "]" * 50_000,
        "a: " + "{a: " * 20_000,
        "- " * 50_000,
        "? " * 50_000,
        "".join(" " * i + "a:\n" for i in range(1_500)),
    ],
)
def test_bombs_of_depth_are_unreadable(content: str) -> None:
    found = read(f"---\n{content}\n---\nbody")
    assert found.state == "unreadable"
    assert found.error_line is not None


def test_a_bomb_of_aliases_stays_small() -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 200)]
    found = read("---\n" + "\n".join(lines) + "\n---\n")
    assert found.state in ("ok", "unreadable")
    assert sum(len(field.items) for field in found.fields.values()) < 1_000
