"""Findings of one note: what is told, where, in which order, and where nothing is expected."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.contract.findings import Finding
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.note import severity, validate_note
from agentm_assets.contract.rules import load_rules

RULES = load_rules(None, {}).rules
MEMORY = "Agent/memory/semantic/2026/08/tide-table.md"


def findings(data: bytes | str, path: str = MEMORY) -> list[Finding]:
    raw = data if isinstance(data, bytes) else data.encode()
    return list(validate_note(path, read_frontmatter(raw), RULES))


def codes(content: str, path: str = MEMORY) -> list[tuple[str, int | None]]:
    return [(f.code, f.line) for f in findings(f"---\n{content}\n---\n# Tides\n", path)]


@pytest.mark.parametrize(
    "content",
    [
        "type: fix\nstatus: active\naltitude: canonical\ncaptured: 2026-08-01",
        "type: fix\ncaptured: 2026-08-01T09:30:00+02:00\nconfidence: 0.7\noccurrences: 3",
        "kind: conversation\nstatus: unfiled",
        "tags: [tide, harbour/wall]\naliases:\n- Tide, the\nmine: whatever # a comment",
        "type:\nkind: design\nstatus:\ncaptured:",
        "title: x",
        "",
    ],
)
def test_a_sound_note_has_no_finding(content: str) -> None:
    assert codes(content) == []
    assert findings("# Tides\n") == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("type: fix\nkind: design", [("type-and-kind", 3)]),
        ("type: blog", [("unknown-type", 2)]),
        ("type: Fix", [("unknown-type", 2)]),
        ("type: feedback", [("retired-type", 2)]),
        ("type: conversation", [("type-is-a-kind", 2)]),
        ("kind: thing", [("unknown-kind", 2)]),
        ("kind: feedback", [("retired-kind", 2)]),
        ("kind: preference", [("kind-is-a-type", 2)]),
        ("type: [fix]", [("not-one-value", 2)]),
        ("a: b\nstatus: done", [("unknown-status", 3)]),
        ("altitude: high", [("unknown-altitude", 2)]),
        ("captured: last spring", [("bad-date", 2)]),
        ("captured: 2026-02-30", [("bad-date", 2)]),
        ("captured: [2026-02-03]", [("bad-date", 2)]),
        ("confidence: high\noccurrences: -1", [("bad-number", 2), ("bad-number", 3)]),
        ("confidence: 1.5", [("bad-number", 2)]),
        ("up: [[Map]]", [("unquoted-wikilink", 2)]),
        ("title: Leak behind #13", [("cut-by-comment", 2)]),
        ("tags: #tide", [("cut-by-comment", 2)]),
        ("title:\tTides", [("tab-after-key", 2)]),
        ("tags: tide, wall", [("tags-as-text", 2)]),
        ("tags: tide", [("tags-as-text", 2)]),
        ("aliases: Ruler, Edge", [("aliases-as-text", 2)]),
        ("tags: ['#tide', 'red team']", [("tag-with-hash", 2), ("tag-with-blank", 2)]),
        ("tags: '[\"a\", {}]'", [("broken-tags", 2), ("tags-as-text", 2)]),
        ("tags: {a: b}", [("broken-tags", 2)]),
        ("state: a\nx: b\nstate: c", [("duplicate-key", 4)]),
    ],
)
def test_what_is_wrong_is_told_with_its_line(content: str, expected: list[tuple[str, int]]) -> None:
    assert codes(content) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"---\ntype: fix\n", [("frontmatter-unclosed", 1)]),
        (b"---\ntype: fix\ntitle: a: b\n---\n", [("frontmatter-unreadable", 3)]),
        (b"---\ncreated: {{date}}\n---\n", [("frontmatter-unreadable", 2)]),
        (b"---\nsome words\n---\n", [("frontmatter-unreadable", 2)]),
        (b"# caf\xe9\n", [("invalid-utf8", 1)]),
        (b"# T\n\na\x00b\n", [("nul-byte", 3)]),
    ],
)
def test_damage_is_told_in_every_space_but_the_exempt(
    data: bytes, expected: list[tuple[str, int]]
) -> None:
    for path in (MEMORY, "notes/a.md", "projects/boat/a.md"):
        assert [(f.code, f.line) for f in findings(data, path)] == expected
    assert findings(data, "personal/a.md") == []


def test_an_adopted_folder_owes_the_contract_nothing() -> None:
    content = "type: blog\nkind: post\nstatus: published\ncaptured: someday\nup: [[Map]]"
    assert codes(content, "posts/a.md") == [("unquoted-wikilink", 6)]
    for path in (
        "Agent/desk/tasks/a.md",
        "calendar/2026/a.md",
        "projects/x/a.md",
        "Standards/a.md",
    ):
        assert ("unknown-type", 2) in codes(content, path)
    for path in ("personal/a.md", "Personal/deep/a.md"):
        assert codes(content, path) == []


def test_an_exempt_space_of_the_operators_own_is_left_alone() -> None:
    rules = RULES.model_copy(update={"contract_exempt_spaces": ("personal", "journal")})
    found = read_frontmatter(b"---\nup: [[Map]]\n---\n")
    assert validate_note("Journal/2026/a.md", found, rules) == ()
    assert validate_note("projects/journal/a.md", found, rules) != ()


def test_a_record_outside_memory_has_a_status_of_its_own_making() -> None:
    content = "kind: project\nstatus: on-hold"
    assert codes(content, "projects/boat/charter.md") == []
    assert codes(content, MEMORY) == [("unknown-status", 3)]


def test_the_cure_names_the_replacement() -> None:
    def cure(content: str) -> str:
        return findings(f"---\n{content}\n---\n")[0].cure

    assert "`type: preference`" in cure("type: feedback")
    assert "`type: workflow`" in cure("kind: runbook")
    assert "`type: fix`" in cure("kind: fix")
    assert "`kind: conversation`" in cure("type: conversation")
    assert "superseded" in cure("status: done")
    assert "workflow" in cure("type: blog")


def test_the_most_serious_comes_first() -> None:
    data = (
        b"---\ntags: a b\nup: [[Map]]\nstatus: done\ntype: blog\nkind: design\nx: \xe9\nx: y\n---\n"
        b"\x00"
    )
    found = findings(data)
    assert [f.code for f in found] == [
        "duplicate-key",
        "invalid-utf8",
        "nul-byte",
        "type-and-kind",
        "unknown-type",
        "unknown-status",
        "unquoted-wikilink",
        "tags-as-text",
    ]
    assert found == sorted(found, key=severity)


def test_broken_rules_leave_out_what_only_they_can_tell() -> None:
    found = read_frontmatter(b"---\ntype: blog\nstatus: done\nup: [[Map]]\n---\n")
    told = [f.code for f in validate_note(MEMORY, found, None)]
    assert told == ["unknown-status", "unquoted-wikilink"]
    assert validate_note("personal/a.md", found, None) == ()


SECRETS = ["hunter2", "Bearer-abc", "sk_live_4242"]


@given(
    st.sampled_from(SECRETS),
    st.sampled_from(
        [
            "---\ntype: {}\n---\n",
            "---\nstatus: {}\naltitude: {}\nkind: {}\n---\n",
            "---\ncaptured: {}\nconfidence: {}\n---\n",
            "---\ntags: '[{}, {{}}]'\naliases: {}\n---\n",
            "---\n{}\n---\n",
            "---\na: b: {}\n---\n",
            "---\na: *{}\n---\n",
            "---\na: '{}\n---\n",
            "---\nthe word {}: a\nthe word {}: b\n---\n",
            "---\nup: [[{}]]\nx: a #{}\n---\n",
        ]
    ),
)
@settings(max_examples=60)
def test_no_finding_quotes_the_note(secret: str, note: str) -> None:
    found = findings(note.replace("{}", secret).replace("{{", "{").replace("}}", "}"))
    assert found
    for finding in found:
        assert secret not in finding.message + finding.cure
        assert finding.path == MEMORY
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", finding.code)
