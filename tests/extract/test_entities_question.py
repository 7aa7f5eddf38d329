"""The entities that a question names, and the keys under which a person looks one up."""

import pytest

from agentm_assets.extract.entities import entities_in_question, extract_entities, key_of
from agentm_assets.extract.entity_commits import commits_match
from agentm_assets.extract.entity_context import EntityContext

SHA = "9fceb02d0ae598e95dc970b74767f19372d61af8"
NO_CONTEXT = EntityContext()
KETTLE = EntityContext(repo="acme/kettle")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what became of acme/kettle#12?", ("issue:acme/kettle#12",)),
        ("what became of `acme/kettle#12`?", ("issue:acme/kettle#12",)),
        ("anything on Acme/Kettle?", ("repo:acme/kettle",)),
        ("anything on acme/kettle.git?", ("repo:acme/kettle",)),
        ("#12?", ("issue:#12",)),
        ("who broke #12 and GH-7", ("issue:#12", "issue:#7")),
        ("why 9fceb02?", ("commit:9fceb02",)),
        ("https://github.com/acme/kettle/pull/12/files", ("issue:acme/kettle#12",)),
        (
            "https://example.org/A/#b or https://example.org/A",
            ("url:https://example.org/A",),
        ),
        ("what did @Ann say about CVE-2024-1234", ("person:ann", "cve:CVE-2024-1234")),
        ("acme/kettle or acme/lid first?", ("repo:acme/kettle", "repo:acme/lid")),
        ("and/or client/server, 24/7, notes/page.md", ()),
        ("how do I descale the boiler?", ()),
        ("what is in projects/lid/docs?", ()),
        ("", ()),
    ],
)
def test_entities_in_question(question: str, expected: tuple[str, ...]) -> None:
    assert entities_in_question(question, NO_CONTEXT) == expected


def test_question_in_the_context_of_a_repository() -> None:
    assert entities_in_question("why was #12 reopened after 9fceb02?", KETTLE) == (
        "issue:acme/kettle#12",
        "commit:acme/kettle@9fceb02",
    )


@pytest.mark.parametrize(
    ("note", "question"),
    [
        ("https://github.com/acme/kettle/pull/12/files#r3", "acme/kettle#12"),
        ("https://github.com/Acme/Kettle/issues/12", "anything about acme/kettle?"),
        ("acme/kettle@9fceb02", "https://github.com/acme/kettle"),
        ("https://Example.org:443/a/?utm_source=feed", "where is https://example.org/a from?"),
    ],
)
def test_question_meets_the_note_by_key(note: str, question: str) -> None:
    in_note = {each.key for each in extract_entities(note, note, NO_CONTEXT, lambda at: at)}
    assert set(entities_in_question(question, NO_CONTEXT)) & in_note


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("commit:acme/kettle@9fceb02", f"commit:acme/kettle@{SHA}", True),
        (f"commit:acme/kettle@{SHA}", "commit:acme/kettle@9fceb02", True),
        ("commit:acme/kettle@9fceb02", "commit:acme/kettle@9fceb03", False),
        ("commit:acme/kettle@9fceb02", "commit:acme/lid@9fceb02", False),
        ("commit:9fceb02", "commit:acme/kettle@9fceb02", False),
        ("commit:9fceb02", f"commit:{SHA}", True),
    ],
)
def test_commits_match(one: str, other: str, same: bool) -> None:
    assert commits_match(one, other) is same


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        ("issue:Acme/Kettle#12", "issue:acme/kettle#12"),
        ("acme/kettle#12", "issue:acme/kettle#12"),
        ("https://github.com/acme/kettle/issues/12", "issue:acme/kettle#12"),
        ("url:https://github.com/acme/kettle/issues/12", "issue:acme/kettle#12"),
        ("url:HTTPS://Example.org/a/", "url:https://example.org/a"),
        ("person:Ann", "person:ann"),
        ("@Ann", "person:ann"),
        ("jira:ket-12", "jira:KET-12"),
        ("cve:cve-2024-1234", "cve:CVE-2024-1234"),
        (f"gerrit:I{SHA}", f"gerrit:I{SHA}"),
        (" acme/kettle ", "repo:acme/kettle"),
        ("a kettle", None),
        ("", None),
    ],
)
def test_key_of(asked: str, key: str | None) -> None:
    assert key_of(asked, NO_CONTEXT) == key
