"""What a dated scorecard says for a machine: the figures of one day.

It stands in the page as a comment, out of sight and out of recall, so that the history of the
figures lives in the vault and outlasts the machine that measured them.
"""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

VERSION: Final = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ComponentDay(_Part):
    """`ok` None: there was nothing to look at. `ms`: how long the look took."""

    ok: bool | None = None
    ms: float | None = None
    said: str = ""


class CoverageDay(_Part):
    """A stage of the ledger. `others`: what is not current, by reason."""

    share: float = 1.0
    done: int = 0
    others: Mapping[str, int] = Field(default_factory=dict)


class QueueDay(_Part):
    pending: int = 0
    dead: int = 0
    oldest_age_seconds: float = 0.0


class StageDay(_Part):
    """A stage of dreaming in the latest night that ran it."""

    night: str
    at: str
    planned: int = 0
    applied: int = 0
    held: int = 0
    anomaly: bool = False
    waiting_for_model: int = 0
    seconds: float = 0.0


class ProbeDay(_Part):
    passed: bool
    at: str
    seconds: float | None = None
    capture_ms: float | None = None


class Day(_Part):
    """The figures of one day.

    `counts`: memories by class, then by status ("none" where a note has none). `figures`: single
    numbers by name; see `trend.SERIES`. `scores_of`: the question set that recall was measured
    with, and when. `meters`: numbers that the stages of dreaming measured, "stage: name".
    `corrections`: corrected classes by month of the correction.
    """

    v: int = VERSION
    date: str
    at: str = ""
    rules_hash: str | None = None
    counts: Mapping[str, Mapping[str, int]] = Field(default_factory=dict)
    figures: Mapping[str, float] = Field(default_factory=dict)
    scores_of: str = ""
    components: Mapping[str, ComponentDay] = Field(default_factory=dict)
    meters: Mapping[str, float | str] = Field(default_factory=dict)
    coverage: Mapping[str, CoverageDay] = Field(default_factory=dict)
    queues: Mapping[str, QueueDay] = Field(default_factory=dict)
    stages: Mapping[str, StageDay] = Field(default_factory=dict)
    corrections: Mapping[str, int] = Field(default_factory=dict)
    probe: ProbeDay | None = None

    def comparable(self) -> dict[str, object]:
        """Without what differs from one look to the next: the clock, and how long a look took."""
        shown = self.model_dump(mode="json", exclude={"at"})
        shown["figures"] = {
            name: value for name, value in self.figures.items() if name not in TIMINGS
        }
        shown["components"] = {name: each.ok for name, each in self.components.items()}
        for queue in shown["queues"].values():
            del queue["oldest_age_seconds"]
        return shown


TIMINGS: Final = frozenset({"capture_ms", "ingest_ms", "mcp_ms"})
"""Figures that are measured while the report is made."""
