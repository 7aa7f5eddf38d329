"""The positive control: what surely stands in the index must come back, else a run says nothing."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentm_assets.contract.spaces import is_in_space

ITEMS = 5
"""Known items asked for before a run, fewer where there are no more."""

_CLOSED = frozenset({"personal"})


class RunVoid(Exception):
    """The machinery did not work, so the run has no result. The text says what to look at."""


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A text that one item alone has, and the name of that item."""

    text: str
    name: str


def draw(items: Sequence[KnownItem], seed: int) -> list[KnownItem]:
    """The items of one run: the same for the same items and seed."""
    return random.Random(seed).sample(list(items), min(ITEMS, len(items)))


def check_control(
    items: Sequence[KnownItem], ask: Callable[[str], Sequence[str | None]], what: str
) -> None:
    """Ask for each item by its own text.

    One item may fail to come back for a good reason (the rules hide it, near-duplicates stand
    above it), more than half of them can't. Raises RunVoid, also when there is nothing to ask for.
    """
    missing = [item.name for item in items if item.name not in ask(item.text)]
    if not items:
        raise RunVoid(f"{what} holds no known item to ask for, so there is nothing to measure.")
    if 2 * len(missing) > len(items):
        some = ", ".join(_shown(name) for name in missing[:3])
        raise RunVoid(
            f"{what}: {len(missing)} of {len(items)} known items don't come back when asked for by "
            f"their own words ({some}), so this run would measure a fault and is "
            "void. Look at `agentm doctor` and at `excludes` in the storage rules."
        )


def _shown(name: str) -> str:
    """Why a run is void is stored outside the vault, where no path under personal/ belongs."""
    return "a note of personal/" if is_in_space(name, _CLOSED) else name
