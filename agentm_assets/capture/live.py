"""Whether a text that is captured is in the vault already, in a note that still holds."""

from dataclasses import dataclass

from agentm_assets.capture import journal
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract import properties
from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.spaces import is_generated, space_of
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.seam import StorageBackend, StorageError

MOST_LOOKED_AT = 16
"""Notes of one fingerprint that are opened: a vault that holds more copies has other troubles."""

_NO_LONGER_LIVE = frozenset({"superseded", "expired"})


@dataclass(frozen=True, slots=True)
class LiveNote:
    """A note that holds the text, as it is on the disk now."""

    path: str
    data: bytes
    frontmatter: Frontmatter
    indexed: bool


def find_live(
    location: VaultLocation, backend: StorageBackend, body: str, *, standards: bool
) -> LiveNote | None:
    """The first live note whose body has the fingerprint `body`; None when there is none.

    The index and the journal say where to look; each file itself says whether it holds. `standards`
    lets notes of the operator's rules count, too.
    """
    indexed = _indexed(location, body)
    places = dict.fromkeys([*indexed, *_captured(location, body)])
    for path in [path for path in places if _may_be_edited(path, standards)][:MOST_LOOKED_AT]:
        try:
            data = backend.read_bytes(Locator(path))
        except (LocatorInvalid, FileNotFoundError, StorageError):
            continue  # gone, moved or shut since: then it is no live copy
        frontmatter = read_frontmatter(data)
        if body_fingerprint(data, frontmatter) == body and is_live(frontmatter):
            return LiveNote(path, data, frontmatter, path in indexed)
    return None


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


def _indexed(location: VaultLocation, body: str) -> tuple[str, ...]:
    try:
        with FactsReader.open(location.facts_file) as facts:
            return facts.notes_with_fingerprint(body)
    except ServingUnreadable:
        return ()  # no index yet, or one that is being rebuilt: the journal is all there is


def _captured(location: VaultLocation, body: str) -> list[str]:
    try:
        return journal.paths_with_fingerprint(location, body)
    except OSError:
        return []  # the reply says that the journal can't be written, either
