"""How a run is made, whoever asks for it: the bars first, the questions then, the verdict last."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from agentm_assets.evaluation.bars import Bar, BarsJudged, judge, require_measures
from agentm_assets.evaluation.compare import (
    Changes,
    Comparison,
    NotComparable,
    changes,
    compare,
    require_comparable,
)
from agentm_assets.evaluation.report import Provenance
from agentm_assets.evaluation.saved import (
    Kind,
    SavedQuestion,
    SavedResult,
    parse_result,
    saved_text,
)
from agentm_assets.evaluation.score_log import Begun, Entry, ScoreLog, new_run


class Report(Protocol):
    """What a run of any kind found."""

    @property
    def questions(self) -> tuple[SavedQuestion, ...]: ...
    @property
    def provenance(self) -> Provenance: ...
    def json(self) -> dict[str, object]: ...
    def measures(self) -> dict[str, float | None]: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """A run before it is made. `against`: a result that it must be comparable with; `accepted`:
    the last accepted one, which it is held against where that can be done; `log`: where it is
    entered, None for nowhere."""

    kind: Kind
    name: str
    seed: int
    corpus_sha256: str
    bars: tuple[Bar, ...] = ()
    against: SavedResult | None = None
    accepted: SavedResult | None = None
    log: ScoreLog | None = None
    trigger: str = "cli"


@dataclass(frozen=True, slots=True)
class Running:
    """A run whose questions may be asked now: it is written down what it is held to. `remark`: the
    history could not be written."""

    plan: Plan
    begun: Begun
    remark: str | None


@dataclass(frozen=True, slots=True)
class Finished:
    """`changes`: what became of each question of the accepted result, also where the notes have
    changed since (`why_not_compared` says so then): an alarm and no comparison. `text` is the
    result as a file."""

    payload: Mapping[str, object]
    text: str
    bars: BarsJudged | None
    against: Comparison | None
    accepted: Comparison | None
    changes: Changes | None
    why_not_compared: str | None
    remark: str | None


def start(plan: Plan, measures: Collection[str], now: datetime) -> Running:
    """Check the bars and the result that is compared with, and enter the run. Nothing was asked
    yet. `measures`: the names of what the run will measure.

    Raises BarUnusable, NotComparable.
    """
    require_measures(plan.bars, measures)
    if plan.against is not None:
        require_comparable(plan.against, kind=plan.kind, corpus_sha256=plan.corpus_sha256)
    begun = Begun(
        run=new_run(plan.kind, now),
        at=_stamp(now),
        trigger=plan.trigger,
        kind=plan.kind,
        name=plan.name,
        corpus_sha256=plan.corpus_sha256,
        seed=plan.seed,
        bars=tuple(bar.text for bar in plan.bars),
    )
    return Running(plan, begun, _entered(plan.log, Entry(begun, None, None)))


def finish(running: Running, report: Report) -> Finished:
    """Judge, compare, and enter what was found. Raises NotComparable when the result that it is
    compared with has no question in common."""
    plan, begun = running.plan, running.begun
    measures = report.measures()
    bars = judge(plan.bars, measures, begun.at) if plan.bars else None
    payload = dict(report.json())
    if bars is not None:
        payload["bars"] = bars.json()
    text = saved_text(plan.kind, plan.name, begun.at, payload, report.questions)
    result = parse_result(text.encode("utf-8", "replace"), "this run")
    try:
        against = compare(plan.against, result, seed=plan.seed) if plan.against else None
    except NotComparable as error:
        abandon(running, str(error))
        raise
    accepted, moved, why = _held_against(plan, result)
    if against is not None:
        payload["against"] = against.json()
    if plan.accepted is not None:
        payload["accepted"] = _accepted_json(plan.accepted, accepted, why)
    entry = Entry(
        begun=begun,
        ended=_stamp(datetime.now(UTC)),
        mode=report.provenance.mode,
        measures=measures,
        met=bars.met if bars else None,
        gained=len(moved.gained) if moved else None,
        lost=len(moved.lost) if moved else None,
    )
    remark = _entered(plan.log, entry)
    return Finished(payload, text, bars, against, accepted, moved, why, running.remark or remark)


def abandon(running: Running, why: str) -> str | None:
    """Enter that the run has no result. Returns why that could not be entered."""
    ended = _stamp(datetime.now(UTC))
    return _entered(running.plan.log, Entry(running.begun, ended, None, why=why))


def _held_against(
    plan: Plan, result: SavedResult
) -> tuple[Comparison | None, Changes | None, str | None]:
    if plan.accepted is None:
        return None, None, None
    moved = changes(plan.accepted, result)
    try:
        return compare(plan.accepted, result, seed=plan.seed), moved, None
    except NotComparable as error:
        return None, moved, str(error)


def _accepted_json(
    accepted: SavedResult, comparison: Comparison | None, why: str | None
) -> dict[str, object]:
    if comparison is None:
        return {"compared": False, "at": accepted.at, "why": why}
    return {"compared": True, **comparison.json()}


def _entered(log: ScoreLog | None, entry: Entry) -> str | None:
    if log is None:
        return None
    try:
        log.enter(entry)
    except OSError as error:
        return f"the history of scores ({log.file}) can't be written: {error.strerror}"
    return None


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="seconds")
