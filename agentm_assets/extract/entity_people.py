"""`@login` and `@org/team`. Handles of other networks look alike, so both stay low confidence."""

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
