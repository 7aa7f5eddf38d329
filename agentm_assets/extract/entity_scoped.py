"""`owner/repo#12` and `owner/repo@9fceb02`: the written forms that name their repository."""

import re

from agentm_assets.extract.entity_found import Found
from agentm_assets.extract.entity_grammar import (
    NUMBER,
    REPO,
    RIGHT,
    is_sha,
    owner_before,
    reads_as_repository,
)

# Begins with its slash, which the regular expression engine looks for fast; the owner is read
# backwards from there.
_SCOPED = re.compile(rf"/({REPO})(?:#({NUMBER}){RIGHT}|@([0-9a-fA-F]{{7,40}}){RIGHT}(?!-\w))")


def find_scoped(bare: str) -> list[Found]:
    """Issues and commits in `bare`, where link targets and URLs are already blanked out."""
    found: list[Found] = []
    for match in _SCOPED.finditer(bare):
        repo, number, sha = match.groups()
        owner = owner_before(bare, match.start())
        if owner is None or not reads_as_repository(owner, repo):
            continue
        spelled, start, end = f"{owner}/{repo}", match.start() - len(owner), match.end()
        name = spelled.lower()
        if number is not None:
            key = f"issue:{name}#{number}"
            found.append(Found(key, "issue", start, end, "high", None, spelled, number))
        elif is_sha(sha):
            sha = sha.lower()
            key = f"commit:{name}@{sha}"
            found.append(Found(key, "commit", start, end, "high", None, spelled, sha))
    return found
