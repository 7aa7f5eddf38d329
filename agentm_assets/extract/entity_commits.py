"""Commit hashes that do not name their repository, and how a short form meets a long one.

Hexadecimal runs are mostly something else (digests, UUIDs, dates, drawings). A bare one counts
when it is whole (40 digits) or when a word announces it.
"""

import re
from dataclasses import replace

from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.extract.entity_cues import before, joined_to
from agentm_assets.extract.entity_found import Confidence, Found
from agentm_assets.extract.entity_grammar import RIGHT, is_bare_sha, left_boundary

_HEX_RUN = re.compile(r"[0-9a-f]{7,40}")
_RIGHT = re.compile(rf"{RIGHT}(?![-@/]|\.\w)")
_CUES = frozenset(
    {"commit", "commits", "sha", "rev", "revs", "revision", "revisions", "revert", "reverts"}
    | {"reverted", "reverting", "cherry-pick", "cherry-picks", "cherry-picked"}
)
_FILL = frozenset({"from", "of", "in", "at", "to", "the", "hash", "id"})
_WHOLE = 40


def find_commits(bare: str, guess_from: int, context: EntityContext, *, ask: bool) -> list[Found]:
    """Bare hashes in `bare` from `guess_from` on; targets and URLs are already blanked out.

    They belong to the note's repository where it has one. `ask`: in a question a short hash needs
    no cue.
    """
    found: list[Found] = []
    announced_ends: set[int] = set()
    for match in _HEX_RUN.finditer(bare, guess_from):
        sha, start, end = match[0], match.start(), match.end()
        if not (is_bare_sha(sha) and left_boundary(bare, start) and _RIGHT.match(bare, end)):
            continue
        announced = (
            ask or _is_cue(before(bare, start).words) or joined_to(bare, start, announced_ends)
        )
        if announced:
            announced_ends.add(end)
        if announced or len(sha) == _WHOLE:
            found.append(_bind(sha, start, end, context, announced=announced))
    return found


def _is_cue(words: tuple[str, ...]) -> bool:
    """`commit 9fceb02`, `reverted in 9fceb02`, `cherry picked from 9fceb02`."""
    skipped = 0
    while skipped < len(words) - 1 and words[-1 - skipped] in _FILL:
        skipped += 1
    rest = words[: len(words) - skipped]
    return bool(rest) and (rest[-1] in _CUES or rest[-2:] in (("cherry", "picked"),))


def _bind(sha: str, start: int, end: int, context: EntityContext, *, announced: bool) -> Found:
    if context.repo is None:
        return Found(f"commit:{sha}", "commit", start, end, "low", None, None, sha, guessed=True)
    confidence: Confidence = "high" if announced else "low"
    key = f"commit:{context.repo}@{sha}"
    return Found(key, "commit", start, end, confidence, None, context.repo, sha, guessed=True)


def commits_match(one: str, other: str) -> bool:
    """Whether two commit keys can mean one commit: same scope, and one hash begins the other.

    The index holds hashes as notes spell them, so a question for a long form must find the short
    one and the reverse. An unscoped key never matches a scoped one.
    """
    scope, sha = _split(one)
    other_scope, other_sha = _split(other)
    return scope == other_scope and (sha.startswith(other_sha) or other_sha.startswith(sha))


def merge_short_forms(found: list[Found]) -> list[Found]:
    """Gives a short hash the key of the longest hash of the same repository that it begins.

    Where it begins two hashes that differ further on, it stays as it is.
    """
    by_scope: dict[str, list[str]] = {}
    for key in {each.key for each in found if each.kind == "commit"}:
        scope, sha = _split(key)
        by_scope.setdefault(scope, []).append(sha)
    longest: dict[str, str] = {}
    for scope, shas in by_scope.items():
        for short, long in _longest_forms(sorted(shas)).items():
            longest[_join(scope, short)] = _join(scope, long)
    return [
        replace(each, key=longest.get(each.key, each.key)) if each.kind == "commit" else each
        for each in found
    ]


def _longest_forms(shas: list[str]) -> dict[str, str]:
    """For each of the sorted hashes the one at the end of its chain of extensions.

    The extensions of a hash follow it directly in sorted order, `ends[i]` behind the last of them.
    They are a chain exactly when the next hash has the same end and is at the head of a chain.
    """
    count = len(shas)
    ends = [0] * count
    chain: list[str | None] = [None] * count
    for index in range(count - 1, -1, -1):
        end = index + 1
        while end < count and shas[end].startswith(shas[index]):
            end = ends[end]
        ends[index] = end
        if end == index + 1:
            chain[index] = shas[index]
        elif ends[index + 1] == end:
            chain[index] = chain[index + 1]
    return {sha: long for sha, long in zip(shas, chain, strict=True) if long is not None}


def _split(key: str) -> tuple[str, str]:
    scope, _, sha = key.removeprefix("commit:").rpartition("@")
    return scope, sha


def _join(scope: str, sha: str) -> str:
    return f"commit:{scope}@{sha}" if scope else f"commit:{sha}"
