"""The rules as a capture needs them: a snapshot, validated once while the file stays the same.

Validation takes pydantic, whose import alone costs more than half of a capture. So the outcome is
kept beside the index under the hash of the rules' bytes, and made anew when that differs.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentm_assets.capture.files import replace_whole
from agentm_assets.config.vault import VaultLocation
from agentm_assets.storage.rules_file import find_rules_file
from agentm_assets.storage.seam import StorageBackend, StorageError, content_hash

if TYPE_CHECKING:
    from agentm_assets.contract.rules import Source

SNAPSHOT = "rules-snapshot.json"
SNAPSHOT_VERSION = 1
"""Raise it when what is checked in a rules file changes, or the fields here do."""

_ENVIRONMENT = "AGENTM_STORAGE_RULES"
_RULES_NAME = "storage-rules.md"
_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FilingRules:
    """What of valid rules decides where a capture goes. `deprecations`: retired value → its
    successor."""

    default_type: str
    memory_types: tuple[str, ...]
    routing: Mapping[str, str]
    record_kinds: tuple[str, ...]
    deprecations: Mapping[str, str]
    rules_hash: str


class BrokenRules(NamedTuple):
    """The rules can't be used. `reason` names file, line and cure of the first violation."""

    reason: str


class _Found(NamedTuple):
    """The bytes of the rules in force, and where they stand."""

    data: bytes
    path: Path
    source: "Source"


def filing_rules(
    location: VaultLocation, backend: StorageBackend, env: Mapping[str, str]
) -> FilingRules | BrokenRules:
    """The rules in force now: `$AGENTM_STORAGE_RULES`, else the vault's own, else the shipped ones.

    A file that is there and can't be read or is invalid makes them broken; no older or shipped
    rules stand in for it.
    """
    try:
        found = _find(backend, env)
    except (OSError, StorageError) as error:
        return BrokenRules(f"the rules file can't be read: {error}")
    if isinstance(found, BrokenRules):
        return found
    key = content_hash(found.data)
    file = location.state_dir / SNAPSHOT
    kept = _read_snapshot(file, key)
    if kept is not None:
        return kept
    rules = _validated(found)
    if isinstance(rules, FilingRules):
        # A state folder that can't be written only costs the next capture this work again.
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            written = {"version": SNAPSHOT_VERSION, "sha256": key, "rules": asdict(rules)}
            replace_whole(file, json.dumps(written))
    return rules


def hash_in_force(
    location: VaultLocation, backend: StorageBackend, env: Mapping[str, str]
) -> str | None:
    """The hash of the rules in force; None while they are broken."""
    rules = filing_rules(location, backend, env)
    return rules.rules_hash if isinstance(rules, FilingRules) else None


def _validated(found: _Found) -> FilingRules | BrokenRules:
    from agentm_assets.contract.rules import RulesError, parse_rules

    try:
        loaded = parse_rules(found.data, found.path, found.source)
    except RulesError as error:
        first = error.violations[0]
        more = len(error.violations) - 1
        also = f" (and {more} more: agentm rules check)" if more else ""
        return BrokenRules(f"{error.path}:{first.line}: {first.message}; {first.cure}{also}")
    rules = loaded.rules
    return FilingRules(
        default_type=rules.default_type,
        memory_types=rules.memory_types,
        routing=dict(rules.routing),
        record_kinds=rules.record_kinds,
        deprecations=dict(rules.deprecations),
        rules_hash=loaded.rules_hash,
    )


def _read_snapshot(file: Path, key: str) -> FilingRules | None:
    try:
        written: Any = json.loads(file.read_bytes())
        if (written["version"], written["sha256"]) != (SNAPSHOT_VERSION, key):
            return None
        rules = written["rules"]
        return FilingRules(
            default_type=str(rules["default_type"]),
            memory_types=tuple(rules["memory_types"]),
            routing=dict(rules["routing"]),
            record_kinds=tuple(rules["record_kinds"]),
            deprecations=dict(rules["deprecations"]),
            rules_hash=str(rules["rules_hash"]),
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None  # absent, or damaged: the rules file itself is read instead


def _find(backend: StorageBackend, env: Mapping[str, str]) -> _Found | BrokenRules:
    named = env.get(_ENVIRONMENT)
    if named is not None:
        path = Path(named)
        if not path.is_absolute():
            return BrokenRules(
                f"{_ENVIRONMENT} is empty or relative; give it the absolute path of a rules file, "
                "or unset it"
            )
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            return BrokenRules(f"{path} is over 1 MiB; keep rules in it, move the rest out")
        return _Found(data, path, "environment")
    own = find_rules_file(backend, _RULES_NAME, limit=_MAX_BYTES)
    if own is None:
        path = _shipped()
        return _Found(path.read_bytes(), path, "default")
    if own.data is None:
        return BrokenRules(f"{own.place} can't be read: {own.problem}")
    return _Found(own.data, Path(own.place), "vault")


def _shipped() -> Path:
    package = Path(__file__).resolve().parents[1]
    installed = package / "_standards" / _RULES_NAME
    return installed if installed.exists() else package.parent / "standards" / _RULES_NAME
