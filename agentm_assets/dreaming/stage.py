"""What a stage of the night is: it looks, and says what it would change. `run` applies it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.records import Measured
from agentm_assets.storage.locator import Locator

Kind = Literal["new", "rewrite"]


class Leave(Exception):
    """Raised by a change's `build` when the file must stay as it is; the text is the reason, a few
    words joined by hyphens that are counted in the report ("edited-meanwhile")."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file that a stage would write.

    `build` gives its bytes: from None for a file that is not there, from the bytes that are there
    otherwise; the same bytes mean that nothing is to do. It may be called more than once (while
    planning, when applying, and again when another writer was quicker), so it must depend on its
    argument and on what the plan read alone. It may raise Leave, EditRefused and RegionDamaged.
    `kind` "new": the file must not be there. `needs`: keys of changes of the same plan that must
    have been made, or have nothing to do, before this one. `is_record`: a machine record
    (`Agent/_meta`), neither counted nor capped.
    """

    locator: Locator
    kind: Kind
    build: Callable[[bytes | None], bytes]
    needs: tuple[str, ...] = ()
    is_record: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of the plan's changes, by the key of their file. `written` are committed,
    `unchanged` had nothing to do, `held` wait for the next night, `failed` have a reason."""

    written: frozenset[str] = frozenset()
    unchanged: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    failed: Mapping[str, str] = field(default_factory=dict)
    run_id: str | None = None

    def stands(self, key: str) -> bool:
        """Does the file say now what the plan wanted?"""
        return key in self.written or key in self.unchanged


def nothing_to_settle(applied: Applied) -> None:
    """For a plan that notes nothing down."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a stage would do. The order of `changes` is that in which they are made, so that what
    the cap holds back is the end of it.

    `waiting_for_model`: targets that wait for a model. `skipped`: targets left alone, by reason.
    `notes`: what the operator should read. `measured`: numbers for the report. `spent`: what models
    took (calls, tokens, cost). `settle` is called once after the changes are committed: the place
    for the ledger and the queue. It is not called when the breaker tripped or in a dry run.
    """

    changes: tuple[Change, ...] = ()
    waiting_for_model: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    measured: Mapping[str, Measured] = field(default_factory=dict)
    spent: Mapping[str, Measured] = field(default_factory=dict)
    settle: Callable[[Applied], None] = nothing_to_settle


class Stage(Protocol):
    """A stage. `version` is raised when it would write something else for the same input.
    `needs_model`: a part of it asks a model; without one the rest is done all the same."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def needs_model(self) -> bool: ...
    @property
    def description(self) -> str:
        """What it does, for the operator."""

    def plan(self, night: Night) -> Plan:
        """Look, and write nothing to the vault."""


@runtime_checkable
class Preparing(Protocol):
    """A stage that lets another pass do its work first, which writes by itself."""

    def prepare(self, night: Night) -> None:
        """Called before `plan`, never in a dry run."""


@dataclass(frozen=True, slots=True)
class StageReport:
    """What became of a stage; see StageRecord for the counts. `dry_run`: nothing was applied, and
    `paths` are the files that would have been; else those that were. `remark`: what git says that
    the operator must hear. `error`: why the stage could not be run; then all else is empty."""

    stage: str
    planned: int
    applied: int
    held_by_cap: int
    anomaly: bool
    limit: float | None
    waiting_for_model: int
    skipped: Mapping[str, int]
    notes: tuple[str, ...]
    parked: tuple[str, ...]
    measured: Mapping[str, Measured]
    spent: Mapping[str, Measured]
    seconds: float
    run_id: str | None
    paths: tuple[str, ...]
    dry_run: bool
    remark: str | None = None
    error: str | None = None

    @classmethod
    def failed(cls, stage: str, error: str, seconds: float, dry_run: bool) -> "StageReport":
        """Of a stage that could not be run."""
        return cls(
            stage=stage,
            planned=0,
            applied=0,
            held_by_cap=0,
            anomaly=False,
            limit=None,
            waiting_for_model=0,
            skipped={},
            notes=(),
            parked=(),
            measured={},
            spent={},
            seconds=seconds,
            run_id=None,
            paths=(),
            dry_run=dry_run,
            error=error,
        )
