"""How well references find their pages: 100 rows with the right answer, and the score over them.

`benchmark.jsonl` holds a reference, the pages there are, and the page that it belongs to (null:
a new one). Some rows are beyond exact matching on purpose (initials, nicknames, slips): a miss
leaves two pages that the operator can join, a wrong merge spoils one, so they are counted apart.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from agentm_assets.dreaming.entities.resolve import Known, Reference, Registry

ROWS: Final = "benchmark.jsonl"
LEAST_SHARE: Final = 0.9
"""Share of right rows under which the check fails; no wrong merge is allowed at all."""


@dataclass(frozen=True, slots=True)
class Row:
    """One case. `why`: what it is about. `answer` None: nobody known."""

    why: str
    reference: Reference
    known: tuple[Known, ...]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Score:
    """`missed`: rows that were given no page though one is right; `merged`: rows that were given a
    wrong one. Both by what they are about."""

    rows: int
    right: int
    missed: tuple[str, ...]
    merged: tuple[str, ...]

    @property
    def share(self) -> float:
        return self.right / self.rows if self.rows else 0.0

    @property
    def passes(self) -> bool:
        return not self.merged and self.share >= LEAST_SHARE


def benchmark_rows() -> tuple[Row, ...]:
    """The rows that ship with agentm."""
    text = resources.files(__package__).joinpath(ROWS).read_text(encoding="utf-8")
    return tuple(_row(json.loads(line)) for line in text.split("\n") if line)


def score(rows: Sequence[Row]) -> Score:
    """Resolve each row's reference among its pages."""
    missed: list[str] = []
    merged: list[str] = []
    for row in rows:
        found = Registry(row.known).page_of(row.reference)
        if found != row.answer:
            (missed if found is None else merged).append(row.why)
    right = len(rows) - len(missed) - len(merged)
    return Score(len(rows), right, tuple(missed), tuple(merged))


def _row(written: Any) -> Row:
    return Row(
        why=written["why"],
        reference=Reference(written["key"], tuple(written["names"])),
        known=tuple(
            Known(each["page"], each["kind"], tuple(each["keys"]), tuple(each["names"]))
            for each in written["known"]
        ),
        answer=written["answer"],
    )
