"""Writing a derived page: properties that the stage owns, and one generated part.

What the operator adds around the generated part, and properties that the stage does not own, stay.
A page whose marks the operator took away is the operator's own.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from agentm_assets.contract import properties
from agentm_assets.contract.edit import remove_key, set_key
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.projects.document import Property, document
from agentm_assets.projects.region import BEGIN, END, with_region

GIVEN_ONCE: Final = frozenset({"slug", "title", "status", "captured", "type", "kind"})
"""Properties that are written when the page is made: afterwards they may be the operator's."""

JOINED: Final = frozenset({"aliases"})
"""Lists to which the operator may add."""


class OperatorsPage(Exception):
    """The page has no generated part: somebody wrote it, or took it over. It is left alone."""


def written_page(
    old: bytes | None, owned: Mapping[str, Property | None], lines: Sequence[str]
) -> bytes:
    """The page's bytes: new ones, or `old` with the owned properties and its generated part anew.

    A property that is None is taken away. Equal inputs give equal bytes. Raises OperatorsPage,
    RegionDamaged and EditRefused; then the page must stay as it is.
    """
    if old is None:
        given = {key: value for key, value in owned.items() if value}
        return with_region(document(given, ""), list(lines))
    if BEGIN not in old and END not in old:
        raise OperatorsPage
    page = old
    held = read_frontmatter(old)
    for key, value in owned.items():
        if key in GIVEN_ONCE:
            continue
        if not value:
            gone = key in held.fields and key not in JOINED
            page = remove_key(page, key) if gone else page
        elif key in JOINED and not isinstance(value, str):
            own = properties.aliases(held)
            known = {name.casefold() for name in own}
            page = set_key(page, key, [*own, *(n for n in value if n.casefold() not in known)])
        else:
            page = set_key(page, key, value if isinstance(value, str) else list(value))
    return with_region(page, list(lines))
