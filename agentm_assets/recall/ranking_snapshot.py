"""What recall uses of the rules, kept beside the index for a process that can't wait for pydantic.

The snapshot holds only for the very bytes it was made from. It is a cache: without it, or when any
of it differs, the rules are read and validated anew.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from agentm_assets.config.vault import VaultLocation
from agentm_assets.recall.ranking import DecayBands, RankingRules, load_ranking
from agentm_assets.storage.selection import open_vault
from agentm_assets.storage.vault import Vault

SNAPSHOT = "ranking-snapshot.json"
VERSION = 1

_ENVIRONMENT = "AGENTM_STORAGE_RULES"
_RULES_NAME = "storage-rules.md"
_MOST_BYTES = 1024 * 1024


def ranking_in_haste(
    location: VaultLocation, env: Mapping[str, str]
) -> tuple[RankingRules, str | None]:
    """As `load_ranking`, from the snapshot when that is of the rules in force."""
    file = location.state_dir / SNAPSHOT
    vault = open_vault(location)
    key = _key(vault, env)
    kept = None if key is None else _read(file, key)
    if kept is not None:
        return kept, None
    rules, remark = load_ranking(vault, env)
    if key is not None and remark is None:
        _write(file, key, rules)
    return rules, remark


def _key(vault: Vault, env: Mapping[str, str]) -> str | None:
    """A hash of the bytes that decide; None when they can't be told without the full reading."""
    named = env.get(_ENVIRONMENT)
    if named is not None:
        return _named_key(Path(named)) if Path(named).is_absolute() else None
    found = vault.rules_file(_RULES_NAME, limit=_MOST_BYTES)
    if found is None:
        return _digest("", b"")
    return None if found.data is None else _digest(found.place, found.data)


def _named_key(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError:
        return None
    return None if len(data) > _MOST_BYTES else _digest(str(path), data)


def _digest(place: str, data: bytes) -> str:
    head = f"{VERSION}\0{place}\0".encode("utf-8", "surrogateescape")
    return sha256(head + data).hexdigest()


def _read(file: Path, key: str) -> RankingRules | None:
    try:
        written: Any = json.loads(file.read_bytes())
        if written["key"] != key:
            return None
        rules = written["rules"]
        return RankingRules(
            dampened_spaces=frozenset(rules["dampened_spaces"]),
            contract_exempt_spaces=frozenset(rules["contract_exempt_spaces"]),
            excludes=tuple(rules["excludes"]),
            decay=DecayBands(**rules["decay"]),
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None  # absent or damaged: the rules file itself is read instead


def _write(file: Path, key: str, rules: RankingRules) -> None:
    payload = {
        "key": key,
        "rules": {
            "dampened_spaces": sorted(rules.dampened_spaces),
            "contract_exempt_spaces": sorted(rules.contract_exempt_spaces),
            "excludes": rules.excludes,
            "decay": asdict(rules.decay),
        },
    }
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    # A state folder that can't be written only costs the next process this work again.
    with suppress(OSError):
        temporary.write_text(json.dumps(payload))
        temporary.replace(file)
