"""Queues: ages kept, nothing starves, three failures park, dead letters surface once."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentm_assets.index.store import IndexStore
from agentm_assets.ledger import queue
from agentm_assets.ledger.queue import Item

NOW = datetime(2026, 8, 14, 2, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> IndexStore:
    return IndexStore(tmp_path / "index.duckdb")


def fill(store: IndexStore, *targets: str, at: datetime = NOW, owner: str = "o") -> None:
    with store.transaction() as connection:
        for number, target in enumerate(targets):
            queue.enqueue(connection, owner, [(target, "new")], at + timedelta(minutes=number))


def drained(store: IndexStore, most: int, at: datetime = NOW + timedelta(days=1)) -> list[Item]:
    with store.transaction() as connection:
        return list(queue.drain(connection, "o", most, at))


def test_found_again_it_keeps_its_age_and_takes_the_new_reason(store: IndexStore) -> None:
    with store.transaction() as connection:
        assert queue.enqueue(connection, "o", [("a", "new"), ("b", "new")], NOW) == 2
        later = NOW + timedelta(days=3)
        assert queue.enqueue(connection, "o", [("a", "rules"), ("c", "new")], later) == 1
        queue.enqueue(connection, "other", [("a", "x")], later)
        depths = queue.depths(connection, later)
    (item, *_) = drained(store, 1, later)
    assert (item.target, item.reason, item.enqueued) == ("a", "rules", queue.moment(NOW))
    assert [(d.owner, d.pending, d.dead) for d in depths] == [("o", 3, 0), ("other", 1, 0)]
    assert depths[0].oldest_age_seconds == 3 * 86_400


def test_what_was_done_waits_anew_when_it_is_found_again(store: IndexStore) -> None:
    fill(store, "a")
    (item,) = drained(store, 9)
    with store.transaction() as connection:
        queue.done(connection, item)
        assert drained_in(connection) == []
        assert queue.enqueue(connection, "o", [("a", "changed")], NOW + timedelta(hours=2)) == 1
        (again,) = queue.drain(connection, "o", 9, NOW + timedelta(days=1))
    assert (again.reason, again.attempts) == ("changed", 0)


def drained_in(connection: object) -> list[Item]:
    return list(queue.drain(connection, "o", 9, NOW + timedelta(days=1)))  # type: ignore[arg-type]


def test_oldest_first_behind_the_cursor_and_round(store: IndexStore) -> None:
    fill(store, "a", "b", "c", "d", "e")
    seen: list[str] = []
    for _ in range(4):
        items = drained(store, 2)
        with store.transaction() as connection:
            for item in items:
                seen.append(item.target)
                if item.target == "a":
                    queue.failed(connection, item, "no answer")
                else:
                    queue.done(connection, item)
    assert seen[:5] == ["a", "b", "c", "d", "e"]
    assert seen[5:] == ["a", "a"]  # it comes round, and its third failure parks it
    assert drained(store, 2) == []


def test_a_drain_that_is_cut_short_goes_on_behind_what_it_settled(store: IndexStore) -> None:
    fill(store, "a", "b", "c")
    first, *_ = drained(store, 3)
    with store.transaction() as connection:
        queue.failed(connection, first, "killed")
    assert [item.target for item in drained(store, 3)] == ["b", "c", "a"]


def test_three_failures_park_and_surface_once(store: IndexStore) -> None:
    fill(store, "a", "b")
    parked: list[bool] = []
    for _ in range(3):
        with store.transaction() as connection:
            item = next(i for i in drained_in(connection) if i.target == "a")
            parked.append(queue.failed(connection, item, "schema"))
    assert parked == [False, False, True]
    with store.transaction() as connection:
        assert queue.enqueue(connection, "o", [("a", "rules")], NOW + timedelta(days=1)) == 0
        assert [item.target for item in drained_in(connection)] == ["b"]
        told = queue.surface(connection)
        assert [(row.target, row.attempts, row.last_error) for row in told] == [("a", 3, "schema")]
        assert queue.surface(connection) == []
        assert queue.depths(connection, NOW)[0].dead == 1
        assert not queue.revive(connection, "o", "b")
        assert queue.revive(connection, "o", "a")
        revived = next(i for i in drained_in(connection) if i.target == "a")
    assert (revived.enqueued, revived.attempts) == (queue.moment(NOW), 0)


def test_the_report_of_a_drain(store: IndexStore) -> None:
    fill(store, "a", "b", "c")
    with store.transaction() as connection:
        first, second, _ = drained_in(connection)
        queue.done(connection, first)
        queue.failed(connection, second, "no")
        report = queue.drained(
            connection, "o", NOW + timedelta(minutes=61), done=1, failed=1, parked=0, deferred=1
        )
    assert (report.attempted, report.depth, report.oldest_age_seconds) == (2, 2, 3_600.0)


def test_under_a_constant_stream_everything_is_reached(store: IndexStore) -> None:
    """More comes in than a drain takes, and one item always fails: nobody waits for ever."""
    fill(store, "bad")
    reached: set[str] = set()
    for day in range(1, 31):
        now = NOW + timedelta(days=day)
        with store.transaction() as connection:
            queue.enqueue(
                connection,
                "o",
                [(f"{day:02}-{n}", "new") for n in range(5 if day < 10 else 1)],
                now,
            )
            for item in list(queue.drain(connection, "o", 3, now)):
                reached.add(item.target)
                if item.target == "bad":
                    queue.failed(connection, item, "no")
                else:
                    queue.done(connection, item)
    assert {f"{day:02}-{n}" for day in range(1, 10) for n in range(5)} <= reached
