"""URLs: which key an address gives, where it ends in a sentence, how two spellings compare."""

import pytest

from agentm_assets.extract.entities import extract_entities
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.extract.entity_urls import canonical_url
from agentm_assets.extract.mask import ALL, blank, find_regions
from agentm_assets.extract.model import EntityMention

SHA = "9fceb02d0ae598e95dc970b74767f19372d61af8"
NO_CONTEXT = EntityContext()


def mentions(text: str, context: EntityContext = NO_CONTEXT) -> tuple[EntityMention, ...]:
    masked = blank(text, find_regions(text), ALL)
    return extract_entities(text, masked, context, lambda at: at)


def keys(text: str, context: EntityContext = NO_CONTEXT) -> list[str]:
    return [each.key for each in mentions(text, context)]


ISSUE = ["issue:acme/kettle#12", "repo:acme/kettle"]


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/kettle/issues/12",
        "http://github.com/acme/kettle/issues/12",
        "https://www.github.com/acme/kettle/issues/12",
        "HTTPS://GitHub.com/Acme/Kettle/issues/12",
        "https://github.com:443/acme/kettle/issues/12",
        "https://github.com/acme/kettle/issues/12/",
        "https://github.com/acme/kettle/pull/12",
        "https://github.com/acme/kettle/pull/12/files",
        "https://github.com/acme/kettle/pull/12/files#r3",
        f"https://github.com/acme/kettle/pull/12/commits/{SHA}",
        "https://github.com/acme/kettle/pull/12/checks?check_run_id=4",
        "https://github.com/acme/kettle/discussions/12",
        "https://github.com/acme/kettle/discussions/12#discussioncomment-4",
        "https://github.com/acme/kettle/issues/12?x=1",
        "https://github.com/acme/kettle/issues/12#issuecomment-77",
        "https://github.com/acme/kettle/pull/12#discussion_r9",
        "https://api.github.com/repos/acme/kettle/issues/12",
        "https://api.github.com/repos/acme/kettle/pulls/12",
        "https://github.com//acme/kettle//issues/12",
        "github.com/acme/kettle/issues/12",
        "www.github.com/acme/kettle/issues/12",
    ],
)
def test_every_address_of_an_issue_gives_one_key(url: str) -> None:
    assert keys(f"See {url} for more.") == ISSUE


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{}.",
        "{},",
        "{};",
        "{}:",
        "{}!",
        "{}?",
        "({})",
        "({}).",
        "[{}]",
        "<{}>",
        '"{}"',
        "'{}'",
        "“{}”",
        "**{}**",
        "_{}_",
        "{{{}}}",
        "{}\n",
        "{}\r\nx",
        "[x]({})",
        "[x]({}),",
        '[x]({} "title")',
        "[x](<{}>)",
        "![x]({})",
        "[x]({})y",
        "[k]: {}",
        "[[{}]]",
        "[[{}|x]]",
        "| {}|",
        "「{}」。",
        "见{}，",
        '<a href="{}">x</a>',
        "source: {}",
        "x {}\u200b",
    ],
)
def test_url_ends_where_the_sentence_goes_on(text: str) -> None:
    assert keys(text.format("https://github.com/acme/kettle/issues/12")) == ISSUE


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/acme/kettle", ["repo:acme/kettle"]),
        ("https://github.com/Acme/Kettle/", ["repo:acme/kettle"]),
        ("https://github.com/acme/kettle.git", ["repo:acme/kettle"]),
        ("https://github.com/acme/kettle#readme", ["repo:acme/kettle"]),
        ("https://github.com/acme/kettle/issues", ["repo:acme/kettle"]),
        ("https://github.com/acme/kettle?tab=readme", ["repo:acme/kettle"]),
        ("git@github.com:acme/kettle.git", ["repo:acme/kettle"]),
        ("ssh://git@github.com/acme/kettle.git", ["repo:acme/kettle"]),
        ("git+https://github.com/acme/kettle.git", ["repo:acme/kettle"]),
        ("https://api.github.com/repos/acme/kettle", ["repo:acme/kettle"]),
        (
            f"https://github.com/acme/kettle/commit/{SHA}",
            [f"commit:acme/kettle@{SHA}", "repo:acme/kettle"],
        ),
        (
            "https://github.com/acme/kettle/commit/9FCEB02.patch",
            ["commit:acme/kettle@9fceb02", "repo:acme/kettle"],
        ),
        (
            f"https://api.github.com/repos/acme/kettle/commits/{SHA}",
            [f"commit:acme/kettle@{SHA}", "repo:acme/kettle"],
        ),
        (
            "https://github.com/acme/kettle/compare/9fceb02...1a410ef",
            ["commit:acme/kettle@1a410ef", "commit:acme/kettle@9fceb02", "repo:acme/kettle"],
        ),
        (
            "https://github.com/acme/kettle/compare/v1.0...main",
            ["repo:acme/kettle", "url:https://github.com/acme/kettle/compare/v1.0...main"],
        ),
        (
            "https://github.com/acme/kettle/commit/9fceb0",
            ["repo:acme/kettle", "url:https://github.com/acme/kettle/commit/9fceb0"],
        ),
        (
            "https://github.com/acme/kettle/issues/012",
            ["repo:acme/kettle", "url:https://github.com/acme/kettle/issues/012"],
        ),
        (
            "http://www.github.com/acme/kettle/blob/main/a.c#L3",
            ["repo:acme/kettle", "url:https://github.com/acme/kettle/blob/main/a.c"],
        ),
        (
            "https://raw.githubusercontent.com/acme/kettle/main/a.c",
            [
                "repo:acme/kettle",
                "url:https://raw.githubusercontent.com/acme/kettle/main/a.c",
            ],
        ),
        ("https://github.com/orgs/Acme/teams/firmware", ["team:acme/firmware"]),
        ("https://gist.github.com/ann/0123456789abcdef0123", ["gist:0123456789abcdef0123"]),
        ("https://gist.github.com/0123456789abcdef0123#file-x", ["gist:0123456789abcdef0123"]),
        (
            "https://gist.githubusercontent.com/ann/0123456789abcdef0123/raw/x.py",
            ["gist:0123456789abcdef0123"],
        ),
        ("https://acme.github.io/kettle/", ["url:https://acme.github.io/kettle"]),
        ("https://github.com/acme", ["url:https://github.com/acme"]),
        ("https://github.com", ["url:https://github.com"]),
        ("https://github.com/-x/kettle", ["url:https://github.com/-x/kettle"]),
        ("https://github.com/acme/..", ["url:https://github.com/acme"]),
        ("https://notgithub.com/acme/kettle", ["url:https://notgithub.com/acme/kettle"]),
        ("https://github.community/acme/k", ["url:https://github.community/acme/k"]),
    ],
)
def test_github_addresses(url: str, expected: list[str]) -> None:
    assert keys(url) == expected


@pytest.mark.parametrize(
    "page",
    [
        "features/actions",
        "orgs/acme/repositories",
        "settings/tokens",
        "marketplace/actions",
        "topics/kettle",
        "sponsors/ann",
        "about/press",
        "login/oauth",
        "users/ann",
        "apps/dependabot",
        "search/advanced",
        "security/advisories",
        "user-attachments/assets/0b1",
        "advisories/GHSA-0000",
        "notifications/beta",
        "Features/Actions",
    ],
)
def test_pages_of_the_site_are_not_repositories(page: str) -> None:
    assert keys(f"https://github.com/{page}") == [f"url:https://github.com/{page}"]


@pytest.mark.parametrize(
    ("url", "context", "expected"),
    [
        (
            "https://gl.example.org/group/sub/proj/-/issues/4#note_7",
            NO_CONTEXT,
            ["issue:gl.example.org/group/sub/proj#4", "repo:gl.example.org/group/sub/proj"],
        ),
        (
            "https://gl.example.org/group/proj/-/work_items/4",
            NO_CONTEXT,
            ["issue:gl.example.org/group/proj#4", "repo:gl.example.org/group/proj"],
        ),
        (
            "https://gl.example.org/Group/proj/-/merge_requests/4/diffs",
            NO_CONTEXT,
            ["mr:gl.example.org/group/proj!4", "repo:gl.example.org/group/proj"],
        ),
        (
            "https://gl.example.org/group/proj/-/commit/9fceb02",
            NO_CONTEXT,
            ["commit:gl.example.org/group/proj@9fceb02", "repo:gl.example.org/group/proj"],
        ),
        (
            "https://gl.example.org/group/proj/-/tree/main",
            NO_CONTEXT,
            [
                "repo:gl.example.org/group/proj",
                "url:https://gl.example.org/group/proj/-/tree/main",
            ],
        ),
        (
            "https://gl.example.org/group/proj",
            NO_CONTEXT,
            ["url:https://gl.example.org/group/proj"],
        ),
        (
            "https://gl.example.org/group/proj",
            EntityContext(gitlab_hosts=("gl.example.org",)),
            ["repo:gl.example.org/group/proj", "url:https://gl.example.org/group/proj"],
        ),
        (
            "https://review.example.org/c/proj/sub/+/12345/3",
            NO_CONTEXT,
            ["gerrit:review.example.org/12345"],
        ),
        (
            "https://review.example.org/12345",
            NO_CONTEXT,
            ["url:https://review.example.org/12345"],
        ),
        (
            "https://review.example.org/12345 https://review.example.org/#/c/12345/",
            EntityContext(gerrit_hosts=("review.example.org",)),
            ["gerrit:review.example.org/12345"],
        ),
        ("https://crrev.com/c/12", NO_CONTEXT, ["url:https://crrev.com/c/12"]),
        (
            "https://crrev.com/c/12 https://crbug.com/34",
            EntityContext(gerrit_hosts=("crrev.com", "crbug.com")),
            ["gerrit:chromium-review.googlesource.com/12", "issue:crbug.com#34"],
        ),
        ("https://jira.example.org/browse/KET-12?focused=1", NO_CONTEXT, ["jira:KET-12"]),
        (
            "https://jira.example.org/browse/ket-12",
            NO_CONTEXT,
            ["url:https://jira.example.org/browse/ket-12"],
        ),
        ("https://nvd.nist.gov/vuln/detail/CVE-2024-1234", NO_CONTEXT, ["cve:CVE-2024-1234"]),
        ("https://www.cve.org/CVERecord?id=CVE-2024-1234", NO_CONTEXT, ["cve:CVE-2024-1234"]),
    ],
)
def test_other_trackers(url: str, context: EntityContext, expected: list[str]) -> None:
    assert keys(url, context) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://Example.org/A/", ["url:https://example.org/A"]),
        ("https://example.org", ["url:https://example.org"]),
        ("https://example.org/", ["url:https://example.org"]),
        ("https://example.org:443/a", ["url:https://example.org/a"]),
        ("http://example.org:80/a", ["url:http://example.org/a"]),
        ("http://example.org:443/a", ["url:http://example.org:443/a"]),
        ("https://example.org/a?utm_source=x&b=2&a=1", ["url:https://example.org/a?a=1&b=2"]),
        ("https://example.org/a?utm_source=x", ["url:https://example.org/a"]),
        ("https://example.org/a?b=1&amp;a=2", ["url:https://example.org/a?a=2&b=1"]),
        ("https://example.org/a#part", ["url:https://example.org/a"]),
        ("https://example.org/%7ea", ["url:https://example.org/%7Ea"]),
        ("(https://example.org/Tea_(drink))", ["url:https://example.org/Tea_(drink)"]),
        ("https://example.org/a)b", ["url:https://example.org/a"]),
        ("https://example.org/薬缶、", ["url:https://example.org/薬缶"]),
        ("https://例え.example/a", ["url:https://例え.example/a"]),
        ("https://ann:secret@example.org/a", ["url:https://example.org/a"]),
        ("https://example.org/https://github.com/acme/kettle", None),
        ("https://example.org/acme/kettle#12", ["url:https://example.org/acme/kettle"]),
        ("https://example.org/@ann", ["url:https://example.org/@ann"]),
        ("https://[2001:db8::1]:8080/a", ["url:https://[2001:db8::1]:8080/a"]),
        ("http://localhost:3000/a http://127.0.0.1/ http://[::1]/x", []),
        ("https:// http://… https://)", []),
        ("xhttps://example.org", []),
        ("ftp://example.org mailto:ann@example.org obsidian://open?vault=v", []),
        ("`https://example.org`", []),
        ("```\nhttps://example.org\n```", []),
        ("<!-- https://example.org -->", []),
        ("x.github.com/acme/kettle github.com.example/acme/kettle", []),
    ],
)
def test_other_urls(text: str, expected: list[str] | None) -> None:
    if expected is None:
        expected = [f"url:{text}"]
    assert keys(text) == expected


def test_fragment_is_the_detail() -> None:
    (mention,) = mentions("https://example.org/a#part-2,")
    assert (mention.detail, mention.kind, mention.confidence) == ("part-2", "url", "high")


def test_password_in_a_url_is_not_stored() -> None:
    (mention,) = mentions("https://ann:secret@example.org/a")
    assert "secret" not in repr(mention)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://Example.org/a/", "HTTPS://example.org:443/a#x"),
        ("https://example.org/a?b=1&a=2", "https://example.org/a?a=2&utm_medium=m&b=1"),
        ("https://github.com/acme/kettle", "http://www.github.com/acme/kettle/"),
    ],
)
def test_canonical_url_is_one_for_all_spellings(one: str, other: str) -> None:
    assert canonical_url(one) is not None
    assert canonical_url(one) == canonical_url(other)


@pytest.mark.parametrize(
    "text", ["", "kettle", "ftp://example.org", "http://localhost/", "https://"]
)
def test_canonical_url_of_what_is_none(text: str) -> None:
    assert canonical_url(text) is None
