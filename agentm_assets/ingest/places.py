"""Where an ingest is to look: files, folders and addresses."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentm_assets.ingest.discover import files_in, is_private


class IngestRefused(Exception):
    """Nothing was read; the text says why, and the cure."""


@dataclass(frozen=True, slots=True)
class Places:
    """`found`: those of the files that a folder brought in, and nobody named."""

    files: tuple[Path, ...]
    addresses: tuple[str, ...]
    found: frozenset[Path]


def places_of(root: Path, given: Sequence[str], *, pages_only: bool) -> Places:
    """What paths and addresses lead to. `root`: of the vault. `pages_only`: addresses are welcome,
    since a page is asked for or nothing in particular. Raises IngestRefused."""
    files: dict[Path, None] = {}
    addresses: dict[str, None] = {}
    named: set[Path] = set()
    for place in given:
        if place[:8].lower().startswith(("http://", "https://")):
            if not pages_only:
                raise IngestRefused("an address is a web page; leave out --kind, or give web")
            addresses[place] = None
            continue
        path = Path(os.path.realpath(Path(place).expanduser()))
        if is_private(root, str(path)):
            raise IngestRefused(
                "personal/ is the operator's own and is not mined; copy what should be known to "
                "another folder, and ingest that"
            )
        if path.is_dir():
            files |= {
                each: None for each in files_in(path, root) if not is_private(root, str(each))
            }
        elif path.exists():
            files[path] = None
            named.add(path)
        else:
            raise IngestRefused(f"{place} is not there; give a file, a folder or an address")
    return Places(tuple(files), tuple(addresses), frozenset(files) - named)
