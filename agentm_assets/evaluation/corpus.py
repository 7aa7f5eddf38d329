"""The notes of a vault as they are now: what an evaluation is about, and its hash."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from agentm_assets.storage.seam import NoteUnreadable
from agentm_assets.storage.vault import Scan, Vault


@dataclass(frozen=True, slots=True)
class Corpus:
    """`texts`: path → text of each note that can be read. `sha256`: of their paths and bytes."""

    scan: Scan
    texts: Mapping[str, str]
    sha256: str


def read_corpus(vault: Vault) -> Corpus:
    """Read every note. What can't be read is in no index either, and is left out. Raises
    StorageError when the vault can't be listed."""
    scan = vault.scan()
    texts: dict[str, str] = {}
    digest = hashlib.sha256()
    for path in sorted(scan.notes):
        try:
            data = vault.read_bytes(path)
        except (NoteUnreadable, FileNotFoundError):
            continue
        texts[path] = data.decode("utf-8", "replace")
        digest.update(path.encode("utf-8", "surrogateescape") + b"\0")
        digest.update(hashlib.sha256(data).digest())
    return Corpus(scan, texts, digest.hexdigest())
