"""Against an independent reader of frontmatter: we agree wherever it reads rightly.

Where we differ on purpose is listed here, case by case, so that nothing else differs.
"""

import datetime
import math
from typing import Any

import frontmatter as oracle
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.contract.frontmatter import FieldValue, read_frontmatter

WORDS = st.text(
    st.characters(
        codec="utf-8",
        exclude_categories=["Cs", "Cc", "Cn", "Co"],
        exclude_characters="\u2028\u2029\ufeff",
    ),
    max_size=20,
)
TEXTS = WORDS | st.sampled_from(
    [
        "yes",
        "1.10",
        "a: b",
        "# x",
        "a #b",
        "it's",
        '"q"',
        "line\nline\n",
        " a",
        "a\n\n  b",
        "---\n-",
    ]
)
SCALARS = (
    TEXTS
    | st.booleans()
    | st.none()
    | st.integers(-(10**6), 10**6)
    | st.floats(-1e6, 1e6)
    | st.dates()
    | st.datetimes()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["tags", "größe", "a b", "x-y", "stage", "no", "1x", "a:b", "'q'"])
STYLES = st.fixed_dictionaries(
    {
        "default_flow_style": st.sampled_from([None, False]),
        "default_style": st.sampled_from([None, '"', "'", "|", ">"]),
        "allow_unicode": st.booleans(),
        "width": st.sampled_from([20, 80, 10_000]),
        "indent": st.sampled_from([2, 4]),
        "sort_keys": st.just(False),
    }
)


def agrees(field: FieldValue, value: Any) -> bool:
    """Whether our source text is what the oracle's typed value was made from."""
    if isinstance(value, list):
        ours = iter(field.items)
        return field.kind == "list" and all(
            isinstance(item, list | dict) or same_scalar(text, item)
            for item, text in ((item, next(ours, None)) for item in value if item is not None)
        )
    if isinstance(value, dict):
        return field.kind == "map"
    if value is None:
        return field.kind == "null"
    return field.kind == "scalar" and same_scalar(field.text, value)


def same_scalar(text: str | None, value: Any) -> bool:
    if text is None:
        return False
    if isinstance(value, str):
        return text == value
    typed = yaml.safe_load(text)
    if isinstance(value, float) and math.isnan(value):
        return isinstance(typed, float) and math.isnan(typed)
    return type(typed) is type(value) and typed == value


@given(
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=5),
    STYLES,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "# T\n", "text\n\n---\n\na: b\n\n---\nend"]),
)
@settings(max_examples=400, deadline=None)
def test_we_agree_on_whatever_a_yaml_writer_writes(
    metadata: dict[str, Any], style: dict[str, Any], line_end: str, body: str
) -> None:
    written = yaml.safe_dump(metadata, **style)
    text = f"---\n{written}---\n{body}".replace("\n", line_end)
    read = oracle.loads(text)
    ours = read_frontmatter(text.encode())
    assert ours.state == "ok"
    assert list(ours.fields) == list(read.metadata)
    for key, value in read.metadata.items():
        assert agrees(ours.fields[key], value), (key, ours.fields[key], value)
    body_read = text.encode()[ours.body_start :].decode()
    assert body_read.replace("\r\n", "\n").strip() == read.content


@pytest.mark.parametrize(
    "text",
    [
        "---\na: b\n--- \t\nx",
        "---\na: b\n---",
        "---\n---\nx",
        "---\na: b\n...\nx",
        "---\na: b\n",
        "plain text",
        "",
        "---\r\na: b\r\n---\r\nx",
        "---\na: |\n  ---\n  x\n---\ny",
        "---\na: x---y\n---\ny",
        "---\n{a: b, c: [d]}\n---\nx",
        "---\na: 'it''s'\nb: \"x \\\"y\\\" \\u00e9\"\n---\nx",
        "---\na:\n- \n- x\nb:\n---\nx",
        "---\na: &w x\nb: *w\n---\nx",
        "---\na: x\n  y\n\n  z\n---\nx",
        "---\nout: 'a\n\nstate: x\n\n  b'\nstate: z\n---\n",
    ],
)
def test_we_agree_on_forms_a_writer_does_not_write(text: str) -> None:
    read = oracle.loads(text)
    ours = read_frontmatter(text.encode())
    assert list(ours.fields) == list(read.metadata)
    assert all(agrees(ours.fields[key], value) for key, value in read.metadata.items())
    assert text.encode()[ours.body_start :].decode().strip() == read.content


# (what it is, text, the oracle's keys or the error it raises, our state, our keys)
DIFFERENCES: list[tuple[str, str, list[str] | type[Exception], str, list[str]]] = [
    ("a blank line before the block", "\n---\na: b\n---\nx", ["a"], "absent", []),
    ("fences of four dashes", "----\na: b\n----\nx", ["a"], "absent", []),
    ("closed by four dashes", "---\na: b\n----\nx", ["a"], "unclosed", []),
    ("a byte order mark", "\ufeff---\na: b\n---\nx", [], "ok", ["a"]),
    ("lone carriage returns", "---\ra: b\r---\rx", [], "ok", ["a"]),
    ("text between two rules", "---\nwords\n---\nx", [], "unreadable", []),
    ("a merge key", "---\nb: &b {c: d}\n<<: *b\n---\n", ["c", "b"], "ok", ["b", "<<"]),
    ("U+2028 in a value", "---\na: x\u2028y\n---\n", yaml.YAMLError, "ok", ["a"]),
    ("a form feed in a value", "---\na: x\x0cy\n---\n", yaml.YAMLError, "ok", ["a"]),
    ("a lone equals sign", "---\na: =\n---\n", yaml.YAMLError, "ok", ["a"]),
    ("a tag of its own", "---\na: !mine x\n---\n", yaml.YAMLError, "ok", ["a"]),
    ("a key that is no string", "---\n1: b\n---\n", TypeError, "ok", ["1"]),
    ("a placeholder", "---\na: {{b}}\n---\n", yaml.YAMLError, "unreadable", []),
    ("a value with a colon", "---\na: b: c\n---\n", yaml.YAMLError, "unreadable", []),
    ("an impossible date", "---\na: 2024-02-30\n---\n", ValueError, "ok", ["a"]),
]


@pytest.mark.parametrize(
    ("text", "theirs", "state", "keys"),
    [case[1:] for case in DIFFERENCES],
    ids=[case[0] for case in DIFFERENCES],
)
def test_where_we_differ_on_purpose(
    text: str, theirs: list[str] | type[Exception], state: str, keys: list[str]
) -> None:
    if isinstance(theirs, list):
        assert list(oracle.loads(text).metadata) == theirs
    else:
        with pytest.raises(theirs):
            oracle.loads(text)
    ours = read_frontmatter(text.encode())
    assert (ours.state, list(ours.fields)) == (state, keys)


def test_the_oracle_converts_and_keeps_the_last_duplicate_where_we_do_neither() -> None:
    text = "---\na: 12:30\nb: 0x1F\nc: no\nd: 1.10\ne: 2024-01-05\nf: one\nf: two\n---\n"
    assert oracle.loads(text).metadata == {
        "a": 750,
        "b": 31,
        "c": False,
        "d": 1.1,
        "e": datetime.date(2024, 1, 5),
        "f": "two",
    }
    ours = read_frontmatter(text.encode())
    assert [field.text for field in ours.fields.values()] == [
        "12:30",
        "0x1F",
        "no",
        "1.10",
        "2024-01-05",
        "two",
    ]
    assert ours.duplicates == {"f": (7, 8)}
