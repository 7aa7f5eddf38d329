"""What holds for every edit of every block: generated, not listed."""

from dataclasses import dataclass

import frontmatter as oracle
import yaml
from hypothesis import assume, event, given, reject, settings
from hypothesis import strategies as st

from agentm_assets.contract.edit import EditRefused, remove_key, set_key
from agentm_assets.contract.frontmatter import FieldValue, read_frontmatter
from agentm_assets.contract.lines import split_lines
from agentm_assets.contract.vocabulary import KEY_ORDER

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=12
)
PLAIN = st.sampled_from(
    ["open", "no", "1.10", "012", "12:30", "2024-01-05", "a b", "https://example.org/x#y", "größe",
     "a\u2028b", "x---y", "'quoted'", '"du\\"ble"', "'it''s'", "~", "", "true", "{a: 1, b: [c]}"]
)  # fmt: skip
COMMENTS = st.sampled_from(["", "", "", " # why", "  # old: value", "   "])
NAMES = ["stage", "mine", "größe", "x-y", "type", "status", "tags", "aliases", "summary", "'q k'"]


@dataclass
class Entry:
    """The lines of one property, as `(text, line end)`."""

    name: str
    lines: list[tuple[str, str]]

    def text(self) -> str:
        return "".join(line + end for line, end in self.lines)


@st.composite
def entries(draw: st.DrawFn, name: str) -> Entry:
    def lines(*texts: str) -> Entry:
        return Entry(name, [(text, draw(ENDS)) for text in texts])

    comment = draw(COMMENTS)
    form = draw(st.sampled_from(["scalar", "flow", "block list", "literal", "quoted", "map"]))
    indent = draw(st.sampled_from(["", "  ", "    "]))
    if form == "flow":
        items = draw(st.lists(st.sampled_from(["a", "'b'", '"c, d"', "é"]), max_size=4))
        return lines(f"{name}: [{', '.join(items)}]{comment}")
    if form == "block list":
        items = draw(
            st.lists(
                st.sampled_from(["a", "'b' # b", "https://example.org", "Lab: Notes", "", "é"]),
                min_size=1,
                max_size=4,
            )
        )
        texts = [f"{indent}- {item}" for item in items]
        if draw(st.booleans()):
            texts.insert(draw(st.integers(0, len(texts) - 1)), f"{indent}# between")
        return lines(f"{name}:{comment}", *texts)
    if form == "literal":
        header = draw(st.sampled_from(["|", "|-", "|+", ">", ">-", ">+"]))
        return lines(f"{name}: {header}", "  stage: fake", "", "  # text", "   more", "")
    if form == "quoted":
        return lines(f"{name}: 'one", "", "  stage: fake", f"  two'{comment}")
    if form == "map":
        return lines(f"{name}:{comment}", "    stage: fake", "    deep:", "      - x")
    return lines(f"{name}: {draw(PLAIN)}{comment}")


@st.composite
def notes(draw: st.DrawFn) -> tuple[bytes, list[str]]:
    """A note and the names in its block."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=6))
    parts: list[str] = []
    for name in names:
        if draw(st.booleans()):
            parts.append(draw(st.sampled_from(["# a comment", "", "  # stage: old"])) + draw(ENDS))
        parts.append(draw(entries(name)).text())
    bom = draw(st.sampled_from(["", "\ufeff"]))
    opening = "---" + draw(st.sampled_from(["", "  "])) + draw(ENDS)
    closing = "---" + draw(st.sampled_from(["", " \t"]))
    body = draw(
        st.sampled_from(["", "\n", "\r\n# T\r\n\r\n---\r\nstage: body\r\n---", "\rx", "\nü"])
    )
    text = bom + opening + "".join(parts) + closing + body
    data = text.encode()
    assume(read_frontmatter(data).state in ("ok", "empty"))
    return data, [name.strip("'") for name in names]


VALUES = st.one_of(
    WORDS, PLAIN, st.booleans(), st.integers(-5, 5), st.lists(WORDS | st.sampled_from(["a", "é"]))
)


def content(field: FieldValue) -> tuple[str, str, tuple[str, ...]]:
    return field.kind, field.text, field.items


@given(notes(), st.sampled_from([*NAMES, "new key", "captured"]), VALUES)
@settings(max_examples=600, deadline=None)
def test_an_edit_changes_one_key_and_no_other_byte(
    note: tuple[bytes, list[str]], name: str, value: str | bool | int | list[str]
) -> None:
    data, names = note
    key = name.strip("'")
    before = read_frontmatter(data)
    try:
        after_data = set_key(data, key, value)
    except EditRefused:
        event("refused")
        # Only a mapping is a reason here: the generated blocks hold nothing else that is refused.
        assert before.fields[key].kind == "map"
        return
    after = read_frontmatter(after_data)
    # what was asked for is there, and it is there once
    field = after.fields[key]
    if isinstance(value, list):
        assert (field.kind, field.items) == ("list", tuple(value))
    else:
        text = value if isinstance(value, str) else str(value).lower()
        assert (field.kind, field.text) == ("scalar", text)
    assert not after.duplicates
    # everything else is as it was: values, their source, the body, the fences
    for other in names:
        if other != key:
            old, new = before.fields[other], after.fields[other]
            assert content(old) == content(new)
            assert data[old.start : old.end] == after_data[new.start : new.end]
    assert data[before.body_start :] == after_data[after.body_start :]
    assert split_lines(data)[0] == split_lines(after_data)[0]
    # no line is lost or changed but those of the key
    region = (
        set(range(before.fields[key].line, _last_line(data, before.fields[key]) + 1))
        if (key in before.fields)
        else set()
    )
    kept = [line for number, line in enumerate(split_lines(data), start=1) if number not in region]
    remaining = iter(split_lines(after_data))
    assert all(line in remaining for line in kept)
    # and it is done once
    assert set_key(after_data, key, value) == after_data


def _last_line(data: bytes, field: FieldValue) -> int:
    end = max(field.end - 1, field.key_start)
    return len(split_lines(data[: end + 1]))


def _removed(data: bytes, key: str) -> bytes:
    """`data` without `key`. The one reason to refuse: blank or indented comment lines behind the
    property would become part of the block scalar in front of it."""
    try:
        return remove_key(data, key)
    except EditRefused:
        fields = read_frontmatter(data).fields
        position = list(fields).index(key)
        assert position
        field = list(fields.values())[position - 1]
        assert data[field.start : field.start + 1] in (b"|", b">")
        reject()


@given(notes(), st.integers(0, 5), st.booleans())
@settings(max_examples=300, deadline=None)
def test_setting_the_old_value_back_restores_what_the_note_says(
    note: tuple[bytes, list[str]], number: int, remove: bool
) -> None:
    data, _ = note
    before = read_frontmatter(data)
    keys = [key for key, field in before.fields.items() if field.kind in ("scalar", "list")]
    if not keys:
        return
    key = keys[number % len(keys)]
    old = before.fields[key]
    value = old.text if old.kind == "scalar" else list(old.items)
    changed = _removed(data, key) if remove else set_key(data, key, "something else")
    restored = read_frontmatter(set_key(changed, key, value))
    assert {k: content(f) for k, f in restored.fields.items()} == {
        k: content(f) for k, f in before.fields.items()
    }
    if not remove or key not in KEY_ORDER:
        assert sorted(restored.fields) == sorted(before.fields)


@given(notes(), st.sampled_from(NAMES))
@settings(max_examples=300, deadline=None)
def test_removing_takes_the_lines_of_one_key(note: tuple[bytes, list[str]], name: str) -> None:
    data, _ = note
    key = name.strip("'")
    before = read_frontmatter(data)
    after_data = _removed(data, key)
    after = read_frontmatter(after_data)
    assert list(after.fields) == [other for other in before.fields if other != key]
    if key not in before.fields:
        assert after_data == data
        return
    field = before.fields[key]
    lines = split_lines(data)
    assert after_data == b"".join(lines[: field.line - 1] + lines[_last_line(data, field) :])


@given(st.binary(max_size=80), st.sampled_from(["tags", "type", "x"]), VALUES)
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_edited_or_refused(
    data: bytes, key: str, value: str | bool | int | list[str]
) -> None:
    for note in (data, b"---\n" + data + b"\n---\nbody"):
        try:
            edited = set_key(note, key, value)
        except EditRefused:
            continue
        before, after = read_frontmatter(note), read_frontmatter(edited)
        assert edited[after.body_start :] == note[before.body_start :]
        assert key in after.fields


@given(notes(), WORDS | PLAIN)
@settings(max_examples=200, deadline=None)
def test_other_yaml_readers_agree_on_what_was_written(
    note: tuple[bytes, list[str]], text: str
) -> None:
    data, _ = note
    assume("\u2028" not in data.decode() and b"\r" not in data.replace(b"\r\n", b"\n"))
    try:
        edited = set_key(data, "fresh", text)
    except EditRefused:
        return
    assert oracle.loads(edited.decode("utf-8-sig"))["fresh"] == text
    assert yaml.safe_load(_block(edited))["fresh"] == text


def _block(data: bytes) -> str:
    found = read_frontmatter(data)
    lines = split_lines(data[: found.body_start].decode("utf-8-sig"))
    return "".join(lines[1:-1])
