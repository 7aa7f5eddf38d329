"""References to things outside the vault: issues, commits, repositories, people, URLs.

Every spelling of one thing gives one key (a URI), so that a note which holds only
`https://github.com/acme/kettle/pull/12/files` is found by a question about `acme/kettle#12`.

Keys: `issue:owner/repo#12` (issues, pull requests and discussions share one number line),
`repo:owner/repo`, `commit:owner/repo@sha`, `person:login` or `person:address`, `team:org/team`,
`gist:id`,
`mr:host/group/project!4`, `gerrit:host/123` or `gerrit:I…`, `jira:KET-12`, `cve:CVE-2024-1234`,
and `url:https://…` for every other external URL. On hosts other than GitHub the name of a
repository begins with the host. Forms that do not say where they belong keep a key without scope
(`issue:#7`, `commit:9fceb02`) and low confidence.

An issue or commit also mentions its repository: a question that names `acme/kettle` finds the
notes that hold only its issues.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace

from agentm_assets.extract.entity_commits import find_commits, merge_short_forms
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.extract.entity_found import Found
from agentm_assets.extract.entity_grammar import (
    BOUNDARY,
    OWNER,
    REPO,
    RIGHT,
    plain,
    reads_as_repository,
    strip_git_suffix,
)
from agentm_assets.extract.entity_issues import find_issues
from agentm_assets.extract.entity_people import (
    find_addressed,
    find_asked_addresses,
    find_author,
    find_people,
)
from agentm_assets.extract.entity_scoped import find_scoped
from agentm_assets.extract.entity_trackers import find_tracked
from agentm_assets.extract.entity_urls import find_urls
from agentm_assets.extract.link_spans import LinkSpan, blank_spans, find_link_spans
from agentm_assets.extract.model import EntityMention

_BLANKED = "\0"  # neither a blank nor a word character: nothing starts or ends beside it
_CREDENTIALS = re.compile(r"(?<=://)[^/?#@\s]*@")
_LOWER_KINDS = frozenset({"issue", "repo", "commit", "person", "team", "gist", "mr"})
_UPPER_KINDS = frozenset({"jira", "cve"})
_ASKED_REPOSITORY = re.compile(rf"(?<![^{BOUNDARY}])({OWNER})/({REPO}){RIGHT}(?![/#@])")


def extract_entities(
    text: str,
    masked: str,
    context: EntityContext,
    byte_offset: Callable[[int], int],
    *,
    body_start: int = 0,
) -> tuple[EntityMention, ...]:
    """The entities that a note mentions, one mention a key, in the order of their first place.

    `text` is the whole file, `masked` the same length with code, comments and maths blanked by
    spaces. `body_start` is the character offset behind the frontmatter: in front of it only URLs
    and forms that name their repository or project are read. `byte_offset` turns a character
    offset of `text` into one of the file's bytes.
    """
    found = _find(masked, context, body_start, ask=False)
    found.extend((*find_addressed(masked), *find_author(masked, body_start)))
    if context.repo is not None and context.repo_start is not None:
        at = context.repo_start
        end = at + len(context.repo)
        found.append(Found(f"repo:{context.repo}", "repo", at, end, "high", None, context.repo))
    return _merge(merge_short_forms(_with_repositories(found)), text, byte_offset)


def entities_in_question(question: str, context: EntityContext) -> tuple[str, ...]:
    """The keys that a question names, in its order, without repeats.

    The same forms as in a note, and those that only a person who asks means: `owner/repo` alone,
    `#12` and a short hash without a cue. A key that no note has finds nothing, so a guess is
    harmless here. Compare commits with `commits_match`.
    """
    found = [*_find(question, context, 0, ask=True), *find_asked_addresses(question)]
    taken = [(each.start, each.end) for each in found]
    for match in _ASKED_REPOSITORY.finditer(plain(question)):
        owner, repo = match[1], strip_git_suffix(match[2].rstrip("."))
        inside = any(start <= match.start() < end for start, end in taken)
        if not inside and reads_as_repository(owner, repo):
            key = f"repo:{owner}/{repo}".lower()
            found.append(Found(key, "repo", *match.span(), "low"))
    found.sort(key=lambda each: (each.start, each.key))
    return tuple(dict.fromkeys(each.key for each in found))


def key_of(asked: str, context: EntityContext) -> str | None:
    """The key for what a person types to look one thing up: a key, a URL or any written form.

    None when nothing in it names an entity.
    """
    asked = asked.strip()
    kind, colon, rest = asked.partition(":")
    if colon and kind.lower() == "url":
        return key_of(rest, context)
    if colon and kind.lower() in _LOWER_KINDS:
        return asked.lower()
    if colon and kind.lower() in _UPPER_KINDS:
        return f"{kind.lower()}:{rest.upper()}"
    if colon and kind.lower() == "gerrit":
        return f"gerrit:{rest}" if rest.startswith("I") else asked.lower()
    return next(iter(entities_in_question(asked, context)), None)


def _find(masked: str, context: EntityContext, guess_from: int, *, ask: bool) -> list[Found]:
    links = find_link_spans(masked)
    found, url_spans = find_urls(masked, context)
    bare = plain(blank_spans(masked, sorted((*links.targets, *url_spans)), _BLANKED))
    scoped = find_scoped(bare)
    found.extend(scoped)
    scoped_ends = {each.end for each in scoped if each.kind == "issue"}
    found.extend(find_issues(bare, guess_from, context, scoped_ends, ask=ask))
    found.extend(find_commits(bare, guess_from, context, ask=ask))
    found.extend(find_people(bare, guess_from))
    found.extend(find_tracked(bare, context))
    found.sort(key=lambda each: (each.start, each.end, each.key))
    return _without_repeats(found, links.links)


def _without_repeats(found: list[Found], links: tuple[LinkSpan, ...]) -> list[Found]:
    """Drops what the text of a link says only because its target names it.

    `[acme/kettle#12](https://github.com/acme/kettle/issues/12)` is one mention, at the text's
    place, and so is `[issue #12](…/issues/12)`, whose text alone would be an unscoped one.
    """
    if not links or not found:
        return found
    starts = [each.start for each in found]
    kept: list[Found | None] = [*found]
    for link in links:
        first_target = bisect_left(starts, link.target_start)
        targets = range(first_target, bisect_left(starts, link.target_end))
        shown_range = range(
            bisect_left(starts, link.text_start), bisect_left(starts, link.text_end)
        )
        for shown_at in shown_range if targets else ():
            shown = found[shown_at]
            for target_at in targets:
                target = found[target_at]
                if _repeats(shown, target):
                    kept[shown_at] = None
                    if shown.key == target.key:
                        kept[target_at] = replace(target, start=shown.start, end=shown.end)
                    break
    return [each for each in kept if each is not None]


def _repeats(shown: Found, target: Found) -> bool:
    if shown.key == target.key:
        return True
    if not shown.guessed or shown.kind != target.kind:
        return False
    if shown.number is None or target.number is None:
        return False
    if shown.kind == "commit":
        return target.number.startswith(shown.number)
    return shown.number == target.number


def _with_repositories(found: list[Found]) -> list[Found]:
    """Adds the repository of every issue and commit, once a place (a comparison names two)."""
    implied = {
        (each.start, each.repo): Found(
            f"repo:{each.repo.lower()}",
            "repo",
            each.start,
            each.end,
            each.confidence,
            None,
            each.repo,
        )
        for each in found
        if each.repo is not None and each.kind != "repo"
    }
    return sorted((*found, *implied.values()), key=lambda each: (each.start, each.end, each.key))


def _merge(
    found: list[Found], text: str, byte_offset: Callable[[int], int]
) -> tuple[EntityMention, ...]:
    """One mention a key: the first place and spelling, how many in all, the best confidence."""
    groups: dict[str, list[Found]] = {}
    for each in found:
        groups.setdefault(each.key, []).append(each)
    return tuple(
        EntityMention(
            key=key,
            kind=group[0].kind,
            surface=_surface(group[0], text),
            detail=next((each.detail for each in group if each.detail), None),
            count=len(group),
            start=byte_offset(group[0].start),
            confidence="high" if any(each.confidence == "high" for each in group) else "low",
        )
        for key, group in groups.items()
    )


def _surface(found: Found, text: str) -> str:
    """The spelling in the text; for an implied repository only its name; never a password.

    No form holds NUL or the surrogates of invalid bytes, so a surface is safe to store.
    """
    if found.kind == "repo" and found.repo is not None:
        return found.repo
    return _CREDENTIALS.sub("", text[found.start : found.end])
