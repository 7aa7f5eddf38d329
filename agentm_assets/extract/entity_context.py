"""What a note or the configuration says about the systems that bare references belong to.

A bare `#12`, `KET-12` or `CL 12345` names nothing by itself. The operator's configuration lists
the trackers that count, and a note's `repo:` property says which repository its bare numbers are
about; without either, such forms stay unscoped or are not read at all.
"""

import re
from dataclasses import dataclass

from agentm_assets.extract.entity_grammar import is_owner, is_repo, strip_git_suffix

_SCHEME = re.compile(r"(?:https?|ssh|git)://(?:[^/\s@]{0,80}@)?", re.IGNORECASE)
_SCP_LIKE = re.compile(r"[A-Za-z0-9._-]{1,80}@([A-Za-z0-9.-]{1,253}):")
_HOST = re.compile(r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,20}(?::\d{1,5})?\Z")


@dataclass(frozen=True, slots=True)
class EntityContext:
    """Which trackers bare references may be bound to. Everything empty: bind nothing.

    `repo` is `owner/repo` on GitHub or `host/group/project` elsewhere, lower-case (as
    `repo_of_property` returns it). `repo_start` is the character offset in the text at which the
    note's own frontmatter names it, None when the configuration does; with it the note itself
    counts as mentioning the repository. Hosts are lower-case names without scheme.
    """

    repo: str | None = None
    repo_start: int | None = None
    jira_projects: tuple[str, ...] = ()
    gerrit_hosts: tuple[str, ...] = ()
    gitlab_hosts: tuple[str, ...] = ()


def repo_of_property(value: str) -> str | None:
    """The repository that a `repo:` or `repository:` value names, None when it names none.

    Reads `owner/repo`, a web or ssh address of a repository, and `host/group/project` for other
    hosts. GitHub is implied when no host is given.
    """
    rest = value.strip().strip("\"'<>")
    had_scheme = _SCHEME.match(rest)
    if had_scheme:
        rest = rest[had_scheme.end() :]
    elif scp := _SCP_LIKE.match(rest):
        rest = f"{scp[1]}/{rest[scp.end() :]}"
    rest = rest.partition("#")[0].partition("?")[0].strip("/")
    segments = rest.split("/")
    if _HOST.match(segments[0]) and (had_scheme or len(segments) > 2):
        host, segments = segments[0].lower(), segments[1:]
    else:
        host = "github.com"
    if host in ("github.com", "www.github.com"):
        segments, prefix = segments[:2], ""
    else:
        segments, prefix = rest.split("/-/")[0].split("/")[1:], f"{host}/"
    if len(segments) < 2 or not is_owner(segments[0]):
        return None
    names = [*segments[:-1], strip_git_suffix(segments[-1])]
    if not all(is_repo(name) for name in names[1:]):
        return None
    return (prefix + "/".join(names)).lower()
