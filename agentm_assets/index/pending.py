"""What the file sensor decides by: which files differ from the last finished pass, have they
settled, and which version each space has now. No Dagster, no waiting; the clock is passed in."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from agentm_assets.contract.spaces import SPACES, is_generated, space_of
from agentm_assets.storage.vault import Scan

SETTLE_SECONDS = 1.0
"""The newest change must be this old: editors and sync clients write in several steps."""

PATIENCE_SECONDS = 5.0
"""Whatever has waited this long is taken along even while other files still change."""

Manifest = Mapping[str, tuple[int, int, str]]
"""Path → size, mtime_ns, content hash ("" for a file that could not be read)."""


@dataclass(frozen=True, slots=True)
class Pending:
    """Paths that differ from the manifest, in code point order. Attachments count: links lead to
    them."""

    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    attachments: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.changed) + len(self.deleted) + len(self.attachments)

    def digest(self, scan: Scan) -> str:
        """Stable for one state of the pending files: part of the run key."""
        state = hashlib.sha256()
        for path in self.changed:
            entry = scan.notes[path]
            state.update(f"{path}\0{entry.size}\0{entry.mtime_ns}\n".encode())
        for path in (*self.deleted, *self.attachments):
            state.update(f"{path}\0gone\n".encode())
        return state.hexdigest()[:16]


def pending_changes(scan: Scan, manifest: Manifest, attachments: Set[str]) -> Pending:
    """Compare a scan with the manifest of the last finished pass.

    Size and stamp narrow down, so a file that was replaced by an older one is seen, too: any
    difference counts, not only a newer stamp.
    """
    changed = [
        path
        for path, entry in scan.notes.items()
        if manifest.get(path, (-1, -1, ""))[:2] != (entry.size, entry.mtime_ns)
    ]
    unseen = tuple(scan.unknown)
    deleted = [
        path
        for path in manifest
        if path not in scan.notes and not any(path == u or path.startswith(u + "/") for u in unseen)
    ]
    return Pending(
        tuple(sorted(changed)),
        tuple(sorted(deleted)),
        tuple(sorted(set(scan.attachments) ^ set(attachments))),
    )


def settled(first_seen: float, last_change: float, now: float) -> bool:
    """May the batch go? All times in seconds of one monotonic clock."""
    return now - last_change >= SETTLE_SECONDS or now - first_seen >= PATIENCE_SECONDS


def space_versions(
    scan: Scan, manifest: Manifest, hash_of: Callable[[str], str | None]
) -> dict[str, str]:
    """The version of every space: a digest over paths and content hashes of its notes.

    Generated pages are left out, else a pass that writes them would set itself off. `hash_of` is
    asked only for files whose stamp differs from the manifest's; None for one that can't be read.
    """
    lines: dict[str, list[str]] = defaultdict(list)
    for path in sorted(scan.notes):
        if is_generated(path):
            continue
        entry = scan.notes[path]
        size, mtime_ns, digest = manifest.get(path, (-1, -1, ""))
        if (size, mtime_ns) != (entry.size, entry.mtime_ns) or not digest:
            digest = hash_of(path) or "unreadable"
        lines[space_of(path).space].append(f"{path}\0{digest}\n")
    return {space: _digest(lines[space]) for space in SPACES}


def _digest(lines: Sequence[str]) -> str:
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]
