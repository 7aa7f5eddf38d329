"""Stages that find work, queue it and drain the queue: oldest first, some a night."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentm_assets.dreaming import records
from agentm_assets.dreaming.asking import Asking
from agentm_assets.dreaming.breaker import FLOOR, judge
from agentm_assets.dreaming.grounded import Refused
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.stage import Applied, Change
from agentm_assets.ledger import processed, queue
from agentm_assets.ledger.processed import Processed


def most_tonight(night: Night, stage: str) -> int:
    """Items that the stage may plan: as many as stay below what the breaker takes for an anomaly.

    A backlog, such as a new type of entity brings, then drains over some nights, oldest first,
    instead of tripping the breaker until somebody accepts it. While little is known of what is
    normal, the cap on mutations decides alone.
    """
    cap = night.limits.mutations_per_stage
    past = records.normal_counts(records.stage_records(night.location), stage)
    limit = judge(0, past).limit
    return cap if limit is None else min(cap, max(FLOOR, int(limit)))


def take(night: Night, owner: str, found: Mapping[str, str], most: int) -> list[queue.Item]:
    """Make the owner's queue say what is found now (target: reason), and give what is to be done
    tonight. What needs nothing any more leaves the queue; what waits keeps its age."""
    with night.index() as connection:
        over = [row.target for row in queue.rows(connection, owner) if row.target not in found]
        queue.withdraw(connection, owner, over)
        queue.enqueue(connection, owner, sorted(found.items()), night.now)
        drained = queue.drain(connection, owner, most, night.now)
        return [item for item in drained if item.target in found]


@dataclass(slots=True)
class Jobs:
    """What came of the items of one drain.

    `waiting`: those whose answer is not there yet; they stay in the queue as they are.
    """

    changes: list[Change] = field(default_factory=list)
    by_file: dict[str, list[queue.Item]] = field(default_factory=dict)
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    refused: list[tuple[queue.Item, str]] = field(default_factory=list)
    through: list[queue.Item] = field(default_factory=list)
    waiting: int = 0

    def add(self, item: queue.Item, change: Change, keys: tuple[str, ...] = ()) -> None:
        """The item is through when the change stands; then the answers to `keys` are let go."""
        self.changes.append(change)
        self.by_file.setdefault(change.locator.key, []).append(item)
        self.keys[change.locator.key] = keys

    def refuse(self, item: queue.Item, why: Refused | str) -> None:
        self.refused.append((item, why if isinstance(why, str) else why.code))

    def settle(self, night: Night, asking: Asking | None, applied: Applied) -> None:
        """Enter what stands in the queue, and let go of what was kept for it."""
        with night.index() as connection:
            for key, items in self.by_file.items():
                for item in items:
                    if applied.stands(key):
                        queue.done(connection, item)
                    elif key in applied.failed:
                        queue.failed(connection, item, applied.failed[key])
            for item in self.through:
                queue.done(connection, item)
            for item, code in self.refused:
                queue.failed(connection, item, code)
        if asking is not None:
            for key, keys in self.keys.items():
                if applied.stands(key):
                    asking.through(keys)


def remember(night: Night, stage: str, version: str, done: Mapping[str, str]) -> None:
    """Enter in the ledger that the stage is through with these targets, `done` holding the hash of
    what each was made from; drop the rows of all others."""
    at = queue.moment(night.now)
    with night.index() as connection:
        known = processed.rows_of(connection, stage)
        rows = [
            Processed(stage, target, version, night.rules.rules_hash, "", key, "done", "", at)
            for target, key in sorted(done.items())
        ]
        processed.enter(connection, [row for row in rows if _is_news(row, known.get(row.target))])
        processed.forget(connection, stage, [target for target in known if target not in done])


def _is_news(row: Processed, held: Processed | None) -> bool:
    return held is None or (row.output_key, row.version, row.rules_hash) != (
        held.output_key,
        held.version,
        held.rules_hash,
    )
