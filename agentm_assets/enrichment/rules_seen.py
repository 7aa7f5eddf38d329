"""Which rules notes were judged under, kept on this machine, so that an edit can be named.

A note carries no more than the hash of its rules. What these said is kept beside the index, one
small file a hash: the judgment half of the block, and a digest of each section of the prose.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from agentm_assets.capture.files import replace_whole
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.lines import split_lines
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.contract.rules_model import RANKING_KEYS, RANKING_THRESHOLDS

_FOLDER = "rules"
_HASH = re.compile(r"[0-9a-f]{8,64}")
_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")

MOST_NAMED: Final = 12
"""Changes that are named one by one; a rewrite of the whole file needs no longer list."""


def remember_rules(location: VaultLocation, rules: LoadedRules) -> None:
    """Keep what these rules say. Raises OSError."""
    file = location.state_dir / _FOLDER / f"{rules.rules_hash}.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_whole(file, json.dumps(_said(rules), ensure_ascii=False))


def what_changed(location: VaultLocation, was: str, rules: LoadedRules) -> tuple[str, ...]:
    """What differs in `rules` from those with the hash `was`: keys of the block by their dotted
    names, then sections of the prose by their headings.

    Empty when this machine never judged by the old ones.
    """
    if not _HASH.fullmatch(was):  # it comes out of a note, so it may be any text
        return ()
    file: Path = location.state_dir / _FOLDER / f"{was}.json"
    try:
        before = json.loads(file.read_bytes())
        keys = sorted(_differences(before["block"], _said(rules)["block"]))
        sections = sorted(_differences(before["prose"], _said(rules)["prose"]))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ()
    found = [*keys, *(f"prose under “{name}”" if name else "prose" for name in sections)]
    more = len(found) - MOST_NAMED
    return (*found[:MOST_NAMED], *([f"{more} more"] if more > 0 else []))


def _said(rules: LoadedRules) -> dict[str, dict[str, Any]]:
    """What judgment depends on, as `LoadedRules.rules_hash` covers it."""
    block = rules.rules.model_dump(mode="json", exclude=set(RANKING_KEYS))
    for name in RANKING_THRESHOLDS:
        del block["thresholds"][name]
    sections: dict[str, list[str]] = {"": []}
    heading = ""
    for line in split_lines(rules.prose):
        found = _HEADING.match(line)
        heading = " ".join(found[1].split()) if found else heading
        sections.setdefault(heading, []).extend(line.split())
    digests = {name: hashlib.sha256(" ".join(text).encode()) for name, text in sections.items()}
    return {"block": block, "prose": {name: d.hexdigest()[:16] for name, d in digests.items()}}


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key in {*before, *now}:
        old, new = before.get(key), now.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from (f"{key}.{name}" for name in _differences(old, new))
        elif _unordered(old) != _unordered(new):
            yield key


def _unordered(value: object) -> object:
    """The order of a register's values says nothing."""
    return sorted(value) if isinstance(value, list) else value
