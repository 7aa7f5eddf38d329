"""The pass: every note that waits, one after the other, between the gates.

Eager after a capture or batch at night, it is the same code. Notes are judged a few at a time and
written in one commit, each against the bytes that were judged. Killed at any point, it goes on
where it was: what is written carries its stamp, what was paid for is kept until it is written.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.decide import Decided, Desk, Judged, Stopped, TooLong, decide
from agentm_assets.enrichment.gates.budget import Budget
from agentm_assets.enrichment.inbound import InboundLinks
from agentm_assets.enrichment.judges import IN_BATCH, Judge
from agentm_assets.enrichment.population import (
    STAGE,
    STOPPED,
    UNREAD,
    Population,
    Waiting,
    month_of,
)
from agentm_assets.enrichment.reenrichment import NoteHistory
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.refusals import RECORD, Refusals, RefusedBefore
from agentm_assets.enrichment.report import PassReport, Tally
from agentm_assets.enrichment.subject import Trigger
from agentm_assets.enrichment.version import GATE_VERSION
from agentm_assets.enrichment.write import Wrote, write_judged, write_split
from agentm_assets.history.revert_log import stamp as moment
from agentm_assets.history.run import Run, begin, require_repository
from agentm_assets.index.store import IndexStore
from agentm_assets.ledger import ledger
from agentm_assets.ledger.ledger import DONE, LedgerRow
from agentm_assets.storage.seam import StorageBackend

PASS: Final = "enrich"

COMMIT_NOTES: Final = 50
COMMIT_SECONDS: Final = 60.0
"""A commit is made after so many notes, or so long after the first of them was judged."""

_MOST_SILENT: Final = 3
"""Notes in a row that a model could not be reached for, after which the rest waits."""

_HOPELESS: Final = frozenset({"model-misconfigured", "model-over-line"})
"""What the next note would be told, too."""

_UNUSABLE: Final = frozenset({"schema", "tokens", "grounding", "aliases"})


@dataclass(frozen=True, slots=True)
class EnrichContext:
    """What a run of the pass works with. `month` names the partition that a batch run is about.
    `most_notes`: so many that the judge is asked about, notes that no gate lets so far left out.
    `asked_with`: path -> how the asker put it, for notes that were captured a moment ago. `now` is
    the wall clock, `clock` seconds that never run backwards. `on_progress` hears how many are
    through and how many there are."""

    location: VaultLocation
    backend: StorageBackend
    store: IndexStore
    rules: LoadedRules
    run_id: str
    trigger: Trigger
    budget: Budget
    now: Callable[[], datetime]
    clock: Callable[[], float]
    month: str | None = None
    most_notes: int | None = None
    asked_with: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    on_progress: Callable[[int, int], None] = lambda done, total: None


def enrich(population: Population, judge: Judge, context: EnrichContext) -> PassReport:
    """Judge the notes of the population, and write what comes through the gates.

    Raises RepositoryRequired where a model may rewrite notes, or many are written, and nothing
    could be taken back; StorageError when the vault or its records can't be used; OSError when the
    logs of this machine can't be.
    """
    if judge.is_generative or context.trigger == "batch":
        require_repository(context.location)
    return _Pass(population, judge, context).run()


class _Pass:
    def __init__(self, population: Population, judge: Judge, context: EnrichContext) -> None:
        self._context = context
        self._judge = judge
        self._awaiting = population.awaiting_model
        self._tally = Tally(population=len(population.items))
        self._refusals = Refusals.read(context.backend)
        self._desk = Desk(
            backend=context.backend,
            rules=context.rules,
            judge=judge,
            budget=context.budget,
            refusals=self._refusals,
            history=NoteHistory(context.location, context.backend),
            trigger=context.trigger,
            asked_with=context.asked_with,
        )
        self._began = context.clock()
        self._cursor = f"{STAGE}/{context.month or context.trigger}"
        self._queue = deque(self._from_cursor(population.items))
        self._silent = 0
        self._asked = 0
        self._through = 0
        self._in_hand: list[Decided] = []
        self._in_hand_since = 0.0

    def run(self) -> PassReport:
        context, tally = self._context, self._tally
        position: str | None = None
        while self._queue:
            if context.most_notes is not None and self._asked >= context.most_notes:
                tally.deferred_because = f"the {context.most_notes:,} notes of this run are done"
                break
            waiting = self._queue.popleft()
            decided = decide(waiting, self._desk)
            why = self._why_stop(decided)
            if why is not None:
                self._queue.appendleft(waiting)
                tally.deferred_because = why
                break
            position = waiting.position
            self._take_up(decided)
            self._asked += not isinstance(decided, Stopped) or decided.scrubbed is not None
            if not self._queue:
                self._write()  # a split gives work to the queue
        self._write()
        tally.deferred += len(self._queue)
        handed = self._judge.finish()
        tally.in_batch -= handed.failed
        tally.deferred += handed.failed
        if handed.because is not None:
            tally.deferred_because = handed.because
        if context.trigger == "batch":
            with context.store.transaction() as connection:
                ledger.set_cursor(connection, self._cursor, position if self._queue else None)
        tally.remarks += self._judge.remarks()
        return tally.report(
            stamp=self._judge.stamp,
            rules_hash=context.rules.rules_hash,
            awaiting_model=self._awaiting,
            usage=self._judge.usage(),
            seconds=context.clock() - self._began,
            completeness=self._judge.completeness(),
        )

    def _from_cursor(self, items: Sequence[Waiting]) -> list[Waiting]:
        """The notes from where the last run had to stop, then those before: else the first ones
        could keep all others waiting for ever."""
        if self._context.trigger != "batch":
            return list(items)
        with self._context.store.transaction() as connection:
            cursor = ledger.read_cursor(connection, self._cursor)
        if cursor is None:
            return list(items)
        return sorted(items, key=lambda each: (each.position <= cursor, each.position))

    def _why_stop(self, decided: Decided) -> str | None:
        """Why this note and all others wait for the next run; None when the run goes on."""
        if not isinstance(decided, Stopped):
            self._silent = 0
            return None
        refusal = decided.refusal
        if refusal.gate == "budget":
            # What no run can afford must not keep the others waiting.
            alone = refusal.code == "budget-tokens" and self._context.budget.calls_used == 0
            return None if alone else refusal.detail
        if refusal.gate != "model" or refusal.code == IN_BATCH:
            return None
        self._silent += refusal.code == "model-unavailable"
        if refusal.code in _HOPELESS or self._silent >= _MOST_SILENT:
            return refusal.detail
        return None

    def _take_up(self, decided: Decided) -> None:
        if isinstance(decided, Stopped) and decided.refusal.code == IN_BATCH:
            self._tally.in_batch += 1
            self._progress(1)
            return
        if not self._in_hand:
            self._in_hand_since = self._context.clock()
        self._in_hand.append(decided)
        late = self._context.clock() - self._in_hand_since >= COMMIT_SECONDS
        if late or len(self._in_hand) >= COMMIT_NOTES:
            self._write()

    def _write(self) -> None:
        """Write and commit what is in hand, enter it in the ledger, and let go what was kept."""
        in_hand, self._in_hand = self._in_hand, []
        stopped = [each for each in in_hand if isinstance(each, Stopped)]
        todo = [each for each in in_hand if not isinstance(each, Stopped)]
        rows: list[LedgerRow] = []
        renamed: list[str] = []
        records = self._judge.records()
        if todo or records or any(each.refusal.remembered for each in stopped):
            with begin(
                self._context.location,
                self._context.backend,
                pass_name=PASS,
                run_id=self._context.run_id,
                rules_hash=self._context.rules.rules_hash,
                version=self._judge.stamp,
                subject=_subject(todo),
                now=self._context.now,
            ) as run:
                links = InboundLinks(
                    self._context.location, self._context.backend, self._context.store
                )
                for each in todo:
                    refused = self._write_one(run, each, links, rows, renamed)
                    if refused is not None:
                        stopped.append(refused)
                self._record(run, stopped)
                for record, lines in records.items():
                    run.record(record, lines)
            self._tally.add_outcome(run.outcome)
        for one in stopped:
            self._tally.refuse(one.refusal)
        rows += map(self._stopped_row, stopped)
        if rows or renamed:
            with self._context.store.transaction() as connection:
                ledger.enter(connection, rows)
                done = [row.target for row in rows if row.stage == STAGE]
                ledger.forget(connection, STOPPED, [*done, *renamed])
                ledger.forget(connection, STAGE, renamed)
        for decided in [*todo, *stopped]:
            self._let_go(decided)
        self._progress(len(in_hand))

    def _write_one(
        self,
        run: Run,
        decided: Judged | TooLong,
        links: InboundLinks,
        rows: list[LedgerRow],
        renamed: list[str],
    ) -> Stopped | None:
        context, tally = self._context, self._tally
        now = context.now()
        path = decided.subject.locator.key
        if isinstance(decided, TooLong):
            split = write_split(run, context.backend, decided, context.rules, now)
            if isinstance(split, Refusal):
                return Stopped(decided.waiting, split, decided.subject.fingerprint)
            tally.split += 1
            tally.fragments += len(split.fragments)
            tally.population += len(split.fragments)
            for place in split.fragments:
                tally.written[place.key] = None
                self._queue.append(_fragment(place.key, decided))
            tally.written[path] = None
            return None
        wrote = write_judged(
            run,
            context.backend,
            decided,
            context.rules,
            self._judge.stamp,
            now,
            links.lead_to,
        )
        if isinstance(wrote, Refusal):
            return Stopped(decided.waiting, wrote, decided.subject.fingerprint, decided.scrubbed)
        self._enter(wrote, decided, now, rows, renamed)
        return None

    def _enter(
        self,
        wrote: Wrote,
        decided: Judged,
        now: datetime,
        rows: list[LedgerRow],
        renamed: list[str],
    ) -> None:
        tally, old, new = self._tally, decided.subject.locator.key, wrote.place.key
        tally.enriched += 1
        tally.activated += wrote.activated
        tally.kept_unfiled += decided.subject.status == "unfiled" and not wrote.activated
        tally.written[new] = None
        tally.judged[new] = None
        if new != old:
            tally.moved[old] = new
            tally.removed[old] = None
            renamed.append(old)
        rows.append(
            LedgerRow(
                STAGE,
                new,
                wrote.fingerprint,
                self._judge.stamp,
                self._context.rules.rules_hash,
                moment(now),
                DONE,
            )
        )

    def _record(self, run: Run, stopped: Sequence[Stopped]) -> None:
        lines: list[bytes] = []
        for each in stopped:
            if each.refusal.remembered and each.fingerprint is not None:
                refused = RefusedBefore(
                    path=each.waiting.path,
                    fingerprint=each.fingerprint,
                    stamp=self._judge.stamp,
                    rules_hash=self._context.rules.rules_hash,
                    gate_version=GATE_VERSION,
                    code=each.refusal.code,
                    detail=each.refusal.detail,
                    at=moment(self._context.now()),
                )
                self._refusals.add(refused)
                lines.append(refused.line())
        if lines:
            run.record(RECORD, lines)

    def _stopped_row(self, stopped: Stopped) -> LedgerRow:
        """What the ledger holds of a note that a gate stopped."""
        refusal = stopped.refusal
        unusable = refusal.code == "model-unusable" or refusal.gate in _UNUSABLE
        return LedgerRow(
            STOPPED,
            stopped.waiting.path,
            stopped.fingerprint or UNREAD,
            self._judge.stamp,
            self._context.rules.rules_hash,
            moment(self._context.now()),
            refusal.code,
            stopped.waiting.tries + (unusable and not refusal.remembered),
        )

    def _let_go(self, decided: Decided) -> None:
        if isinstance(decided, TooLong) or decided.scrubbed is None:
            return
        if isinstance(decided, Stopped) and (
            decided.refusal.gate in ("budget", "model")
            or decided.refusal.code in ("grounding-unable", "journal-not-written")
        ):
            return  # what was paid for already is of use to the next run
        self._judge.through(decided.scrubbed, self._context.rules)

    def _progress(self, notes: int) -> None:
        self._through += notes
        self._context.on_progress(self._through, self._tally.population)


def _subject(todo: Sequence[Judged | TooLong]) -> str:
    """The first line of the commit."""
    if len(todo) == 1:
        return f"Enrich {todo[0].subject.locator}"
    return f"Enrich {len(todo):,} notes" if todo else "Record refused answers"


def _fragment(path: str, origin: TooLong) -> Waiting:
    return Waiting(
        path=path,
        reason="unfiled",
        judged_fingerprint=None,
        month=month_of(origin.subject.captured),
        is_linked=False,
        judged_at=None,
        captured=origin.subject.captured,
        tries=0,
    )
