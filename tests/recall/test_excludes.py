"""Patterns that hide notes."""

import pytest

from agentm_assets.recall.excludes import compile_excludes


@pytest.mark.parametrize(
    ("pattern", "hidden", "shown"),
    [
        ("drafts", ["drafts/a.md", "x/drafts/a.md", "drafts"], ["drafts.md", "mydrafts/a.md"]),
        ("*.tmp.md", ["a.tmp.md", "x/y/a.tmp.md"], ["a.md"]),
        ("personal/*", ["personal/a.md", "personal/x/a.md"], ["x/personal/a.md", "personal.md"]),
        ("personal/*.md", ["personal/a.md"], ["personal/x/a.md"]),
        ("personal/**/secret.md", ["personal/secret.md", "personal/a/b/secret.md"], ["secret.md"]),
        ("**/secret.md", ["secret.md", "a/b/secret.md"], ["a/nosecret.md"]),
        ("a/**", ["a/b.md", "a/b/c.md"], ["b/a/c.md"]),
        ("/top.md", ["top.md"], ["x/top.md"]),
        ("note?.md", ["note1.md", "x/noteé.md"], ["note10.md", "note/.md"]),
        ("note[0-3].md", ["note2.md"], ["note4.md", "note-.md"]),
        ("note[!0-3].md", ["note4.md"], ["note2.md", "note/.md"]),
        ("a.b", ["a.b"], ["axb"]),
        ("[", ["["], ["a"]),
        ("%+(x)|y", ["%+(x)|y"], ["y"]),
        ("x[9-0].md", ["x[9-0].md"], ["x9.md"]),
    ],
)
def test_patterns(pattern: str, hidden: list[str], shown: list[str]) -> None:
    hides = compile_excludes([pattern])
    assert [path for path in hidden if not hides(path)] == []
    assert [path for path in shown if hides(path)] == []


def test_any_of_several_patterns_hides_and_none_hides_nothing() -> None:
    hides = compile_excludes(["a/*", "b/*"])
    assert hides("a/x.md")
    assert hides("b/x.md")
    assert not hides("c/x.md")
    assert not compile_excludes([])("a/x.md")
