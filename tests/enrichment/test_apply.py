"""What a judgment changes in a note's bytes, and what never."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.rules import default_rules_path, parse_rules
from agentm_assets.enrichment.apply import TOUCHED_KEYS, applied
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.reading import subject_of
from agentm_assets.enrichment.subject import Subject
from agentm_assets.storage.locator import Locator

RULES = parse_rules(default_rules_path().read_bytes(), Path("rules"), "default")
NOW = datetime(2026, 4, 12, 8, 15, tzinfo=UTC)
PLACE = Locator("Agent/memory/semantic/2026/03/x.md")
SURE = Judgment(
    "fix", "canonical", "procedural", "Title", None, ("new",), ("alias",), "Sum.", None, 0.9
)


def subject(data: bytes, *, is_linked: bool = False) -> Subject:
    return subject_of(PLACE, data, "batch", is_linked=is_linked)


def apply(data: bytes, judgment: Judgment = SURE, *, is_linked: bool = False) -> bytes:
    return applied(data, subject(data, is_linked=is_linked), judgment, "judge-1", RULES, NOW)


def changed(**fields: object) -> Judgment:
    return Judgment(**{**{name: getattr(SURE, name) for name in SURE.__slots__}, **fields})


ENDS = st.sampled_from(["\n", "\r\n", "\r"])
OWN = st.lists(
    st.sampled_from(
        [
            "captured: 2026-03-01",
            "source: https://example.org/a?b=c#d  # where from",
            "probe: true",
            "my key: 'it''s mine'",
            "mood: >-",
            "cssclasses: [wide,  'odd']",
            "occurrences: 03",
            "# a comment",
            "lifecycle_tier: hot",
            "aliases:",
        ]
    ),
    unique=True,
)
KNOWN = st.lists(
    st.sampled_from(
        ["status: unfiled", "type: reference", "tags: [a, B]", "title: Old", "confidence: 0.2"]
    ),
    unique=True,
)
BODY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), max_size=80)


@given(st.permutations(range(15)), OWN, KNOWN, ENDS, BODY, st.booleans())
def test_every_byte_outside_the_touched_properties_stays(
    order: list[int], own: list[str], known: list[str], end: str, body: str, has_bom: bool
) -> None:
    lines = []
    for line in own:
        lines.append([line])
        if line == "mood: >-":
            lines[-1].append("  folded text")
        if line == "aliases:":
            lines[-1] += ["  - One", "  - 'Two'"]
    lines += [[line] for line in known]
    lines = [lines[at] for at in order if at < len(lines)]
    block = "".join(f"{part}{end}" for group in lines for part in group)
    data = f"---{end}{block}---{end}{body}".encode()
    if has_bom:
        data = b"\xef\xbb\xbf" + data
    edited = apply(data)
    before, after = read_frontmatter(data), read_frontmatter(edited)
    assert edited[after.body_start :] == data[before.body_start :]
    for key, field in before.fields.items():
        if key not in TOUCHED_KEYS:
            new = after.fields[key]
            assert data[field.key_start : field.end] == edited[new.key_start : new.end]
    kept = [line for line in _lines(data) if not _is_touched(line)]
    rest = iter(_lines(edited))
    assert all(line in rest for line in kept), "the other lines stand in their order, as they were"
    assert set(before.fields) <= set(after.fields), "no property is taken away"
    assert set(after.fields) - set(before.fields) <= set(TOUCHED_KEYS)


def _lines(data: bytes) -> list[bytes]:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")


def _is_touched(line: bytes) -> bool:
    key = line.removeprefix(b"\xef\xbb\xbf").split(b":")[0].decode("utf-8", "replace")
    return key in TOUCHED_KEYS or line in (b"  - One", b"  - 'Two'")


@given(BODY, ENDS)
def test_a_new_body_has_the_line_ends_of_the_old_one(body: str, end: str) -> None:
    old = f"---{end}status: unfiled{end}---{end}{end}One.{end}Two.{end}".encode()
    edited = apply(old, changed(body="New\n\ntext"))
    start = read_frontmatter(edited).body_start
    assert edited[start:] == f"{end}New{end}{end}text{end}".encode()


NOTE = (
    b"---\ntype: reference\nstatus: unfiled\ncaptured: 2026-03-01\ntitle: Old\ntags: [a]\n"
    b"aliases: [A, B]\n---\nBody.\n"
)


def test_aliases_and_tags_are_added_and_none_is_taken_away() -> None:
    text = apply(NOTE, changed(tags=("A", "c"), aliases=("b", "C"))).decode()
    assert "tags: [a, c]" in text and "aliases: [A, B, C]" in text


@pytest.mark.parametrize(
    ("confidence", "written", "status"),
    [(0.65, "0.65", "active"), (0.6499, "0.64", "unfiled"), (1.0, "1.0", "active")],
)
def test_the_floor_decides_and_the_file_never_says_more(
    confidence: float, written: str, status: str
) -> None:
    text = apply(NOTE, changed(confidence=confidence)).decode()
    assert f"confidence: {written}\n" in text and f"status: {status}\n" in text


def test_unsure_keeps_body_and_title() -> None:
    text = apply(NOTE, changed(confidence=0.4, body="Other.", title="New")).decode()
    assert "Body." in text and "title: Old" in text and "Other." not in text


def test_a_note_that_others_link_to_keeps_its_title() -> None:
    assert "title: Old" in apply(NOTE, changed(title="New"), is_linked=True).decode()
    assert "title: New" in apply(NOTE, changed(title="New")).decode()


def test_the_operators_own_type_stands() -> None:
    active = NOTE.replace(b"unfiled", b"active")
    assert b"type: fix" in apply(active), "a type that nobody gave is judged"
    named = active.replace(b"reference", b"convention")
    assert b"type: convention" in apply(named)
    assert b"Body." in apply(named, changed(body="Other."))


def test_properties_come_in_the_order_of_the_contract() -> None:
    keys = list(read_frontmatter(apply(NOTE)).fields)
    assert keys == [
        "type",
        "status",
        "altitude",
        "captured",
        "title",
        "tags",
        "aliases",
        "confidence",
        "summary",
        "enriched_by",
        "enriched_at",
        "rules_hash",
    ]
