"""What the migration does to one note's bytes: the lines that it edits, and no other byte."""

import difflib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.contract.edit import EditRefused, rename_key
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.lines import split_lines
from agentm_assets.contract.note import validate_note
from agentm_assets.contract.rules import default_rules_text, parse_rules
from agentm_assets.index.build import date_in_name
from agentm_assets.migration.note import PARTS, Migrated, Wanted, migrate_note
from agentm_assets.migration.words import STATUS_WORDS

RULES = parse_rules(default_rules_text(), Path("storage-rules.md"), "default").rules
WANTED = Wanted(RULES, STATUS_WORDS, date_in_name)
ONLY_WORDS = Wanted(RULES, STATUS_WORDS, date_in_name, ("types", "status"))
MEMORY = "Agent/memory/semantic/2024/03/spring-water.md"


def migrated(data: bytes, path: str = MEMORY, wanted: Wanted = ONLY_WORDS) -> Migrated:
    found = migrate_note(path, data, wanted)
    again = migrate_note(path, found.data, wanted)
    assert again.data == found.data
    assert not again.edits, "a second run finds nothing to do"
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"---\ntype: decision\n---\nx", b"---\ntype: convention\n---\nx"),
        (b"---\nkind: gap # seen in May\n---\n", b"---\ntype: idea # seen in May\n---\n"),
        (b"---\ntype: 'howto'\n---\n", b"---\ntype: workflow\n---\n"),
        (b"---\r\ntype: gap\r\na: 1\n---\r\nx\r\n", b"---\r\ntype: idea\r\na: 1\n---\r\nx\r\n"),
        (b"\xef\xbb\xbf---\ntype: gap\n---\n\xff", b"\xef\xbb\xbf---\ntype: idea\n---\n\xff"),
        (b"---\rkind: insight\r---\rx", b"---\rtype: idea\r---\rx"),
        (b"---\ntype: insight\n---", b"---\ntype: idea\n---"),
        (b"---\ntype: Design_Call\n---\n", b"---\ntype: convention\n---\n"),
        (b"---\ntype: conversation\n---\n", b"---\nkind: conversation\n---\n"),
        (b"---\nkind: reference\nzz: [a,  b]\n---\n", b"---\ntype: reference\nzz: [a,  b]\n---\n"),
        (b"---\ntype:\nkind: fix\nx: 1\n---\n", b"---\ntype: fix\nx: 1\n---\n"),
        (b"---\ntype: convention\nkind: decision\n---\n", b"---\ntype: convention\n---\n"),
        (b"---\n# why\nk: |\n  type: decision\ntype: >-\n  decision\n---\n",
         b"---\n# why\nk: |\n  type: decision\ntype: convention\n---\n"),
        (b"---\nstatus: archived\ntype: fix\n---\n", b"---\nstatus: expired\ntype: fix\n---\n"),
        (b"---\nstatus: Active\ntype: fix\n---\n", b"---\nstatus: active\ntype: fix\n---\n"),
        (b"---\ntype: fix\nstatus: needs_review\n---\n", b"---\ntype: fix\nstatus: unfiled\n---\n"),
        (b"---\ntype: fix\nstatus: obsolete\n---\n", b"---\ntype: fix\nstatus: superseded\n---\n"),
    ],
)  # fmt: skip
def test_an_edit_of_words(before: bytes, after: bytes) -> None:
    found = migrated(before)
    assert found.data == after
    assert found.edits
    assert not found.left


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"---\ntype: opinion\n---\n", "neither registered nor retired"),
        (b"---\ntype: fix\nstatus: shelved\n---\n", "none that agentm knows"),
        (b"---\ntype: fix\nkind: decision\n---\n", "keep one of the two"),
        (b"---\ntype: [decision]\n---\n", "a list or a mapping"),
        (b"---\ntype: fix\nstatus: [archived]\n---\n", "a list or a mapping"),
        (b"---\ntype: decision\ntype: gap\n---\n", "can't be edited"),
        (b"---\ntype: decision\nno end", "can't be read"),
        (b"---\naliases:\n- @ann\n---\ntype: decision\n", "can't be read"),
        (b"---\n{type: decision}\n---\n", "can't be edited"),
        (b"---\nStatus: rejected\n---\n", "small letters"),
    ],
)
def test_what_is_not_plain_is_left_and_said(data: bytes, why: str) -> None:
    found = migrated(data)
    assert found.data == data
    assert not found.edits
    assert why in found.left[0].why
    assert found.left[0].line


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"type: decision\n",
        b"```\n---\ntype: decision\n---\n```\n",
        b"---\nmeta:\n  type: decision\n---\n",
        b"---\ntype: fix\nstatus: active\n---\n",
        b"---\na: 1\n---\n\n---\ntype: decision\n---\n",
    ],
)
def test_what_is_on_the_contract_or_no_property_stays(data: bytes) -> None:
    found = migrated(data)
    assert (found.data, found.edits, found.left) == (data, (), ())


def test_a_status_of_another_making_is_not_the_contracts() -> None:
    project = b"---\nkind: project\nstatus: archived\n---\n"
    assert migrated(project, "projects/well/charter.md").data == project
    both = b"---\ntype: fix\nkind: project\nstatus: archived\n---\n"
    assert migrated(both, "projects/well/charter.md").data == both
    page = b"---\nstatus: done\n---\n"
    assert migrated(page, "projects/well/docs/page.md").data == page
    record = b"---\nkind: failure-incident\nstatus: closed\n---\n"
    assert b"status: expired" in migrated(record).data


def test_what_a_memory_carries_is_added_where_it_is_known() -> None:
    found = migrated(b"---\ncreated: 2024-03-05\ntype: decision\n---\nx", wanted=WANTED)
    assert found.data == (
        b"---\ncreated: 2024-03-05\ntype: convention\nstatus: active\ncaptured: 2024-03-05\n"
        b"slug: spring-water\n---\nx"
    )
    named = "Agent/memory/procedural/2024-03-09 pump.md"
    found = migrated(b"x\r\n", named, WANTED)
    assert found.data == (
        b"---\r\nstatus: unfiled\r\ncaptured: 2024-03-09\r\nslug: 2024-03-09 pump\r\n---\r\nx\r\n"
    )
    for path in ("standards/water.md", "calendar/2024/2024-03-09_walk.md", "Agent/desk/a.md"):
        assert migrated(b"x\n", path, WANTED).data == b"x\n"


def test_a_record_gets_no_field_of_a_memory() -> None:
    data = b"---\nkind: conversation\n---\nx\n"
    assert migrated(data, "Agent/memory/episodic/talk.md", WANTED).data == data


def test_what_is_left_is_said_once() -> None:
    found = migrated(b"---\ntype: opinion\nkind: decision\n---\n")
    assert len(found.left) == 1


def test_a_property_is_not_renamed_onto_another() -> None:
    with pytest.raises(EditRefused, match="both properties are there"):
        rename_key(b"---\na: 1\nb: 2\n---\n", "a", "b")
    assert rename_key(b"---\na: 1\n---\n", "b", "c") == b"---\na: 1\n---\n"


def test_an_operator_names_what_an_own_status_stands_for() -> None:
    own = Wanted(RULES, {**STATUS_WORDS, "shelved": "expired"}, date_in_name, ("status",))
    found = migrated(b"---\ntype: fix\nstatus: Shelved\n---\n", wanted=own)
    assert found.data == b"---\ntype: fix\nstatus: expired\n---\n"


def test_each_part_alone() -> None:
    data = b"---\ntype: decision\nstatus: archived\n---\nx"
    for part, gone in zip(PARTS, (b"decision", b"archived", b"nothing"), strict=True):
        found = migrated(data, wanted=Wanted(RULES, STATUS_WORDS, date_in_name, (part,)))
        assert gone not in found.data
        kept = {b"decision", b"archived"} - {gone}
        assert all(word in found.data for word in kept)
        assert (b"slug:" in found.data) == (part == "fields")


def test_every_retired_value_of_the_rules_is_collapsed() -> None:
    for retired, now in RULES.deprecations.items():
        for key in ("type", "kind"):
            found = migrated(f"---\n{key}: {retired}\n---\n".encode())
            right = "type" if now in RULES.memory_types else "kind"
            assert found.data == f"---\n{right}: {now}\n---\n".encode()
            assert not validate_note(MEMORY, read_frontmatter(found.data), RULES)


_VALUE = st.sampled_from(
    ["decision", "fix", "'howto'", '"gap"', "archived", "active", "draft", "", "[a, b]", "nonsense",
     "|\n  decision\n  x", "2024-01-05", "\n  - a\n  - b", "conversation", "insight # said"]
)  # fmt: skip
_LINE = st.tuples(
    st.sampled_from(["type", "kind", "status", "captured", "slug", "title", "x-own", "tags"]),
    _VALUE,
)


@given(
    lines=st.lists(_LINE, max_size=6),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    bom=st.booleans(),
    body=st.binary(max_size=30),
)
def test_only_edited_lines_differ(
    lines: list[tuple[str, str]], end: str, bom: bool, body: bytes
) -> None:
    block = "".join(f"{key}: {value}\n" for key, value in lines).replace("\n", end).encode()
    fence = f"---{end}".encode()
    data = (b"\xef\xbb\xbf" if bom else b"") + fence + block + fence + body
    found = migrated(data, wanted=WANTED)
    before = [bytes(line) for line in split_lines(data)]
    after = [bytes(line) for line in split_lines(found.data)]
    changed = [
        block
        for block in difflib.SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes()
        if block[0] != "equal"
    ]
    assert len(changed) <= len(found.edits)
    assert bool(changed) == bool(found.edits) == (found.data != data)
    assert found.data.endswith(body)
    if not found.edits:
        return
    edited = {edit.after.partition(":")[0] for edit in found.edits if edit.after} | {
        edit.before.partition(":")[0] for edit in found.edits if edit.before
    }
    old, new = read_frontmatter(data), read_frontmatter(found.data)
    for key, field in old.fields.items():
        if key not in edited:
            assert (
                data[field.start : field.end]
                == found.data[new.fields[key].start : new.fields[key].end]
            )
