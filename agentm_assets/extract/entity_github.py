"""GitHub URLs to keys: every address of one issue, commit or repository gives one key.

Issues, pull requests and discussions of a repository share one number line, so all three are
`issue:owner/repo#N`. Owners and repositories are compared without case, so keys are lower-case.
"""

import re

from agentm_assets.extract.entity_found import UNREAD, Named, UrlReading
from agentm_assets.extract.entity_grammar import (
    NUMBER,
    is_hash,
    is_owner,
    is_repo,
    is_sha,
    strip_git_suffix,
)
from agentm_assets.extract.word_lists import SITE_PAGES

_NUMBER = re.compile(NUMBER)
_GIST_ID = re.compile(r"[0-9a-fA-F]{20,32}|[0-9]{1,8}")
_TEAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


_COUNTED_PAGES = frozenset({"issues", "issue", "pull", "pulls", "discussions"})


def read_github_url(host: str, segments: list[str], query: str, fragment: str | None) -> UrlReading:
    """What a URL on one of GitHub's hosts names. `segments` is the path without empty parts.

    A file, release or wiki page inside a repository names the repository and is an entity itself.
    `owner.github.io` is not mapped: it does not say which repository a page comes from.
    """
    if host in ("github.com", "www.github.com"):
        if segments[:1] == ["orgs"]:
            return _team(segments)
        if not segments or segments[0].lower() in SITE_PAGES:
            return UNREAD
        return _in_repository(segments, query, fragment)
    if host == "api.github.com" and segments[:1] == ["repos"]:
        return _in_repository(segments[1:], query, fragment)
    if host in ("raw.githubusercontent.com", "codeload.github.com"):
        return _file_of_repository(segments)
    if host in ("gist.github.com", "gist.githubusercontent.com"):
        return _gist(segments, fragment)
    return UNREAD


def _spelled_repository(segments: list[str]) -> str | None:
    if len(segments) < 2:
        return None
    owner, repo = segments[0], strip_git_suffix(segments[1])
    return f"{owner}/{repo}" if is_owner(owner) and is_repo(repo) else None


def _in_repository(segments: list[str], query: str, fragment: str | None) -> UrlReading:
    spelled = _spelled_repository(segments)
    if spelled is None:
        return UNREAD
    name, rest = spelled.lower(), segments[2:]
    if not rest or (len(rest) == 1 and rest[0] in _COUNTED_PAGES and not query):
        return UrlReading((Named(f"repo:{name}", "repo", fragment, spelled),), complete=True)
    page, ident = rest[0], rest[1] if len(rest) > 1 else ""
    if page in _COUNTED_PAGES and _NUMBER.fullmatch(ident):
        issue = Named(f"issue:{name}#{ident}", "issue", fragment, spelled, ident)
        return UrlReading((issue,), complete=True)
    if page == "commit" or (page == "commits" and len(rest) == 2):
        sha = ident.removesuffix(".patch").removesuffix(".diff").lower()
        if is_hash(sha):
            commit = Named(f"commit:{name}@{sha}", "commit", fragment, spelled, sha)
            return UrlReading((commit,), complete=True)
    if page == "compare" and len(rest) == 2 and (ends := _compared(name, spelled, ident)):
        return UrlReading(ends, complete=True)
    return _file_of_repository(segments)


def _file_of_repository(segments: list[str]) -> UrlReading:
    spelled = _spelled_repository(segments)
    if spelled is None:
        return UNREAD
    return UrlReading((Named(f"repo:{spelled.lower()}", "repo", None, spelled),))


def _compared(name: str, spelled: str, span: str) -> tuple[Named, ...]:
    """The commits at both ends of a comparison; branches and tags are not commits."""
    ends = span.split("...") if "..." in span else span.split("..")
    shas = [end.lower() for end in ends if is_sha(end)] if len(ends) == 2 else []
    return tuple(Named(f"commit:{name}@{sha}", "commit", None, spelled, sha) for sha in shas)


def _team(segments: list[str]) -> UrlReading:
    if len(segments) == 4 and segments[2] == "teams" and is_owner(segments[1]):
        team = segments[3]
        if _TEAM.fullmatch(team):
            key = f"team:{segments[1]}/{team}".lower()
            return UrlReading((Named(key, "team"),), complete=True)
    return UNREAD


def _gist(segments: list[str], fragment: str | None) -> UrlReading:
    """A gist is named by its id; the login before it may be left out."""
    for ident in segments[:2]:
        if _GIST_ID.fullmatch(ident):
            return UrlReading((Named(f"gist:{ident.lower()}", "gist", fragment),), complete=True)
    return UNREAD
