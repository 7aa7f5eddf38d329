"""Applying what a stage plans: through one history run, within the night's budget, unless it is an
anomaly.

A kill between planning and applying leaves nothing behind but a plan that nobody remembers; one
while applying leaves whole files, which the next pass logs and commits (see `history`). What is
applied once has nothing to do the second time, so no commit is made then.
"""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from agentm_assets.contract.edit import EditRefused
from agentm_assets.dreaming import records
from agentm_assets.dreaming.breaker import Verdict, judge
from agentm_assets.dreaming.derived_page import OperatorsPage
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.records import StageRecord
from agentm_assets.dreaming.stage import Applied, Change, Leave, Plan, Preparing, Stage, StageReport
from agentm_assets.history.outcome import is_worth_a_remark
from agentm_assets.history.run import Run, begin, require_repository
from agentm_assets.ledger import queue, saved_queue
from agentm_assets.projects.region import RegionDamaged
from agentm_assets.storage.seam import (
    ABSENT,
    ConcurrentModificationError,
    OwnershipLost,
    StorageError,
    StoreUnreachable,
)

PASS_PREFIX = "dream"
_REASONS = (Leave, OperatorsPage, EditRefused, RegionDamaged)


def run_stage(
    night: Night, stage: Stage, *, dry_run: bool = False, accept: bool = False
) -> StageReport:
    """Plan and apply one stage, and note what became of it.

    `accept`: the operator says that so many changes are right: the breaker is not asked, and the
    count is learned. Raises RepositoryRequired where changes could not be taken back, StorageError
    and what the stage raises; then nothing was applied but what `history` shows.
    """
    began = time.monotonic()
    with night.index() as connection:
        saved_queue.take_over(connection, night.location, night.backend)
    if dry_run:
        night = replace(night, models=None)  # a look costs nothing
    elif isinstance(stage, Preparing):
        stage.prepare(night)
    plan = stage.plan(night)
    pending, unchanged, failed = _effective(night, plan)
    planned = sum(not change.is_record for change in pending)
    past = records.stage_records(night.location)
    verdict = judge(planned, records.normal_counts(past, stage.name))
    if accept:
        verdict = replace(verdict, is_anomaly=False)
    done = _Done(unchanged=frozenset(unchanged), failed=failed)
    if pending and not verdict.is_anomaly and not dry_run:
        require_repository(night.location)
        spent = sum(record.applied for record in past if record.night == night.night_id)
        done = _apply(night, stage, pending, done, night.budget.left(spent))
    if not dry_run:
        if not verdict.is_anomaly:
            plan.settle(done.applied)
        if done.written:
            night.reindex(sorted(done.written))
        done.parked = _surfaced(night)
    report = _report(stage, plan, done, planned, verdict, time.monotonic() - began, dry_run)
    if dry_run:
        return replace(report, paths=tuple(change.locator.key for change in pending))
    records.append(night.location, _record(night, stage, report))
    return report


@dataclass
class _Done:
    written: set[str] = field(default_factory=set)
    unchanged: frozenset[str] = frozenset()
    held: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    counted: int = 0
    run_id: str | None = None
    remark: str | None = None
    parked: tuple[str, ...] = ()

    @property
    def applied(self) -> Applied:
        return Applied(
            frozenset(self.written),
            self.unchanged,
            frozenset(self.held),
            dict(self.failed),
            self.run_id,
        )


def _effective(night: Night, plan: Plan) -> tuple[list[Change], set[str], dict[str, str]]:
    """The changes that would change a byte, those that would not, and those that can't be made."""
    pending: list[Change] = []
    unchanged: set[str] = set()
    failed: dict[str, str] = {}
    for change in plan.changes:
        key = change.locator.key
        try:
            held = night.backend.read_bytes(change.locator)
        except FileNotFoundError:
            held = None
        except StorageError:
            failed[key] = "unreadable"
            continue
        if change.kind == "new" and held is not None:
            failed[key] = "name-taken"
            continue
        try:
            changed = change.build(held) != held
        except _REASONS as error:
            failed[key] = _reason(error)
            continue
        if changed:
            pending.append(change)
        else:
            unchanged.add(key)
    return pending, unchanged, failed


def _apply(
    night: Night, stage: Stage, pending: Sequence[Change], done: _Done, allowance: int
) -> _Done:
    with begin(
        night.location,
        night.backend,
        pass_name=f"{PASS_PREFIX}-{stage.name}"[:31],
        rules_hash=night.rules.rules_hash,
        version=stage.version,
        now=lambda: night.now,
    ) as run:
        for change in pending:
            key = change.locator.key
            if not change.is_record and done.counted >= allowance:
                done.held.add(key)
                continue
            if not all(done.applied.stands(other) for other in change.needs):
                waits = any(other in done.held for other in change.needs)
                if waits:
                    done.held.add(key)
                else:
                    done.failed[key] = "needs-another"
                continue
            reason = _make(night, run, change, done)
            if reason is not None:
                done.failed[key] = reason
                continue
            if run.has_written(change.locator):
                done.written.add(key)
                done.counted += not change.is_record
    done.run_id = run.run_id if run.changes else None
    if is_worth_a_remark(run.outcome):
        done.remark = run.outcome.text
    return done


def _make(night: Night, run: Run, change: Change, done: _Done) -> str | None:
    """Make one change; the reason when it could not be made."""
    try:
        if not night.backend.exists(change.locator):
            run.write(change.locator, change.build(None), expect=ABSENT)
        elif change.kind == "new":
            return "name-taken"
        else:
            run.rewrite(change.locator, change.build)
    except FileExistsError:
        return "name-taken"
    except _REASONS as error:
        return _reason(error)
    except (ConcurrentModificationError, OwnershipLost, FileNotFoundError):
        return "changed-meanwhile"
    except StoreUnreachable:
        raise
    except StorageError as error:
        # One file that git can't keep, or that may not be written, is no reason to leave the rest.
        done.remark = done.remark or str(error)
        return "not-written"
    return None


def _reason(error: Exception) -> str:
    if isinstance(error, Leave):
        return str(error)
    if isinstance(error, OperatorsPage):
        return "operators-page"
    return "marks-damaged" if isinstance(error, RegionDamaged) else "uneditable"


def _surfaced(night: Night) -> tuple[str, ...]:
    """Tell of dead letters that nobody was told of, put them on record, and save the queues."""
    with night.index() as connection:
        letters = queue.surface(connection)
        saved_queue.save(connection, night.location)
    if letters:
        with ExitStack() as stack:
            run = stack.enter_context(
                begin(
                    night.location,
                    night.backend,
                    pass_name=f"{PASS_PREFIX}-queue",
                    rules_hash=night.rules.rules_hash,
                    subject="Dead letters of the queues",
                    now=lambda: night.now,
                )
            )
            run.record(saved_queue.DEAD_LETTERS, saved_queue.dead_letter_lines(letters))
    return tuple(f"{each.owner}: {each.target} ({each.last_error})" for each in letters)


def _report(
    stage: Stage,
    plan: Plan,
    done: _Done,
    planned: int,
    verdict: Verdict,
    seconds: float,
    dry_run: bool,
) -> StageReport:
    skipped = Counter(plan.skipped) + Counter(done.failed.values())
    return StageReport(
        stage=stage.name,
        planned=planned,
        applied=done.counted,
        held_by_cap=len(done.held),
        anomaly=verdict.is_anomaly,
        limit=verdict.limit,
        waiting_for_model=plan.waiting_for_model,
        skipped=dict(sorted(skipped.items())),
        notes=plan.notes,
        parked=done.parked,
        measured=plan.measured,
        spent=plan.spent,
        seconds=seconds,
        run_id=done.run_id,
        paths=tuple(sorted(done.written)),
        dry_run=dry_run,
        remark=done.remark,
    )


def _record(night: Night, stage: Stage, report: StageReport) -> StageRecord:
    return StageRecord(
        night=night.night_id,
        at=records.moment(night.now),
        stage=stage.name,
        version=stage.version,
        planned=report.planned,
        applied=report.applied,
        held=report.held_by_cap,
        anomaly=report.anomaly,
        waiting_for_model=report.waiting_for_model,
        seconds=round(report.seconds, 3),
        run_id=report.run_id,
        limit=report.limit,
        skipped=report.skipped,
        notes=report.notes,
        parked=report.parked,
        measured=report.measured,
        spent=report.spent,
    )
