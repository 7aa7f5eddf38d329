"""Where to look for a text that is captured: what the index and the journal say of its body."""

from dataclasses import dataclass

from agentm_assets.capture import journal
from agentm_assets.config.vault import VaultLocation
from agentm_assets.index.facts_connection import paths_with_fingerprint


@dataclass(frozen=True, slots=True)
class KnownPaths:
    """Notes said to hold a body: by the index, and by captures it may not know of yet."""

    indexed: tuple[str, ...]
    captured: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.indexed or self.captured)


def known_paths(location: VaultLocation, fingerprint: str) -> KnownPaths:
    """Both may be stale, and the index absent."""
    try:
        captured = tuple(journal.paths_with_fingerprint(location, fingerprint))
    except OSError:
        captured = ()  # the reply says that the journal can't be written, either
    return KnownPaths(paths_with_fingerprint(location.facts_file, fingerprint), captured)
