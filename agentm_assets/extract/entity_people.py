"""People: `@login` and `@org/team`, and whoever the headers of a mail, the trailers of a commit or
the properties of a note name with an address.

Handles of other networks look like logins, so those stay low confidence. An address is one person's
(`person:anna@example.org`); GitHub's own addresses for commits name a login and give its key.
"""

import re

from agentm_assets.extract.entity_cues import before
from agentm_assets.extract.entity_found import Found
from agentm_assets.extract.entity_grammar import BOUNDARY, is_owner
from agentm_assets.extract.word_lists import NOT_LOGINS, PACKAGE_SCOPES

_MENTION = re.compile(
    rf"@(?<![^{BOUNDARY}]@)([A-Za-z0-9][A-Za-z0-9-]{{0,38}})(?:/([a-z0-9][a-z0-9-]{{0,99}}))?"
    rf"(?![/@#({{-])(?!\w)(?!\.\w)"
)
_INSTALLS = frozenset(
    {"add", "bun", "i", "import", "install", "module", "npm", "npx", "package", "packages", "pnpm"}
    | {"from", "require", "yarn"}
)

_ADDRESS = r"[A-Za-z0-9][A-Za-z0-9._%+'-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}"
_LINE = re.compile(
    r"^[ \t>*-]{0,8}(?:From|To|Cc|Sender|Reply-To|Author|Session-Author|Committer"
    r"|[A-Z][a-z]{1,15}(?:-[a-z]{1,15}){0,2}-by)[ \t]?(?:\*\*)?:(?:\*\*)?[ \t]*"
    r"(\S[^\r\n]{0,2000})",
    re.MULTILINE | re.IGNORECASE,
)
"""A header of a mail (RFC 5322, 3.6), a trailer of a commit (git-interpret-trailers) or a property
of a note, up to 2,000 characters of it."""
_NAMED = re.compile(
    r"(?:(?:\"([^\"\r\n]{1,80})\"|((?:[^\W_]|['\u2019-])(?:[^\W_]|[ .'\u2019-]){0,78}))[ \t]*)?"
    rf"[<(\[](?:mailto:)?({_ADDRESS})[>)\]]"
)
_BARE_ADDRESS = re.compile(rf"(?<![\w.%+'@<-]){_ADDRESS}(?![\w@-])")
_COMMIT_ADDRESS = re.compile(r"(?:\d+\+)?([a-z0-9][a-z0-9-]{0,38})@users\.noreply\.github\.com")
_NOBODY = re.compile(
    r"(?:no-?reply|do-?not-?reply|notifications?|mailer-daemon|postmaster|bounces?)(?:[+._-][^@]*)?@"
)
_AUTHOR = re.compile(
    r"^(?:session_|session-)?author[ \t]*:[ \t]*[\"']?([^\W\d_][\w .'\u2019-]{1,60})[\"']?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)

# What stands after an @ without being a person: image densities are matched apart.
_DENSITY = re.compile(r"\d+x?", re.IGNORECASE)


def find_people(bare: str, guess_from: int) -> list[Found]:
    """Mentions from `guess_from` on; links, URLs and code are already blanked out of `bare`.

    `@name/part` is a team except where it is a package: after a word such as `install`, or under
    a scope of the npm registry.
    """
    if "@" not in bare:
        return []
    found: list[Found] = []
    for match in _MENTION.finditer(bare, guess_from):
        login, team = match[1], match[2]
        folded = login.lower()
        if not is_owner(login) or login.endswith("-") or _DENSITY.fullmatch(login):
            continue
        if team is None:
            if folded not in NOT_LOGINS:
                found.append(Found(f"person:{folded}", "person", *match.span(), "low"))
        elif folded not in PACKAGE_SCOPES and before(bare, match.start()).last not in _INSTALLS:
            found.append(Found(f"team:{folded}/{team}", "team", *match.span(), "low"))
    return found


def find_addressed(masked: str) -> list[Found]:
    """People with an address, on lines that say whose it is. `detail` is the name that stands with
    the address; the whole of it is the surface. Code is blanked out of `masked`."""
    if "@" not in masked:
        return []
    found: list[Found] = []
    for line in _LINE.finditer(masked):
        if "@" not in line[1]:
            continue
        start, end = line.span(1)
        named = [
            (each.span(), each[3], each[1] or each[2])
            for each in _NAMED.finditer(masked, start, end)
        ]
        taken = [span for span, _, _ in named]
        for each in _BARE_ADDRESS.finditer(masked, start, end):
            if not any(first <= each.start() < last for first, last in taken):
                named.append((each.span(), each[0], None))
        for span, address, name in named:
            key = person_of_address(address)
            if key is not None:
                found.append(Found(key, "person", *span, "high", _plain_name(name, address)))
    return found


def find_author(masked: str, body_start: int) -> list[Found]:
    """Who the properties of a note say its session or text is by, where no address says it."""
    return [
        Found(
            f"person:{'-'.join(each[1].lower().split())}", "person", *each.span(1), "low", each[1]
        )
        for each in _AUTHOR.finditer(masked, 0, body_start)
    ]


def find_asked_addresses(question: str) -> list[Found]:
    """The addresses in a question."""
    if "@" not in question:
        return []
    return [
        Found(key, "person", *each.span(), "high")
        for each in _BARE_ADDRESS.finditer(question)
        if (key := person_of_address(each[0])) is not None
    ]


def person_of_address(address: str) -> str | None:
    """The key of who has a mail address, None for an address of nobody in particular."""
    folded = address.lower()
    if commit := _COMMIT_ADDRESS.fullmatch(folded):
        return None if commit[1] in NOT_LOGINS else f"person:{commit[1]}"
    return None if _NOBODY.match(folded) else f"person:{folded}"


def _plain_name(name: str | None, address: str) -> str | None:
    shown = " ".join((name or "").strip(" '\u2019.-").split())
    return shown if shown and shown.lower() != address.lower() else None
