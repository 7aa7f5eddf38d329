"""The question sets that a vault brings with it, and the bars for them.

`standards/recall-questions*.json` are gold sets of the operator, `standards/recall-bars.txt` what
recall must reach on them.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType

from agentm_assets.evaluation.bars import Bar, parse_bar, parse_bars
from agentm_assets.evaluation.gold_questions import (
    GoldQuestion,
    QuestionsUnusable,
    parse_questions,
)
from agentm_assets.evaluation.saved import Kind
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.vault import Scan

BARS = Locator("standards/recall-bars.txt")
DEFAULT_BARS: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {"gold": ("all.hit@5>=.8",), "known": ("all.hit@5>=.9",)}
)
"""Where the vault has no bars of its own. Known items are asked in the note's own words."""

_MOST_BYTES = 16 * 1024 * 1024
_SETS = re.compile(r"standards/recall-questions[^/]*\.json")


def set_paths(scan: Scan) -> list[str]:
    """The gold sets of the vault, sorted."""
    return sorted(path for path in scan.attachments if _SETS.fullmatch(path))


def set_name(path: str) -> str:
    """As `agentm eval gold` calls the set of a file: its name without the ending."""
    return PurePosixPath(path).stem


def known_name(n: int, seed: int) -> str:
    """Of a set of known items: another number or seed makes another set."""
    return f"known {n} seed {seed}"


def read_set(backend: StorageBackend, path: str) -> tuple[GoldQuestion, ...]:
    """Raises QuestionsUnusable, StorageError."""
    try:
        data = backend.read_bytes(Locator(path), limit=_MOST_BYTES)
    except LocatorInvalid as error:
        raise QuestionsUnusable(f"{path!r} is no path in the vault: {error}.") from error
    except FileNotFoundError as error:
        raise QuestionsUnusable(f"the vault has no question set {path}.") from error
    return parse_questions(data, path)


def read_vault_bars(backend: StorageBackend) -> tuple[Bar, ...] | None:
    """The operator's bars, None without any. Raises BarUnusable, StorageError."""
    try:
        data = backend.read_bytes(BARS, limit=_MOST_BYTES)
    except FileNotFoundError:
        return None
    return parse_bars(data.decode("utf-8", "replace"))


def default_bars(kind: Kind) -> tuple[Bar, ...]:
    return tuple(parse_bar(text) for text in DEFAULT_BARS[kind])


def bars_for(bars: Sequence[Bar], measures: frozenset[str]) -> tuple[Bar, ...]:
    """Those that a set can be held to: a bar may be meant for another set of the vault."""
    return tuple(bar for bar in bars if bar.measure in measures)
