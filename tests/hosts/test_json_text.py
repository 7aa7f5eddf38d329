"""Editing JSON in place: the value is right, and every other byte is where it was."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.hosts.json_text import (
    NotPlainJson,
    add_item,
    add_member,
    parse,
    remove_item,
    remove_member,
)

ENTRY = {"command": "agentm", "args": ["mcp"]}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)
LAYOUTS = st.sampled_from([None, 0, 2, 4, "\t"])


@given(OBJECTS, LAYOUTS, st.booleans())
def test_an_added_member_is_all_that_changes(value: Any, indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    changed = (
        add_member(text, ("mcpServers",), "agentm", ENTRY) if "mcpServers" not in value else text
    )
    assert json.loads(changed) == {**value, "mcpServers": {"agentm": ENTRY}}
    inside = text[1:-1].strip()
    assert inside in changed
    back = remove_member(changed, (), "mcpServers")
    assert json.loads(back) == value
    if inside:
        assert back == text


@given(st.dictionaries(st.text(min_size=1, max_size=5), VALUES, min_size=1, max_size=4), LAYOUTS)
def test_beside_others_adding_and_removing_is_exact(others: Any, indent: Any) -> None:
    others.pop("agentm", None)
    text = json.dumps({"a": 1, "mcpServers": {"x": 0, **others}, "z": [1]}, indent=indent)
    changed = add_member(text, ("mcpServers",), "agentm", ENTRY)
    assert json.loads(changed)["mcpServers"] == {"agentm": ENTRY, "x": 0, **others}
    assert remove_member(changed, ("mcpServers",), "agentm") == text


@given(OBJECTS, LAYOUTS)
def test_a_value_that_is_there_is_replaced_where_it_stands(value: Any, indent: Any) -> None:
    text = json.dumps({"a": 1, "k": value, "z": 2}, indent=indent)
    changed = add_member(text, (), "k", "new")
    assert list(json.loads(changed).items()) == [("a", 1), ("k", "new"), ("z", 2)]


@given(st.lists(VALUES, max_size=4), LAYOUTS)
def test_items_come_first_and_go_again(items: Any, indent: Any) -> None:
    text = json.dumps({"hooks": {"Stop": items}}, indent=indent)
    changed = add_item(text, ("hooks",), "Stop", ENTRY)
    assert json.loads(changed)["hooks"]["Stop"] == [ENTRY, *items]
    back = remove_item(changed, ("hooks",), "Stop", 0)
    assert json.loads(back) == json.loads(text)
    if items:
        assert back == text
        last = remove_item(text, ("hooks",), "Stop", len(items) - 1)
        assert json.loads(last)["hooks"]["Stop"] == items[:-1]


def test_line_ends_and_tabs_are_those_of_the_file() -> None:
    text = '{\r\n\t"a": 1\r\n}\r\n'
    changed = add_member(text, ("s",), "agentm", {"x": 1})
    assert changed == (
        '{\r\n\t"s": {\r\n\t\t"agentm": {\r\n\t\t\t"x": 1\r\n\t\t}\r\n\t},\r\n\t"a": 1\r\n}\r\n'
    )


def test_the_last_of_two_members_counts_as_for_every_reader() -> None:
    assert json.loads(add_member('{"k": 1, "k": {"x": 1}}', ("k",), "y", 2))["k"] == {
        "y": 2,
        "x": 1,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  // mine\n  "a": 1\n}', "comment"),
        ('{"a": 1 /* mine */}', "comment"),
        ('{"a": 1,}', "comma"),
        ('{"a": [1,]}', "comma"),
        ('{"a": 1', "too early"),
        ("", "too early"),
        ('{"a": 1} x', "follows"),
        ("{'a': 1}", "no plain JSON"),
        ('{"a": NaN}', "no plain JSON"),
        ('{"a" 1}', "colon"),
        ('{"a": "x\ny"}', "string"),
        ("[1]", "no object"),
        ('{"mcpServers": []}', "no object"),
        ('{"mcpServers": null}', "no object"),
        ("[" * 5_000, "nested"),
        ('{"a":' * 5_000, "nested"),
    ],
)
def test_what_is_no_plain_json_is_refused(text: str, said: str) -> None:
    with pytest.raises(NotPlainJson, match=said):
        add_member(text, ("mcpServers",), "agentm", ENTRY)


@given(st.text(alphabet='{}[]":,0123456789.eE+-truefalsn \n\\/', max_size=30))
def test_what_is_taken_is_json(text: str) -> None:
    try:
        value = parse(text)
    except NotPlainJson:
        return
    assert value == json.loads(text)


def test_work_grows_with_the_size(growth: Any) -> None:
    def text(size: int) -> str:
        return json.dumps({"p": {str(n): {"a": [n]} for n in range(size)}}, indent=2)

    small, large = text(4_000), text(16_000)
    work = [lambda t=t: add_member(t, ("m",), "agentm", ENTRY) for t in (small, large)]
    assert growth(work[0], work[1], 0.01) < 8
