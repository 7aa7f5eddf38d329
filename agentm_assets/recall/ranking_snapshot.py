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

SNAPSHOT = "ranking-snapshot.json"
VERSION = 1

_ENVIRONMENT = "AGENTM_STORAGE_RULES"
_RULES_NAME = "storage-rules.md"
_FOLDER = "standards"
_MOST_BYTES = 1024 * 1024


def ranking_in_haste(
    location: VaultLocation, env: Mapping[str, str]
) -> tuple[RankingRules, str | None]:
    """As `load_ranking`, from the snapshot when that is of the rules in force."""
    file = location.state_dir / SNAPSHOT
    key = _key(location.root, env)
    kept = None if key is None else _read(file, key)
    if kept is not None:
        return kept, None
    rules, remark = load_ranking(location.root, env)
    if key is not None and remark is None:
        _write(file, key, rules)
    return rules, remark


def _key(root: Path, env: Mapping[str, str]) -> str | None:
    """A hash of the bytes that decide; None when they can't be told without the full reading."""
    named = env.get(_ENVIRONMENT)
    if named is not None:
        return _hashed([Path(named)]) if Path(named).is_absolute() else None
    try:
        folders = sorted(
            entry.name for entry in os.scandir(root) if entry.name.casefold() == _FOLDER
        )
    except OSError:
        return None
    return _hashed([root / name / _RULES_NAME for name in folders])


def _hashed(files: list[Path]) -> str | None:
    digest = sha256(str(VERSION).encode())
    for path in files:
        digest.update(b"\0" + os.fsencode(path) + b"\0")
        try:
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
        except FileNotFoundError:
            continue
        except OSError:
            return None
        if len(data) > _MOST_BYTES:
            return None
        digest.update(sha256(data).digest())
    return digest.hexdigest()


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
