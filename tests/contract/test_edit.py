# ruff: noqa: E501 - a note before and after an edit is read on one line
"""One key changes; every other byte stays."""

import pytest
import yaml

from agentm_assets.contract.edit import EditRefused, _check_rest, remove_key, set_key
from agentm_assets.contract.frontmatter import read_frontmatter

Value = str | bool | int | float | list[str]


def edited(text: str, key: str, value: Value) -> str:
    """The edited text; the edit is shown to be idempotent on the way."""
    result = set_key(text.encode(), key, value)
    assert set_key(result, key, value) == result
    return result.decode()


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        # line ends, byte order mark and blanks are the note's own
        (
            "---\r\nstage: open\r\n---\r\n# T\r\n",
            "stage",
            "done",
            "---\r\nstage: done\r\n---\r\n# T\r\n",
        ),
        ("---\rstage: open\r---\rx", "stage", "done", "---\rstage: done\r---\rx"),
        (
            "---\na: b\r\nstage: open\rc: d\n---\n",
            "stage",
            "done",
            "---\na: b\r\nstage: done\rc: d\n---\n",
        ),
        ("---  \na: b\n--- \t\nx", "a", "c", "---  \na: c\n--- \t\nx"),
        ("\ufeff---\na: b\n---\n", "a", "c", "\ufeff---\na: c\n---\n"),
        ("---\na:   b  \n---", "a", "c", "---\na:   c  \n---"),
        ("---\n'a' : b\n\"c\": d\n---\n", "a", "e", "---\n'a' : e\n\"c\": d\n---\n"),
        ("---\n  a: b\n  c: d\n---\n", "c", "e", "---\n  a: b\n  c: e\n---\n"),
        # comments survive
        ("---\n# keep\na: 1 # why\n---\n", "a", 2, "---\n# keep\na: 2 # why\n---\n"),
        ("---\na: 'x' # why\n---\n", "a", "w", "---\na: w # why\n---\n"),
        ("---\na: # why\n---\n", "a", "w", "---\na: w # why\n---\n"),
        ("---\na: |- # why\n  x\n  y\n# b: c\nd: e\n---\n", "a", "z", "---\na: z # why\n# b: c\nd: e\n---\n"),
        # scalars over several lines are replaced whole, and only they
        ("---\na: |\n  b: fake\nb: real\n---\n", "b", "x", "---\na: |\n  b: fake\nb: x\n---\n"),
        ("---\na: |\n  b: fake\n\nb: real\n---\n", "a", "x", "---\na: x\n\nb: real\n---\n"),
        ("---\na: >+\n  x\n\n\nb: c\n---\n", "a", "x", "---\na: x\nb: c\n---\n"),
        ("---\na: |\nb: c\n---\n", "a", "x", "---\na: x\nb: c\n---\n"),
        ("---\na: 'x\n\nb: fake\n\n  y' # z\nb: c\n---\n", "b", "d", "---\na: 'x\n\nb: fake\n\n  y' # z\nb: d\n---\n"),
        ("---\na: 'x\n\nb: fake\n\n  y' # z\nb: c\n---\n", "a", "d", "---\na: d # z\nb: c\n---\n"),
        ("---\na: x\n  y\n\n  z\nb: c\n---\n", "a", "d", "---\na: d\nb: c\n---\n"),
        ("---\na:\n  x\nb: c\n---\n", "a", "d", "---\na:\n  d\nb: c\n---\n"),
        ("---\nd: |\n  ---\n  x\nt: a---b\n---\ny", "t", "z", "---\nd: |\n  ---\n  x\nt: z\n---\ny"),
        # null, booleans, numbers
        ("---\na:\nb:\n---\n", "a", "x", "---\na: x\nb:\n---\n"),
        ("---\na: ~\n---\n", "a", "x", "---\na: x\n---\n"),
        ("---\npublish: true\n---\n", "publish", False, "---\npublish: false\n---\n"),
        ("---\npublish: True\n---\n", "publish", True, "---\npublish: true\n---\n"),
        ("---\npublish: 'true'\n---\n", "publish", True, "---\npublish: true\n---\n"),
        ("---\nconfidence: 0.5\n---\n", "confidence", 0.75, "---\nconfidence: 0.75\n---\n"),
        ("---\nn: 1.10\n---\n", "n", "1.20", "---\nn: 1.20\n---\n"),
        ("---\nn: draft\n---\n", "n", "1.20", '---\nn: "1.20"\n---\n'),
        # block lists keep their form, their comments and the source of items that stay
        (
            "---\ntags:\n  - 'a' # one\n  # two\n  - b\n  - https://example.org/x\nz: y\n---\n",
            "tags",
            ["a", "c", "https://example.org/x", "d: e"],
            "---\ntags:\n  - 'a' # one\n  # two\n  - c\n  - https://example.org/x\n"
            '  - "d: e"\nz: y\n---\n',
        ),
        ("---\ntags:\r\n- a\r\n- b\r\n---\n", "tags", ["a", "b", "c"], "---\ntags:\r\n- a\r\n- b\r\n- c\r\n---\n"),
        ("---\ntags:\n- b\n- a # x\n---\n", "tags", ["a", "b"], "---\ntags:\n- a # x\n- b\n---\n"),
        ("---\ntags:\n- a\n- \n---\n", "tags", ["a"], "---\ntags:\n- a\n---\n"),
        ("---\ntags:\n-\n---\n", "tags", ["a"], "---\ntags:\n- a\n---\n"),
        ("---\ntags: # t\n- a\n# l\n- b\n# end\nz: y\n---\n", "tags", [], "---\ntags: [] # t\n# l\n# end\nz: y\n---\n"),
        ("---\ntags:\n- a\n- b\nz: y\n---\n", "tags", "c", "---\ntags: c\nz: y\n---\n"),
        (
            "---\naliases:\n- Lab: Notes & Co\n- ?\n---\n",
            "aliases",
            ["Lab: Notes & Co", "?", "x"],
            "---\naliases:\n- Lab: Notes & Co\n- ?\n- x\n---\n",
        ),
        (
            "---\nk:\n- |\n  b\n\n- a\n---\n",
            "k",
            ["b\n", "c"],
            "---\nk:\n- |\n  b\n\n- c\n---\n",
        ),
        # flow lists too
        ("---\ntags: [a, 'b' ,  c] # x\n---\n", "tags", ["a", "b", "c", "d"], "---\ntags: [a, 'b' ,  c, d] # x\n---\n"),
        ("---\ntags: [a, 'b' ,  c] # x\n---\n", "tags", ["z", "b"], "---\ntags: [z, 'b'] # x\n---\n"),
        ("---\ntags: []\n---\n", "tags", ["a, b", "c:d", "[e]"], '---\ntags: ["a, b", "c:d", "[e]"]\n---\n'),
        ("---\ntags: [a,\n  b]\nz: y\n---\n", "tags", ["b"], "---\ntags: [b]\nz: y\n---\n"),
        ("---\ntags: [a, # x\n  b]\n---\n", "tags", ["a", "b", "c"], "---\ntags: [a, # x\n  b, c]\n---\n"),
        # a value becomes a list and back
        ("---\ntags:\n---\n", "tags", ["a"], "---\ntags: [a]\n---\n"),
        ("---\ntags: a, b\n---\n", "tags", ["a", "b"], "---\ntags: [a, b]\n---\n"),
        ("---\ntags: '[\"a\"]'\n---\n", "tags", ["a"], "---\ntags: [a]\n---\n"),
        ("---\nup: [[Map]]\n---\n", "up", "[[Map]]", '---\nup: "[[Map]]"\n---\n'),
        # new keys
        ("---\n---\n# T", "type", "idea", "---\ntype: idea\n---\n# T"),
        ("---\r\n---", "type", "idea", "---\r\ntype: idea\r\n---"),
        ("---\n# c\n---\n", "mood", "x", "---\n# c\nmood: x\n---\n"),
        ("---\na: b\n# c: d\n---\n", "mood", "x", "---\na: b\n# c: d\nmood: x\n---\n"),
        ("---\na: |+\n  x\n\n---\n", "mood", "x", "---\na: |+\n  x\n\nmood: x\n---\n"),
        (
            "---\ntype: idea\nmine: 1\ntags:\n- a\n\n# c\nsource: x\n---\n",
            "aliases",
            ["b"],
            "---\ntype: idea\nmine: 1\ntags:\n- a\naliases: [b]\n\n# c\nsource: x\n---\n",
        ),
        ("---\nmine: 1\n# c\ntags: [a]\n---\n", "type", "fix", "---\nmine: 1\ntype: fix\n# c\ntags: [a]\n---\n"),
        ("---\na: b\rtags: [c]\r\nd: e\n---\n", "slug", "x", "---\na: b\rslug: x\rtags: [c]\r\nd: e\n---\n"),
        ("---\na: b\n---\n", "odd key: x", "w", '---\na: b\n"odd key: x": w\n---\n'),
        ("---\na: b\n---\n", "no", "w", '---\na: b\n"no": w\n---\n'),
        ("---\na: |\n  b\n\n  # c\ntags: d\n---\n", "type", "fix", "---\na: |\n  b\n\n  # c\ntype: fix\ntags: d\n---\n"),
        # a note without a block gets one
        ("# T\n", "type", "idea", "---\ntype: idea\n---\n# T\n"),
        ("", "type", "idea", "---\ntype: idea\n---\n"),
        ("\ufeff# T\r\nx\r\ny\n", "type", "idea", "\ufeff---\r\ntype: idea\r\n---\r\n# T\r\nx\r\ny\n"),
        ("# T\rx", "type", "idea", "---\rtype: idea\r---\r# T\rx"),
        ("text\n\n---\n\nmore\n", "type", "idea", "---\ntype: idea\n---\ntext\n\n---\n\nmore\n"),
        ("\n\n---\n\nmore\n", "type", "idea", "---\ntype: idea\n---\n\n\n---\n\nmore\n"),
        # other keys may be in any state
        ("---\nx: 1\nx: 2\na: b\n---\n", "a", "c", "---\nx: 1\nx: 2\na: c\n---\n"),
        ("---\nk: &w x\na: *w # y\n---\n", "a", "c", "---\nk: &w x\na: c # y\n---\n"),
        ("---\nm:\n  a: 1\na: b\n---\n", "a", "c", "---\nm:\n  a: 1\na: c\n---\n"),
        ("---\nl: '2024-01-05' # d\nd: 1789-06-01\na: b\n---\n", "a", "c", "---\nl: '2024-01-05' # d\nd: 1789-06-01\na: c\n---\n"),
    ],
)  # fmt: skip
def test_set(before: str, key: str, value: Value, after: str) -> None:
    assert edited(before, key, value) == after


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("---\na: b\nc: d\n---\nx", "a", "---\nc: d\n---\nx"),
        ("---\r\na: b # x\r\n---\r\nx", "a", "---\r\n---\r\nx"),
        ("---\na: |\n  b: c\n\n# k\nd: e\n---\n", "a", "---\n\n# k\nd: e\n---\n"),
        ("---\na:\n- b\n# k\n\nd: e\n---\n", "a", "---\n# k\n\nd: e\n---\n"),
        ("---\na:\n  b: c\nd: e\n---\n", "a", "---\nd: e\n---\n"),
        ("---\na: [b,\n  c]\nd: e\n---\n", "a", "---\nd: e\n---\n"),
        ("---\na: 'b\n\n  c'\nd: e\n---", "d", "---\na: 'b\n\n  c'\n---"),
        ("---\na: b\n---\n", "z", "---\na: b\n---\n"),
        ("a: b\n", "a", "a: b\n"),
    ],
)
def test_remove(before: str, key: str, after: str) -> None:
    assert remove_key(before.encode(), key).decode() == after


@pytest.mark.parametrize(
    ("data", "key", "line"),
    [
        (b"---\nHarbour log\n\ntext", "a", 1),
        (b"---\na: b\n...\nx", "a", 1),
        (b"---\naliases:\n- @ann\n---\n", "aliases", 3),
        (b"---\naliases:\n- @ann\n---\n", "other", 3),
        (b"---\nwhere: `C:\\tools`\n---\n", "a", 2),
        (b"---\ncreated: {{date}}\n---\n", "created", 2),
        (b"---\nA quiet harbour.\n---\nx", "a", 2),
        (b"---\na: b\nc: d\na: e\n---\n", "a", 2),
        (b"---\na:\n  b: c\n---\n", "a", 2),
        (b"---\na: {b: c}\n---\n", "a", 2),
        (b"---\nx: y\na: [b, # why\n  c]\n---\n", "a", 3),
        (b"---\n{a: b}\n---\n", "a", 2),
        (b"---\n? a\n: b\n---\n", "a", 2),
        (b"---\nx: &w [y]\na: *w\n---\n", "x", None),
        (b"---\na: &w b\nc: *w\n---\n", "a", None),
        (b"---\na: b\n...\n---\n", "c", None),
        # other tools' metadata, and blocks that do not start the file, get no second block on top
        (b"+++\ntitle = 'A'\n+++\nx", "a", 1),
        (b"\xef\xbb\xbf+++\ntitle = 'A'\n+++\nx", "a", 1),
        (b"---toml\ntitle = 'A'\n---\nx", "a", 1),
        (b";;;\n{}\n;;;\nx", "a", 1),
        (b"{\n  \"title\": 1\n}\nx", "a", 1),
        (b"\n---\ntags: [a]\n---\n", "tags", 2),
        (b"\n\n  ---\n  tags: [a]\n  ---\n", "tags", 3),
        (b"<!-- made by\na tool -->\n---\ntags: [a]\n---\n", "tags", 3),
        (b"# comment\n---\ntags: [a]\n---\n", "tags", 2),
        ("---\na: b\n---\n".encode("utf-16"), "a", 1),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused(data: bytes, key: str, line: int | None) -> None:
    with pytest.raises(EditRefused) as refusal:
        set_key(data, key, "new")
    assert refusal.value.line == line
    assert refusal.value.reason
    for word in ("Harbour", "ann", "tools", "quiet", "why"):
        assert word not in str(refusal.value)


def test_a_duplicated_key_is_refused_with_all_its_lines() -> None:
    data = b"---\nstate: a\nx: y\nstate: b\n---\n"
    for edit in (lambda: set_key(data, "state", "c"), lambda: remove_key(data, "state")):
        with pytest.raises(EditRefused, match="lines 2, 4"):
            edit()


@pytest.mark.parametrize("data", [b"---\na: b", b"---\n- @a\n---\n"])
def test_nothing_is_removed_from_a_block_that_cannot_be_read(data: bytes) -> None:
    with pytest.raises(EditRefused):
        remove_key(data, "a")


@pytest.mark.parametrize("value", ["a\0b", "a\ud800b", ["x", "\0"]])
def test_what_no_reader_gives_back_is_not_written(value: str | list[str]) -> None:
    for data in (b"---\na: b\n---\n", b""):
        with pytest.raises(EditRefused, match="NUL"):
            set_key(data, "a", value)


@pytest.mark.parametrize("key", ["", " a", "a ", "a\nb: c", "a\0", "a\u2028b", "a\x85b"])
def test_names_that_break_the_line_are_refused(key: str) -> None:
    with pytest.raises(EditRefused):
        set_key(b"---\na: b\n---\n", key, "x")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_without_a_value_are_refused(number: float) -> None:
    with pytest.raises(EditRefused):
        set_key(b"", "confidence", number)


SURPRISES = [
    "yes",
    "No",
    "on",
    "true",
    "null",
    "~",
    "",
    " ",
    "1",
    "1.10",
    "012",
    "0x1F",
    "0o17",
    "12:30",
    "1_000",
    "1e3",
    ".5",
    "-1",
    "+1",
    ".inf",
    ".nan",
    "2024-01-05",
    "2024-01-05 09:30",
    "y",
    "n",
    "=",
    "<<",
    "| text",
    "> text",
    "# text",
    "a # b",
    "a #b",
    "a: b",
    "a:",
    ": a",
    "- a",
    "-",
    "? a",
    "@a",
    "`a`",
    "%a",
    "!a",
    "&a",
    "*a",
    "{a}",
    "{{a}}",
    "[a]",
    "[[Map]]",
    "see [[Map]]",
    "a, b",
    "'a'",
    '"a"',
    "it's",
    'say "hi"',
    "C:\\tools",
    "a\\",
    "---",
    "...",
    " a",
    "a ",
    "a\nb: c",
    "a\r\nb",
    "\n",
    "a\tb",
    "\t",
    "a\x07b",
    "a\x85b",
    "a\u2028b",
    "\ufeffa",
    "a\ufffeb",
    "\xa0a",
    "é",
    "名前",
    "🗂️",
    "a" * 500,
    "a b " * 100 + "c",
]


@pytest.mark.parametrize("text", SURPRISES)
def test_what_is_written_is_what_any_yaml_reader_reads(text: str) -> None:
    for before in ("", "---\nk: old\nl:\n- old\nm: [old]\n---\n", "---\nk:\nl:\nm: []\n---\n"):
        data = before.encode()
        for key, value in (("k", text), ("l", [text, "x"]), ("m", ["x", text])):
            data = set_key(data, key, value)  # type: ignore[arg-type]
        found = read_frontmatter(data)
        assert found.fields["k"].text == text
        assert found.fields["l"].items == (text, "x")
        assert found.fields["m"].items == ("x", text)
        block = data.decode().split("---\n")[1] if text != "---" else None
        if block is not None:
            assert yaml.safe_load(block) == {"k": text, "l": [text, "x"], "m": ["x", text]}


def test_an_iso_date_is_plain_under_a_key_that_holds_dates_and_quoted_elsewhere() -> None:
    data = set_key(b"", "captured", "2026-08-18T10:00:00+00:00")
    data = set_key(data, "title", "2026-08-18")
    assert data == b'---\ncaptured: 2026-08-18T10:00:00+00:00\ntitle: "2026-08-18"\n---\n'


def test_invalid_utf8_elsewhere_in_the_block_and_the_body_is_kept() -> None:
    data = b"---\na: caf\xe9\nb: x\n---\nbody \xff\x00"
    assert set_key(data, "b", "w") == b"---\na: caf\xe9\nb: w\n---\nbody \xff\x00"
    assert set_key(data, "a", "w") == b"---\na: w\nb: x\n---\nbody \xff\x00"


def test_the_order_of_a_memorys_properties() -> None:
    data = b"# T\n"
    for key in ("summary", "type", "aliases", "captured", "status", "mine", "tags", "probe"):
        data = set_key(data, key, "x")
    assert list(read_frontmatter(data).fields) == [
        "type",
        "status",
        "captured",
        "tags",
        "aliases",
        "summary",
        "probe",
        "mine",
    ]


@pytest.mark.parametrize(
    ("edited", "reason"),
    [
        (b"---\na: new\nb: c\n---\nbody!", "body"),
        (b"---\na: new\nb: d\n---\nbody", "another property"),
        (b"---\na: new\nb: 'c'\n---\nbody", "another property"),
        (b"---\na: new\n---\nbody", "other properties"),
        (b"---\na: new\nb: c\nd: e\n---\nbody", "other properties"),
        (b"---\na: new\na: new\nb: c\n---\nbody", "could not be read"),
        (b"---\na: new\nb: c: d\n---\nbody", "could not be read"),
        (b"---\na: new\nb: c\nbody", "could not be read"),
    ],
)
def test_the_last_check_refuses_whatever_else_would_change(edited: bytes, reason: str) -> None:
    data = b"---\na: old\nb: c\n---\nbody"
    _check_rest(data, read_frontmatter(data), data, read_frontmatter(data), "a")
    with pytest.raises(EditRefused, match=reason):
        _check_rest(data, read_frontmatter(data), edited, read_frontmatter(edited), "a")
