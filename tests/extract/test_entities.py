"""Written references: what is one, what is not, and which thing it names."""

import pytest

from agentm_assets.extract.entities import extract_entities
from agentm_assets.extract.entity_context import EntityContext, repo_of_property
from agentm_assets.extract.mask import ALL, blank, find_regions
from agentm_assets.extract.model import EntityMention

SHA = "9fceb02d0ae598e95dc970b74767f19372d61af8"
OTHER_SHA = "1a410efbd13591db07496601ebc7a059dd55cfe9"
NO_CONTEXT = EntityContext()
KETTLE = EntityContext(repo="acme/kettle")


def mentions(text: str, context: EntityContext = NO_CONTEXT) -> tuple[EntityMention, ...]:
    masked = blank(text, find_regions(text), ALL)
    return extract_entities(
        text, masked, context, lambda at: len(text[:at].encode("utf-8", "surrogateescape"))
    )


def counts(text: str, context: EntityContext = NO_CONTEXT) -> dict[str, int]:
    """Keys and how often, without the repositories that issues and commits imply."""
    return {
        each.key: each.count for each in mentions(text, context) if not each.key.startswith("repo:")
    }


def only(text: str, context: EntityContext = NO_CONTEXT) -> EntityMention:
    named = [each for each in mentions(text, context) if not each.key.startswith("repo:")]
    assert len(named) == 1, named
    return named[0]


@pytest.mark.parametrize(
    ("text", "context", "expected"),
    [
        (
            "Fixes acme/kettle#12, see https://github.com/Acme/Kettle/pull/12/files#r3 (GH-7).",
            NO_CONTEXT,
            {"issue:acme/kettle#12": 2, "issue:#7": 1},
        ),
        ("color: #123456; #fff; #001138", NO_CONTEXT, {}),
        (
            "release 2.10.2.20200130, defaced, 550e8400-e29b-41d4-a716-446655440000",
            NO_CONTEXT,
            {},
        ),
        (
            "commit 9fceb02 in acme/kettle@9fceb02d",
            NO_CONTEXT,
            {"commit:9fceb02": 1, "commit:acme/kettle@9fceb02d": 1},
        ),
        ("UTF-8, GPT-4, KET-12", EntityContext(jira_projects=("KET",)), {"jira:KET-12": 1}),
        (f"Change-Id: I{SHA}", NO_CONTEXT, {f"gerrit:I{SHA}": 1}),
        ("[x](page.md#12) [[n#12]] &#39; C#10 we are #1", NO_CONTEXT, {}),
    ],
)
def test_mixed_lines(text: str, context: EntityContext, expected: dict[str, int]) -> None:
    assert counts(text, context) == expected


@pytest.mark.parametrize(
    "text",
    [
        "acme/kettle#12",
        "(acme/kettle#12)",
        "see acme/kettle#12.",
        "see Acme/KETTLE#12, then",
        '"acme/kettle#12"',
        "<acme/kettle#12>",
        "a;acme/kettle#12",
        "**acme/kettle#12**",
        "| acme/kettle#12|",
        "「acme/kettle#12」",
        "修复了acme/kettle#12的问题",
        "acme/kettle#12: the lid",
        "acme/kettle#12's title",
        "[fixed acme/kettle#12](notes.md)",
        "![[plan|acme/kettle#12]]",
        "acme/kettle#12\r\nnext",
        "see\u00a0acme/kettle#12\u00a0now",
    ],
)
def test_scoped_issue(text: str) -> None:
    assert counts(text) == {"issue:acme/kettle#12": 1}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("a1-b/c.d_e-f#9", "issue:a1-b/c.d_e-f#9"),
        ("old-/kettle#3", "issue:old-/kettle#3"),
        ("ann_acme/kettle#3", "issue:ann_acme/kettle#3"),
        ("o/.github#3", "issue:o/.github#3"),
        ("o/json#3", "issue:o/json#3"),
        ("o/next.js#3", "issue:o/next.js#3"),
        ("x" * 39 + "/r#3", "issue:" + "x" * 39 + "/r#3"),
        ("o/" + "r" * 100 + "#3", "issue:o/" + "r" * 100 + "#3"),
    ],
)
def test_owner_and_repository_shapes(text: str, key: str) -> None:
    assert counts(text) == {key: 1}


@pytest.mark.parametrize(
    "text",
    [
        "and/or#1",
        "either/or#2",
        "input/output#3",
        "he/she#1",
        "I/O#3",
        "24/7#1",
        "path/to#12",
        "docs/setup#3",
        "wiki/designs#12",
        "src/main#4",
        "notes/page.md#12",
        "acme/page.html#2",
        "a/b/c#1",
        "x/acme/kettle#1",
        "a/b",
        "acme/kettle",
        "repo#12",
        "-acme/kettle#1",
        "ac--me/kettle#1",
        "x" * 40 + "/r#3",
        "o/" + "r" * 101 + "#3",
        "o/.#1",
        "o/..#1",
        "o/kettle.git#1",
        "acme/kettle#012",
        "acme/kettle#0",
        "acme/kettle#12a",
        "acme/kettle#12_b",
        "acme/kettle#1.5",
        "acme/kettle#L10",
        "acme/kettle#readme",
        "x.acme/kettle#12",
        "éacme/kettle#12",
        "acme/kettle#12é",
        "»acme/kettle#12",
        "acmé/kettle#12",
        "x=acme/kettle#12",
        "~acme/kettle#12",
        "@acme/kettle#12",
        "`acme/kettle#12`",
        "```\nFixes acme/kettle#12\n```",
        "    acme/kettle#12",
        "<!-- acme/kettle#12 -->",
        "%% acme/kettle#12 %%",
        "$$\nacme/kettle#12\n$$",
        "[x](acme/kettle#12)",
        "[x](<acme/kettle#12>)",
        "[x]( acme/kettle#12 'title')",
        "![x](acme/kettle#12)",
        "[[acme/kettle#12]]",
        "[[acme/kettle#12|plan]]",
        "![[acme/kettle#12]]",
        "[k]: acme/kettle#12",
        '<a href="acme/kettle#12">x</a>',
    ],
)
def test_not_a_scoped_issue(text: str) -> None:
    assert counts(text) == {}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("issue #12", [12]),
        ("Issues #12", [12]),
        ("PR #12", [12]),
        ("pull #12", [12]),
        ("pull request #12", [12]),
        ("fix #12", [12]),
        ("fixes #12", [12]),
        ("Fixed #12", [12]),
        ("closes #12", [12]),
        ("Closed: #12", [12]),
        ("resolves #12.", [12]),
        ("resolved (#12)", [12]),
        ("see #12", [12]),
        ("see also #12", [12]),
        ("fixed in #12", [12]),
        ("see #123456", [123456]),
        ("see #713, #721 and #738", [713, 721, 738]),
        ("issues #1, #2, and #3 or #4", [1, 2, 3, 4]),
        ("fixes acme/kettle#3 and #12", [12]),
        ("[^n]: see #12", [12]),
        ("GH-7", [7]),
        ("(GH-7)", [7]),
        ("GH-7 and #8", [7, 8]),
    ],
)
def test_unscoped_numbers_need_a_cue(text: str, numbers: list[int]) -> None:
    found = [each for each in mentions(text) if each.key.startswith("issue:#")]
    assert [each.key for each in found] == [f"issue:#{number}" for number in numbers]
    assert {each.confidence for each in found} == {"low"}


@pytest.mark.parametrize(
    "text",
    [
        "#12",
        "the #12 thing",
        "we are #1",
        "#1 reason",
        "PKCS #11",
        "log #56",
        "Pathfinder #3",
        "oversee #12",
        "re-issue #12",
        "issue `x` and then a lot of other words before #12",
        "issue #012",
        "issue #0",
        "issue #12px",
        "issue #12-b",
        "issue #12/b",
        "issue `the blanked code` #12",
        "issue #fff",
        "issue #a1b2c3",
        "fill #123",
        "color #123456",
        "issue\n#12",
        "&#39;",
        "issue &#39;",
        "C#10",
        "F#4",
        "kettle#12",
        "text^12 #^12 [^1]",
        "issue [x](#12)",
        "issue [[#12]]",
        "issue `#12`",
        "xGH-7",
        "GH-07",
        "GH-7a",
        "gh-7",
        "GH-7-1",
        "$issue #12$",
    ],
)
def test_not_an_unscoped_number(text: str) -> None:
    assert counts(text) == {}


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("fixes #12", "high"),
        ("GH-12", "high"),
        ("since #12 it leaks", "low"),
        ("The lid sticks (#12)", "low"),
        ("- #12: lid", "low"),
        ("Two things, #12 among them", "low"),
    ],
)
def test_note_of_a_repository_binds_its_numbers(text: str, confidence: str) -> None:
    mention = only(text, KETTLE)
    assert (mention.key, mention.confidence) == ("issue:acme/kettle#12", confidence)


@pytest.mark.parametrize(
    "text",
    [
        "we are #1",
        "it is #1",
        "- #1 reason to stay",
        "#1 reason",
        "#123",
        "   #123",
        "PKCS #11",
        "log #56",
        "a kettle #12",
        "then #123456",
        "then #12345678",
        "then #001138",
        "then #fff",
        "color: #123",
        "[x](#12)",
        "C#10",
    ],
)
def test_repository_does_not_make_a_rank_or_colour_an_issue(text: str) -> None:
    assert counts(text, KETTLE) == {}


def test_unscoped_is_never_bound_to_a_repository_named_elsewhere_in_the_note() -> None:
    found = counts("acme/kettle#3 is open. Later: see #12.")
    assert found == {"issue:acme/kettle#3": 1, "issue:#12": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("acme/kettle@9fceb02", {"commit:acme/kettle@9fceb02": 1}),
        ("Acme/Kettle@9FCEB02D", {"commit:acme/kettle@9fceb02d": 1}),
        (f"acme/kettle@{SHA}", {f"commit:acme/kettle@{SHA}": 1}),
        (f"in {SHA} we", {f"commit:{SHA}": 1}),
        ("commit 9fceb02", {"commit:9fceb02": 1}),
        ("sha: 9fceb02", {"commit:9fceb02": 1}),
        ("rev 9fceb02", {"commit:9fceb02": 1}),
        ("at revision 9fceb02.", {"commit:9fceb02": 1}),
        ("reverts 9fceb02", {"commit:9fceb02": 1}),
        ("Reverts commit 9fceb02", {"commit:9fceb02": 1}),
        ("cherry-picked from 9fceb02", {"commit:9fceb02": 1}),
        (f"(cherry picked from commit {SHA})", {f"commit:{SHA}": 1}),
        ("commits 9fceb02, 1a410ef and 0155eb4", {
            "commit:9fceb02": 1, "commit:1a410ef": 1, "commit:0155eb4": 1,
        }),
    ],
)  # fmt: skip
def test_commits(text: str, expected: dict[str, int]) -> None:
    assert counts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "9fceb02",
        "the 9fceb02 build",
        "commit 1234567",
        "commit defaced",
        "commit effaced",
        "commit abcdefa",
        "commit 9fceb0",
        "a" * 40,
        "1" * 40,
        "d41d8cd98f00b204e9800998ecf8427e",
        "commit d41d8cd98f00b204e9800998ecf8427e",
        SHA + "0",
        SHA + SHA[:24],
        "commit 0x9fceb02",
        "commit x9fceb02",
        f"v.{SHA}",
        "2.10.2.9fceb02",
        "commit 9fceb02-x",
        "commit x-9fceb02",
        "commit x_9fceb02",
        "FF-12345678",
        "commit 550e8400-e29b-41d4-a716-446655440000",
        "commit 9FCEB02",
        f"{SHA}.png",
        f"`{SHA}`",
        f"```\n{SHA}\n```",
        f"[x]({SHA})",
        f"![[{SHA}.png]]",
        "acme/kettle@20240131",
        "acme/kettle@defaced",
        "acme/kettle@v1.2.3",
        "acme/kettle@9fceb0",
        "path/to@9fceb02",
        "x/acme/kettle@9fceb02",
        "@acme/kettle@9fceb02",
    ],
)
def test_not_a_commit(text: str) -> None:
    assert not [key for key in counts(text) if key.startswith("commit:")]


def test_commit_belongs_to_the_repository_of_the_note() -> None:
    assert counts(f"commit 9fceb02, then {OTHER_SHA}", KETTLE) == {
        "commit:acme/kettle@9fceb02": 1,
        f"commit:acme/kettle@{OTHER_SHA}": 1,
    }


def test_short_and_long_hash_of_one_repository_are_one() -> None:
    text = f"acme/kettle@9fceb02, https://github.com/acme/kettle/commit/{SHA}, acme/lid@9fceb02"
    assert counts(text) == {f"commit:acme/kettle@{SHA}": 2, "commit:acme/lid@9fceb02": 1}


def test_hash_that_begins_two_others_stays_apart() -> None:
    text = "acme/kettle@9fceb02 acme/kettle@9fceb02a1 acme/kettle@9fceb02b acme/kettle@9fceb02b7"
    assert counts(text) == {
        "commit:acme/kettle@9fceb02": 1,
        "commit:acme/kettle@9fceb02a1": 1,
        "commit:acme/kettle@9fceb02b7": 2,
    }


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("thanks @Ann", "person:ann"),
        ("ask @ann.", "person:ann"),
        ("(@ann-lee)", "person:ann-lee"),
        ("@ann, please", "person:ann"),
        ("cc @acme/firmware", "team:acme/firmware"),
        ("请@ann看", "person:ann"),
    ],
)
def test_people_and_teams(text: str, key: str) -> None:
    mention = only(text)
    assert (mention.key, mention.confidence) == (key, "low")


@pytest.mark.parametrize(
    "text",
    [
        "ann@example.org",
        "mail ann@example.org now",
        "@example.org",
        "@scope/pkg",
        "@types/node",
        "npm install @acme/lib",
        "@acme/lib/sub",
        "@acme/lib@1.2.0",
        "icon@2x",
        "icon @2x @3x",
        "@media print",
        "@import url",
        "@font-face",
        "@param x",
        "@ann@social.example",
        "@ann_b",
        "@ann-",
        "@-ann",
        "@an--n",
        "@cache(1)",
        "@app.route",
        "x@ann",
        "/@ann",
        "@ann/",
        "`@ann`",
        "```python\n@fixture\n@ann\n```",
        "[x](@ann)",
    ],
)
def test_not_a_person(text: str) -> None:
    assert counts(text) == {}


@pytest.mark.parametrize(
    ("text", "context", "expected"),
    [
        (f"Change-Id: I{SHA}", NO_CONTEXT, {f"gerrit:I{SHA}": 1}),
        (f"x\nChange-Id: I{SHA}\ny", NO_CONTEXT, {f"gerrit:I{SHA}": 1}),
        (f"Change-Id: {SHA}", NO_CONTEXT, {f"commit:{SHA}": 1}),
        (f"Change-Id: I{SHA}0", NO_CONTEXT, {}),
        ("CL 12345, cl/12346", NO_CONTEXT, {}),
        (
            "CL 12345, cl/12346",
            EntityContext(gerrit_hosts=("review.example.org",)),
            {"gerrit:review.example.org/12345": 1, "gerrit:review.example.org/12346": 1},
        ),
        ("CL 5", EntityContext(gerrit_hosts=("a.example", "b.example")), {"gerrit:5": 1}),
        ("crrev.com/c/12 crbug.com/34", NO_CONTEXT, {}),
        (
            "crrev.com/c/12 crbug.com/34",
            EntityContext(gerrit_hosts=("chromium-review.googlesource.com",)),
            {"gerrit:chromium-review.googlesource.com/12": 1, "issue:crbug.com#34": 1},
        ),
    ],
)
def test_gerrit(text: str, context: EntityContext, expected: dict[str, int]) -> None:
    assert counts(text, context) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("KET-12", {"jira:KET-12": 1}),
        ("(KET-12), KET-13.", {"jira:KET-12": 1, "jira:KET-13": 1}),
        ("A2_B-7", {"jira:A2_B-7": 1}),
        ("OPS-3", {}),
        ("ket-12", {}),
        ("KET-012", {}),
        ("KET-12a", {}),
        ("KET-12-3", {}),
        ("xKET-12", {}),
        ("my-KET-12", {}),
        ("UTF-8 SHA-256 AES-128 ISO-8601 RFC-822 GPT-4 MS17-010 COVID-19", {}),
        ("`KET-12`", {}),
        ("[x](KET-12)", {}),
        ("CVE-2024-1234", {"cve:CVE-2024-1234": 1}),
        ("cve-2024-12345", {"cve:CVE-2024-12345": 1}),
        ("CVE-2024-123", {}),
        ("CVE-24-1234", {}),
        ("XCVE-2024-1234", {}),
        ("CVE-2024-1234-poc", {}),
    ],
)
def test_jira_and_cve(text: str, expected: dict[str, int]) -> None:
    context = EntityContext(jira_projects=("KET", "A2_B", "CVE"))
    assert counts(text, context) == expected


def test_jira_needs_a_configured_project() -> None:
    assert counts("KET-12 UTF-8") == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("group/sub/proj#4", {"issue:gl.example.org/group/sub/proj#4": 1}),
        ("group/proj!4", {"mr:gl.example.org/group/proj!4": 1}),
        ("MR !4", {"mr:!4": 1}),
        ("merge request !4", {"mr:!4": 1}),
        ("wow !4", {}),
        ("gitlab-org/gitlab#390887", {"issue:gitlab-org/gitlab#390887": 1}),
    ],
)
def test_gitlab_short_forms(text: str, expected: dict[str, int]) -> None:
    assert counts(text, EntityContext(gitlab_hosts=("gl.example.org",))) == expected


def test_gitlab_short_forms_need_a_configured_host() -> None:
    assert counts("group/sub/proj#4, group/proj!4, MR !4") == {}


def test_merge_request_of_the_note_s_project() -> None:
    context = EntityContext(repo="gl.example.org/group/proj", gitlab_hosts=("gl.example.org",))
    assert counts("fixed by MR !4 and issue #9", context) == {
        "mr:gl.example.org/group/proj!4": 1,
        "issue:gl.example.org/group/proj#9": 1,
    }


def test_repository_is_implied_by_its_issues_and_commits() -> None:
    found = {each.key: each for each in mentions("Acme/Kettle#12, acme/kettle@9fceb02, see #3")}
    repo = found["repo:acme/kettle"]
    assert (repo.kind, repo.count, repo.surface, repo.start) == ("repo", 2, "Acme/Kettle", 0)
    assert [key for key in found if key.startswith("repo:")] == ["repo:acme/kettle"]


def test_frontmatter_names_the_repository() -> None:
    text = "---\nrepo: Acme/Kettle\n---\nNothing else.\n"
    context = EntityContext(repo="acme/kettle", repo_start=text.index("Acme"))
    found = extract_entities(text, text, context, lambda at: at)
    assert [(each.key, each.start) for each in found] == [("repo:acme/kettle", 10)]
    assert extract_entities(text, text, KETTLE, lambda at: at) == ()


def test_guesses_are_read_behind_the_frontmatter_only() -> None:
    head = f"---\nsource_hash: {SHA}\nby: '@ann'\nup: 'GH-4, fixes #3'\nalso: acme/kettle#5\n---\n"
    text = head + "fixes #9\n"
    found = extract_entities(text, text, NO_CONTEXT, lambda at: at, body_start=len(head))
    assert [each.key for each in found] == ["issue:acme/kettle#5", "repo:acme/kettle", "issue:#9"]


def test_one_mention_a_key_with_first_place_and_count_in_bytes() -> None:
    text = "É acme/kettle#12 then Acme/Kettle#12"
    mention = only(text)
    assert (mention.surface, mention.count, mention.start) == ("acme/kettle#12", 2, 3)
    assert text.encode()[3:].startswith(b"acme")


@pytest.mark.parametrize(
    "text",
    [
        "[acme/kettle#12](https://github.com/acme/kettle/issues/12)",
        "[https://github.com/acme/kettle/pull/12](https://github.com/acme/kettle/pull/12)",
        "[issue #12](https://github.com/acme/kettle/issues/12)",
        "[fixes GH-12](https://github.com/acme/kettle/issues/12)",
        "[acme/kettle#12][k]\n\n[k]: https://github.com/acme/kettle/issues/12",
        "[acme/kettle#12][]\n\n[ACME/kettle#12]: https://github.com/acme/kettle/issues/12",
        "[acme/kettle#12]\n\n[acme/kettle#12]: https://github.com/acme/kettle/issues/12",
        "<https://github.com/acme/kettle/issues/12>",
        "[[https://github.com/acme/kettle/issues/12|x]]",
    ],
)
def test_link_text_and_target_are_one_mention(text: str) -> None:
    assert counts(text) == {"issue:acme/kettle#12": 1}
    assert counts(text, EntityContext(repo="acme/lid")) == {"issue:acme/kettle#12": 1}


def test_link_text_that_names_something_else_counts() -> None:
    text = "[acme/lid#12 and issue #9](https://github.com/acme/kettle/issues/12)"
    assert counts(text) == {"issue:acme/lid#12": 1, "issue:#9": 1, "issue:acme/kettle#12": 1}


def test_short_hash_as_text_of_its_commit_is_one_mention() -> None:
    text = f"commit [9fceb02](https://github.com/acme/kettle/commit/{SHA})"
    assert counts(text) == {f"commit:acme/kettle@{SHA}": 1}


def test_detail_keeps_the_first_fragment() -> None:
    text = (
        "acme/kettle#12 https://github.com/acme/kettle/issues/12#issuecomment-5 "
        "https://github.com/acme/kettle/issues/12#issuecomment-6"
    )
    assert only(text).detail == "issuecomment-5"


def test_one_certain_spelling_makes_a_mention_certain() -> None:
    context = EntityContext(repo="acme/kettle")
    assert only("since #12 it leaks, acme/kettle#12", context).confidence == "high"


def test_surfaces_are_safe_to_store() -> None:
    data = b"see acme/kettle#12\xff https://x.org/a\xffb https://x.org/a\0b @ann\xff"
    for mention in mentions(data.decode("utf-8", "surrogateescape")):
        assert "\0" not in mention.surface + mention.key
        mention.surface.encode("utf-8")
        mention.key.encode("utf-8")


@pytest.mark.parametrize(
    ("value", "repo"),
    [
        ("acme/kettle", "acme/kettle"),
        ("Acme/Kettle", "acme/kettle"),
        (" 'acme/kettle' ", "acme/kettle"),
        ("https://github.com/acme/kettle", "acme/kettle"),
        ("https://github.com/acme/kettle.git", "acme/kettle"),
        ("http://www.github.com/acme/kettle/issues?q=1#x", "acme/kettle"),
        ("github.com/acme/kettle", "acme/kettle"),
        ("git@github.com:acme/kettle.git", "acme/kettle"),
        ("ssh://git@github.com/acme/kettle", "acme/kettle"),
        ("https://gl.example.org/group/sub/proj", "gl.example.org/group/sub/proj"),
        ("https://gl.example.org/group/proj/-/issues/4", "gl.example.org/group/proj"),
        ("git@gl.example.org:group/proj.git", "gl.example.org/group/proj"),
        ("gl.example.org/group/proj", "gl.example.org/group/proj"),
        ("", None),
        ("kettle", None),
        ("https://github.com/acme", None),
        ("-x/kettle", None),
        ("acme/..", None),
    ],
)
def test_repo_of_property(value: str, repo: str | None) -> None:
    assert repo_of_property(value) == repo
