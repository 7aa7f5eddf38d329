"""Whether a text that is captured is in the vault already, in a note that still holds."""

from collections.abc import Iterator
from dataclasses import dataclass

from agentm_assets.capture.known import KnownPaths
from agentm_assets.contract import properties
from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.spaces import is_generated, space_of
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.seam import StorageBackend, StorageError

MOST_LOOKED_AT = 100
"""Notes of one fingerprint that are opened: a vault that holds more copies has other troubles."""

_NO_LONGER_LIVE = frozenset({"superseded", "expired"})


@dataclass(frozen=True, slots=True)
class LiveNote:
    """A note that holds the text, as it is on the disk now."""

    path: str
    data: bytes
    frontmatter: Frontmatter
    indexed: bool


def live_notes(
    backend: StorageBackend, body: str, known: KnownPaths, *, standards: bool
) -> Iterator[LiveNote]:
    """The live notes whose body has the fingerprint `body`, each read when it is asked for.

    `known` says where to look; each file itself says whether it holds. `standards` lets notes of
    the operator's rules count, too.
    """
    places = dict.fromkeys([*known.indexed, *known.captured])
    for path in [path for path in places if _may_be_edited(path, standards)][:MOST_LOOKED_AT]:
        try:
            data = backend.read_bytes(Locator(path))
        except (LocatorInvalid, FileNotFoundError, StorageError):
            continue  # gone, moved or shut since: then it is no live copy
        frontmatter = read_frontmatter(data)
        if body_fingerprint(data, frontmatter) == body and is_live(frontmatter):
            yield LiveNote(path, data, frontmatter, path in known.indexed)


def body_fingerprint(data: bytes, frontmatter: Frontmatter) -> str:
    """The fingerprint of a note's body as it is in `data`."""
    return fingerprint(data[frontmatter.body_start :])


def is_live(frontmatter: Frontmatter) -> bool:
    """Neither superseded nor expired: a tombstone is not reinforced."""
    return properties.text_of(frontmatter, "status") not in _NO_LONGER_LIVE


def _may_be_edited(path: str, standards: bool) -> bool:
    """Notes that a capture could have made. The operator's own space and pages that a pass writes
    are never touched."""
    if is_generated(path):
        return False
    space = space_of(path).space
    if space == "projects":
        return path.count("/") > 2  # below the root of a project
    return space == "memory" or (space == "standards" and standards)
