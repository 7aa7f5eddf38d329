"""Numbers of other trackers: CVE, Jira, Gerrit, GitLab.

Only `CVE-…` and Gerrit's `Change-Id` say by their shape what they are. The rest look like
`UTF-8` or `CL 3` in prose and are read for the projects and hosts that the operator listed.
"""

import re

from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.extract.entity_cues import before
from agentm_assets.extract.entity_found import Confidence, Found
from agentm_assets.extract.entity_grammar import BOUNDARY, NUMBER, RIGHT, is_repo
from agentm_assets.extract.entity_urls import CHROMIUM, gerrit_change, is_gerrit

_CVE = re.compile(r"[Cc][Vv][Ee]-(?<![\w-]....)\d{4}-\d{4,19}(?!\w)(?!-\w)")
_JIRA = re.compile(r"[A-Z](?<![A-Za-z0-9_-].)[A-Z0-9_]{1,49}-[1-9]\d{0,9}(?![\w-])")
_CHANGE_ID = re.compile(r"[Cc]hange-[Ii]d:(?<![\w-].{10})[ \t]{0,3}(I[0-9a-f]{40})(?!\w)")
_CL = re.compile(
    rf"(?:CL(?<![^{BOUNDARY}]..)[ \t]{{1,2}}#?|cl/(?<![^{BOUNDARY}]...))({NUMBER}){RIGHT}"
    r"(?![-/]\w)"
)
_SHORT = re.compile(rf"cr(?<![^{BOUNDARY}]..)(rev\.com/c|bug\.com)/({NUMBER}){RIGHT}")
_PROJECT = r"[A-Za-z0-9._-]{1,100}"
_GITLAB = re.compile(
    rf"(?<![^{BOUNDARY}])(?P<project>{_PROJECT}(?:/{_PROJECT}){{1,20}})(?P<mark>[#!])"
    rf"(?P<number>{NUMBER}){RIGHT}"
)
_MR = re.compile(rf"!(?<![^{BOUNDARY}]!)({NUMBER}){RIGHT}")


def find_tracked(bare: str, context: EntityContext) -> list[Found]:
    """References to other trackers in `bare`, where targets and URLs are already blanked out."""
    found = [
        Found(f"cve:{match[0].upper()}", "cve", *match.span(), "high")
        for match in _CVE.finditer(bare)
    ]
    found.extend(
        Found(f"gerrit:I{match[1][1:]}", "gerrit", *match.span(), "high")
        for match in _CHANGE_ID.finditer(bare)
    )
    if context.jira_projects:
        projects = frozenset(project.upper() for project in context.jira_projects)
        found.extend(
            Found(f"jira:{match[0]}", "jira", *match.span(), "high")
            for match in _JIRA.finditer(bare)
            if match[0].rpartition("-")[0] in projects
        )
    if context.gerrit_hosts:
        found.extend(_changes(bare, context))
    if context.gitlab_hosts:
        found.extend(_gitlab(bare, context))
    return found


def _changes(bare: str, context: EntityContext) -> list[Found]:
    """`CL 12345` and `cl/12345`, of the one configured host, unscoped when there are several."""
    hosts = {
        CHROMIUM if host in ("crrev.com", "crbug.com") else host for host in context.gerrit_hosts
    }
    only = next(iter(hosts)) if len(hosts) == 1 else None
    found: list[Found] = []
    for match in _CL.finditer(bare):
        key = f"gerrit:{only}/{match[1]}" if only else f"gerrit:{match[1]}"
        confidence: Confidence = "high" if only else "low"
        found.append(
            Found(key, "gerrit", *match.span(), confidence, None, None, match[1], guessed=True)
        )
    for match in _SHORT.finditer(bare):
        host, number = "cr" + match[1].partition("/")[0], match[2]
        if not is_gerrit(host, context):
            continue
        if host == "crbug.com":
            found.append(
                Found(
                    f"issue:crbug.com#{number}", "issue", *match.span(), "high", None, None, number
                )
            )
        else:
            change = gerrit_change(host, number)
            found.append(Found(change.key, change.kind, *match.span(), "high", None, None, number))
    return found


def _gitlab(bare: str, context: EntityContext) -> list[Found]:
    """`group/sub/project#4`, `group/project!4` of the one configured host, and `MR !4`.

    `group/project#4` with one slash is read as GitHub's.
    """
    host = context.gitlab_hosts[0] if len(context.gitlab_hosts) == 1 else None
    found: list[Found] = []
    for match in _GITLAB.finditer(bare) if host is not None else ():
        project, mark, number = match["project"], match["mark"], match["number"]
        parts = project.split("/")
        if (mark == "#" and len(parts) < 3) or not all(is_repo(part) for part in parts):
            continue
        kind = "issue" if mark == "#" else "mr"
        spelled = f"{host}/{project}"
        key = f"{kind}:{spelled.lower()}{mark}{number}"
        found.append(Found(key, kind, *match.span(), "high", None, spelled, number))
    on_other_host = context.repo is not None and context.repo.count("/") > 1
    repo = context.repo if on_other_host else None
    confidence: Confidence = "high" if repo else "low"
    for match in _MR.finditer(bare):
        words = before(bare, match.start()).words
        if words[-1:] in (("mr",), ("mrs",)) or words[-2:] == ("merge", "request"):
            key = f"mr:{repo or ''}!{match[1]}"
            span = match.span()
            found.append(Found(key, "mr", *span, confidence, None, repo, match[1], guessed=True))
    return found
