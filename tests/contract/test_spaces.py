"""Spaces by path, and the patterns that hide."""

import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.contract.excludes import fault_of, is_excluded
from agentm_assets.contract.spaces import (
    Place,
    is_contract_exempt,
    is_dampened,
    is_generated,
    is_model_exempt,
    space_of,
)


@dataclass(frozen=True)
class Rules:
    contract_exempt_spaces: frozenset[str] = frozenset({"personal"})
    model_exempt_spaces: frozenset[str] = frozenset({"personal"})
    dampened_spaces: frozenset[str] = frozenset({"personal"})


@pytest.mark.parametrize(
    ("path", "space", "memory_class"),
    [
        ("Agent/memory/semantic/2026/08/tide-table.md", "memory", "semantic"),
        ("agent/memory/mocs/a.md", "memory", "mocs"),
        ("Agent/memory/a.md", "memory", None),
        ("Agent/memory/other/a.md", "memory", None),
        ("Agent/Memory/semantic/a.md", "other", None),
        ("Agent/desk/tasks/x/log.md", "desk", None),
        ("Agent/_meta/a.md", "other", None),
        ("Agent/diagnostics/health/a.md", "other", None),
        ("calendar/2026/2026-08-18_x.md", "calendar", None),
        ("Calendar/2026/x.md", "calendar", None),
        ("projects/boat/charter.md", "projects", None),
        ("STANDARDS/storage-rules.md", "standards", None),
        ("personal/a.md", "personal", None),
        ("Personal/deep/er/a.md", "personal", None),
        ("./personal/a.md", "personal", None),
        ("\uff50ersonal/a.md", "personal", None),
        ("Agent/../personal/a.md", "personal", None),
        ("//personal//a.md", "personal", None),
        ("personal", "personal", None),
        ("../personal/a.md", "other", None),
        ("notes/personal/a.md", "other", None),
        ("personal.md", "other", None),
        ("personality/a.md", "other", None),
        ("ideas.md", "other", None),
        ("a.md", "other", None),
        ("", "other", None),
    ],
)
def test_space_of(path: str, space: str, memory_class: str | None) -> None:
    assert space_of(path) == Place(space, memory_class)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("index.md", True),
        ("Agent/_meta/revert-log.jsonl", True),
        ("Agent/_dream/a.md", True),
        ("agent/diagnostics/morning/2026-08-18.md", True),
        ("Agent/memory/entities/a.md", True),
        ("Agent/memory/crystallized/2026/a.md", True),
        ("Agent/memory/mocs/a.md", True),
        ("Agent/desk/moc-tasks.md", True),
        ("projects/boat/moc-boat.md", True),
        ("Agent/memory/semantic/a.md", False),
        ("Agent/desk/tasks/x/moc-tasks.md", False),
        ("projects/boat/charter.md", False),
        ("projects/boat/notes/moc-boat.md", False),
        ("notes/index.md", False),
        ("ideas.md", False),
        ("_meta/a.md", False),
    ],
)
def test_generated_pages(path: str, expected: bool) -> None:
    assert is_generated(path) is expected


def test_exemptions_follow_the_rules() -> None:
    rules = Rules(
        frozenset({"personal", "journal"}), frozenset({"personal", "desk"}), frozenset({"calendar"})
    )
    assert is_contract_exempt("Journal/2026/a.md", rules)
    assert not is_contract_exempt("projects/journal/a.md", rules)
    assert is_model_exempt("Agent/desk/tasks/a.md", rules)
    assert not is_model_exempt("Agent/memory/semantic/a.md", rules)
    assert is_dampened("calendar/2026/a.md", rules)
    assert not is_dampened("personal/a.md", rules)


@pytest.mark.parametrize(
    "path", ["personal/a.md", "PERSONAL/x/a.md", "./Personal/a.md", "\uff30\uff25rsonal/a.md"]
)
def test_no_rule_opens_personal_to_unattended_models(path: str) -> None:
    assert is_model_exempt(path, Rules(model_exempt_spaces=frozenset()))


@pytest.mark.parametrize(
    ("pattern", "hidden", "shown"),
    [
        ("*.excalidraw.md", ["a.excalidraw.md", "x/y/a.excalidraw.md"], ["a.md"]),
        ("/draft.md", ["draft.md"], ["x/draft.md"]),
        ("draft.md", ["draft.md", "x/draft.md"], ["draft.md.md", "mydraft.md"]),
        ("notes/old", ["notes/old", "notes/old/a/b.md"], ["x/notes/old/a.md", "notes/older/a.md"]),
        ("notes/old/", ["notes/old/a.md"], ["notes/older/a.md"]),
        ("notes/*/raw.md", ["notes/a/raw.md"], ["notes/raw.md", "notes/a/b/raw.md"]),
        ("notes/**/raw.md", ["notes/raw.md", "notes/a/b/raw.md"], ["notes/a/raw.mdx"]),
        ("**/raw/**", ["raw/a.md", "x/raw/y/a.md"], ["raw", "raws/a.md"]),
        ("notes/**", ["notes/a.md", "notes/a/b.md"], ["notes", "xnotes/a.md"]),
        ("Secret", ["Secret/a.md"], ["secret/a.md"]),
        ("a?c.md", ["abc.md"], ["ac.md", "a/c.md"]),
        ("[ab]*.md", ["a1.md", "x/b.md"], ["c.md"]),
        ("[!ab].md", ["c.md"], ["a.md", "x/a.md"]),
        ("a[!b]c", ["axc"], ["a/c"]),
        ("[z-a].md", ["[z-a].md"], ["z.md"]),
        ("a[.md", ["a[.md"], ["a.md"]),
        ("a+(b).md", ["a+(b).md"], ["aab.md"]),
        ("größe/*", ["größe/a.md"], ["grösse/a.md"]),
    ],
)
def test_excludes(pattern: str, hidden: list[str], shown: list[str]) -> None:
    assert [path for path in hidden if not is_excluded(path, [pattern])] == []
    assert [path for path in shown if is_excluded(path, [pattern])] == []
    assert all(is_excluded(path, ["nothing/at/all", pattern]) for path in hidden)
    assert not any(is_excluded(path, []) for path in hidden)


@pytest.mark.parametrize(
    "pattern",
    ["", "/", " a", "a\n", "a\\b", "!a", "../a", "a/./b", "a//b", "a**", "*", "**", "**/*", "***"],
)
def test_patterns_that_say_nothing_sensible_are_refused(pattern: str) -> None:
    assert fault_of(pattern)


@given(st.text(st.sampled_from("ab*?[]!-/^."), max_size=12), st.text("ab/.-[", max_size=12))
def test_any_pattern_compiles(pattern: str, path: str) -> None:
    assert is_excluded(path, [pattern]) in (True, False)


def _seconds(pattern: str) -> float:
    path = "/".join(["aaaaaaaaaaaa"] * 40)
    assert fault_of(pattern) is None
    start = time.process_time()
    assert not is_excluded(path, [pattern])
    return time.process_time() - start


def test_a_pattern_of_many_stars_is_as_quick_as_one_of_few() -> None:
    assert _seconds("**/**/**/**/*a*a*a*/**/b") < 8 * max(_seconds("**/*a*a*a*/**/b"), 0.05)
