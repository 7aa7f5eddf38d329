"""Applying plans: once, within the budget, not when they are an anomaly, never half."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from estate import Estate

from agentm_assets.config.dreaming_table import DreamingTable
from agentm_assets.dreaming import records
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.run import run_stage
from agentm_assets.dreaming.stage import Applied, Change, Leave, Plan
from agentm_assets.history.outcome import RepositoryRequired
from agentm_assets.ledger import queue, saved_queue
from agentm_assets.storage.locator import Locator


@dataclass
class Pages:
    """Writes `count` pages that say `text`."""

    count: int
    text: str = "one"
    name: str = "pages"
    version: str = "1"
    needs_model: bool = False
    description: str = ""
    settled: list[Applied] = field(default_factory=list)
    build: Callable[[bytes | None], bytes] | None = None

    def plan(self, night: Night) -> Plan:
        build = self.build or (lambda held: f"{self.text}\n".encode())
        return Plan(
            tuple(
                Change(Locator(f"Agent/memory/mocs/p{number}.md"), "rewrite", build)
                for number in range(self.count)
            ),
            settle=self.settled.append,
        )


def test_a_second_run_changes_no_byte_and_makes_no_commit(estate: Estate) -> None:
    stage = Pages(3)
    first = run_stage(estate.night(), stage)
    assert (first.planned, first.applied, first.anomaly) == (3, 3, False)
    assert estate.text("Agent/memory/mocs/p2.md") == "one\n"
    files, head = estate.files(), estate.head()
    assert "agentm-dream-pages" in estate.git("log", "-1", "--format=%an")
    second = run_stage(estate.night(), stage)
    assert (second.planned, second.applied, second.run_id) == (0, 0, None)
    assert (estate.files(), estate.head()) == (files, head)
    assert stage.settled[1].unchanged == {f"Agent/memory/mocs/p{n}.md" for n in range(3)}


def test_a_dry_run_writes_nothing_and_is_not_remembered(estate: Estate) -> None:
    stage, files = Pages(2), estate.files()
    report = run_stage(estate.night(), stage, dry_run=True)
    assert report.planned == 2
    assert report.paths == ("Agent/memory/mocs/p0.md", "Agent/memory/mocs/p1.md")
    assert estate.files() == files
    assert records.nights(estate.location) == []
    assert stage.settled == []


def test_the_cap_holds_for_a_stage_and_for_the_night(estate: Estate) -> None:
    estate.limits = DreamingTable(mutations_per_night=5, mutations_per_stage=3)
    night = estate.night()
    first = run_stage(night, Pages(4))
    assert (first.applied, first.held_by_cap) == (3, 1)
    other = Pages(9, "two", name="others")
    second = run_stage(night, other)
    assert (second.planned, second.applied, second.held_by_cap) == (9, 2, 7)
    assert len(other.settled[0].held) == 7
    third = run_stage(estate.night(), Pages(4))
    assert (third.applied, third.held_by_cap) == (3, 0)  # two that the other wrote, and p3


def test_over_three_times_the_mean_of_eight_normal_cycles_nothing_is_applied(
    estate: Estate,
) -> None:
    for cycle in range(8):
        assert not run_stage(estate.night(), Pages(30, f"cycle {cycle}")).anomaly
    estate.location.duckdb_file.unlink()  # what is normal does not stand in the index
    files, head = estate.files(), estate.head()
    stage = Pages(91, "anomalous")
    for _ in range(3):  # and it is not learned by trying again
        report = run_stage(estate.night(), stage)
        assert (report.anomaly, report.applied, report.limit) == (True, 0, 90.0)
    assert (estate.files(), estate.head()) == (files, head)
    assert stage.settled == []
    other = run_stage(estate.night(), Pages(91, "anomalous", name="another"))
    assert (other.anomaly, other.applied) == (False, 91)
    accepted = run_stage(estate.night(), Pages(95, "accepted"), accept=True)
    assert (accepted.anomaly, accepted.applied) == (False, 95)
    mean = (7 * 30 + 95) / 8
    assert run_stage(estate.night(), Pages(99, "x"), dry_run=True).limit == 3 * mean


def test_a_kill_between_plan_and_apply_leaves_nothing(
    estate: Estate, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def killed(*args: object, **kwargs: object) -> None:
        raise Killed

    files = estate.files()
    with monkeypatch.context() as patched:
        patched.setattr("agentm_assets.dreaming.run._apply", killed)
        with pytest.raises(Killed):
            run_stage(estate.night(), Pages(2))
    assert estate.files() == files
    assert run_stage(estate.night(), Pages(2)).applied == 2


def test_a_kill_while_applying_is_finished_by_the_next_run(estate: Estate) -> None:
    class Killed(BaseException):
        pass

    calls = 0

    def build(held: bytes | None) -> bytes:
        nonlocal calls
        calls += 1
        if calls == 5:  # three while planning, the second while applying
            raise Killed
        return b"text\n"

    with pytest.raises(Killed):
        run_stage(estate.night(), Pages(3, build=build))
    report = run_stage(estate.night(), Pages(3, "text"))
    assert report.applied == 2
    assert estate.git("status", "--porcelain", "Agent") == ""


def test_reasons_are_counted_and_the_rest_is_written(estate: Estate) -> None:
    def build(held: bytes | None) -> bytes:
        if held is not None:
            raise Leave("edited-by-hand")
        return b"text\n"

    estate.write("Agent/memory/mocs/p1.md", "mine\n")
    stage = Pages(3, build=build)
    report = run_stage(estate.night(), stage)
    assert (report.applied, dict(report.skipped)) == (2, {"edited-by-hand": 1})
    assert estate.text("Agent/memory/mocs/p1.md") == "mine\n"
    assert stage.settled[0].failed == {"Agent/memory/mocs/p1.md": "edited-by-hand"}


def test_what_needs_another_change_waits_for_it(estate: Estate) -> None:
    class Pair(Pages):
        def plan(self, night: Night) -> Plan:
            first = Change(Locator("Agent/memory/mocs/a.md"), "new", lambda held: b"a\n")
            second = Change(
                Locator("Agent/memory/mocs/b.md"),
                "new",
                lambda held: b"b\n",
                needs=(str(first.locator),),
            )
            return Plan((first, second))

    estate.write("Agent/memory/mocs/a.md", "taken\n")
    report = run_stage(estate.night(), Pair(0))
    assert dict(report.skipped) == {"name-taken": 1, "needs-another": 1}
    assert not (estate.root / "Agent/memory/mocs/b.md").exists()
    (estate.root / "Agent/memory/mocs/a.md").unlink()
    estate.limits = DreamingTable(mutations_per_night=0)
    held = run_stage(estate.night(), Pair(0))
    assert (held.held_by_cap, held.applied) == (2, 0)
    estate.limits = DreamingTable()
    assert run_stage(estate.night(), Pair(0)).applied == 2


def test_without_git_nothing_is_changed(estate: Estate) -> None:
    (estate.root / ".git").rename(estate.root / "elsewhere")
    with pytest.raises(RepositoryRequired):
        run_stage(estate.night(), Pages(1))
    assert not (estate.root / "Agent").exists()


def test_dead_letters_surface_once_and_outlive_the_index(estate: Estate) -> None:
    night = estate.night()
    with night.index() as connection:
        queue.enqueue(
            connection, "rollups", [("person:jan", "new"), ("person:eva", "new")], night.now
        )
        for _ in range(3):
            item = next(
                each
                for each in queue.drain(connection, "rollups", 9, night.now)
                if each.target == "person:jan"
            )
            queue.failed(connection, item, "schema")
    report = run_stage(night, Pages(0))
    assert report.parked == ("rollups: person:jan (schema)",)
    assert run_stage(estate.night(), Pages(0)).parked == ()
    assert len(saved_queue.dead_letters(estate.backend)) == 1
    assert estate.git("status", "--porcelain") == ""
    for gone in (estate.location.index_dir, estate.location.log_dir):  # the cache; then all of it
        saved = {file.name: file.read_bytes() for file in gone.glob("*") if file.is_file()}
        assert saved
        for name in saved:
            (gone / name).unlink()
        estate.location.duckdb_file.unlink(missing_ok=True)
        night = estate.night()
        assert run_stage(night, Pages(0)).parked == ()
        with night.index() as connection:
            rows = {row.target: row for row in queue.rows(connection)}
        assert rows["person:jan"].state == "dead"
        if gone == estate.location.index_dir:
            assert rows["person:eva"].enqueued == queue.moment(estate.now)


def test_a_torn_record_spoils_no_other(estate: Estate) -> None:
    run_stage(estate.night(), Pages(1))
    with (estate.location.log_dir / records.FILE_NAME).open("ab") as file:
        file.write(b'{"v": 1, "night": "to')
    run_stage(estate.night(), Pages(1, "two"))
    assert [night.applied for night in records.nights(estate.location)] == [1, 1]
    assert [n.night for n in records.nights(estate.location, estate.night().now)] == []
