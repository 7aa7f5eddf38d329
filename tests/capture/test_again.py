"""A text that is in the vault already: counted there once, whatever happens meanwhile."""

import json
import signal
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from agentm_assets.capture import journal, reinforcement
from agentm_assets.capture.reinforcement import work_off
from agentm_assets.capture.state import capture_state
from agentm_assets.capture.waiting import files_waiting
from agentm_assets.contract import properties
from agentm_assets.contract.edit import set_key
from agentm_assets.contract.rules import load_rules
from agentm_assets.index.publish import publish_facts
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.mutex import VaultMutex
from agentm_assets.storage.selection import open_vault
from agentm_assets.storage.vault_backend import VaultBackend

Desk = Any  # the class in conftest.py, which cannot be imported from here

NOW = datetime(2026, 8, 19, 23, 30, 5, tzinfo=timezone(timedelta(hours=2)))
LATER = NOW + timedelta(hours=1)
TEXT = "The kettle boils at 96 degrees."


def index(desk: Desk) -> None:
    location = desk.location
    store, vault = IndexStore(location.duckdb_file), open_vault(location)
    rules = load_rules(vault, desk.env)
    reconcile(vault, store, rules, ReconcileOptions(), lock_file=location.index_dir / "tables.lock")
    publish_facts(store, location.facts_file)


def count(desk: Desk, path: str) -> str | None:
    return properties.text_of(desk.properties(path), "occurrences")


@pytest.mark.parametrize("indexed", [False, True])
def test_an_exact_duplicate_reinforces_the_note(desk: Desk, indexed: bool) -> None:
    first = desk.capture(TEXT, title="Boiling")
    if indexed:
        index(desk)
        (desk.location.log_dir / "captures.jsonl").unlink()
    second = desk.capture(f"  {TEXT.replace(' ', '  ')}\n", now=LATER)
    assert second.duplicate_of == second.path == first.path
    assert (second.slug, second.captured, second.indexed) == ("boiling", first.captured, indexed)
    assert desk.notes() == [first.path]
    found = desk.properties(first.path)
    assert properties.text_of(found, "occurrences") == "2"
    assert properties.text_of(found, "updated") == "2026-08-20T00:30:05+02:00"
    assert desk.body(first.path) == TEXT.encode()
    desk.capture(TEXT)
    assert count(desk, first.path) == "3"


def test_new_names_and_tags_are_added_and_none_is_lost(desk: Desk) -> None:
    first = desk.capture(TEXT, tags=("lab",), aliases=("boiling point",))
    desk.capture(TEXT, tags=("Lab", "heat"), aliases=("Siedepunkt", "Boiling Point"))
    found = desk.properties(first.path)
    assert properties.tags(found) == ("lab", "heat")
    assert properties.aliases(found) == ("boiling point", "Siedepunkt")


def test_what_the_old_note_lacks_makes_a_new_one(desk: Desk) -> None:
    first = desk.capture(TEXT)
    for more in (
        {"source": "https://example.com/1"},
        {"source": "https://example.com/2"},
        {"instructions": "Heed this."},
    ):
        assert desk.capture(TEXT, **more).duplicate_of is None
    assert len(desk.notes()) == 4
    # What each has already is no reason.
    assert desk.capture(TEXT).duplicate_of == first.path


@pytest.mark.parametrize("indexed", [False, True])
def test_a_repeat_is_counted_on_the_copy_that_loses_nothing(desk: Desk, indexed: bool) -> None:
    desk.capture(TEXT)
    second = desk.capture(TEXT, source="https://example.com/1")
    third = desk.capture(TEXT, source="https://example.com/2", instructions="Heed this.")
    assert second.duplicate_of is third.duplicate_of is None
    if indexed:
        index(desk)
        (desk.location.log_dir / "captures.jsonl").unlink()
    for _ in range(2):
        again = desk.capture(TEXT, source="https://example.com/1")
        assert again.duplicate_of == second.path
        assert desk.capture(TEXT, instructions="Heed this.").duplicate_of == third.path
    assert count(desk, second.path) == count(desk, third.path) == "3"
    assert len(desk.notes()) == 3


@pytest.mark.parametrize("status", ["superseded", "expired"])
def test_a_tombstone_is_not_reinforced(desk: Desk, status: str) -> None:
    first = desk.capture(TEXT)
    desk.write(first.path, set_key(desk.data(first.path), "status", status))
    second = desk.capture(TEXT)
    assert second.duplicate_of is None
    assert second.path != first.path
    assert count(desk, first.path) is None


def test_the_file_itself_says_whether_it_still_holds_the_text(desk: Desk) -> None:
    first = desk.capture(TEXT)
    index(desk)
    desk.write(first.path, desk.data(first.path).replace(b"96", b"95"))
    assert desk.capture(TEXT).duplicate_of is None
    (desk.root / first.path).unlink()
    again = desk.capture("Something else entirely.")
    (desk.root / again.path).unlink()
    assert desk.capture("Something else entirely.").duplicate_of is None


def test_personal_notes_and_generated_pages_are_never_touched(desk: Desk) -> None:
    body = f"---\nstatus: active\n---\n{TEXT}"
    others = (
        "personal/tea.md",
        "Agent/memory/crystallized/tea.md",
        "standards/tea.md",
        "calendar/2026/2026-08-01_tea.md",
        "projects/x/charter.md",
        "loose.md",
    )
    for path in others:
        desk.write(path, body)
    index(desk)
    assert desk.capture(TEXT).duplicate_of is None
    assert all(desk.data(path) == body.encode() for path in others)


def test_a_note_that_cannot_be_edited_gets_a_sibling(desk: Desk) -> None:
    broken = f"---\nstatus: active\ntags: a\ntags: b\noccurrences: 1\noccurrences: 2\n---\n{TEXT}"
    desk.write("Agent/memory/semantic/2026/01/tea.md", broken)
    index(desk)
    assert desk.capture(TEXT).duplicate_of is None
    assert desk.data("Agent/memory/semantic/2026/01/tea.md") == broken.encode()


class TestTheLockIsTaken:
    """Another process writes to the vault: nobody waits, and nothing is forgotten."""

    def taken(self, desk: Desk) -> VaultMutex:
        return VaultMutex(desk.backend.identity, desk.location.locks_dir)

    def elsewhere(self, mutex: VaultMutex, work: Any) -> None:
        """Hold the lock in another thread, as another process would, while `work` runs here."""
        held, ended = threading.Event(), threading.Event()

        def hold() -> None:
            with mutex.held():
                held.set()
                ended.wait()

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait()
        try:
            work()
        finally:
            ended.set()
            holder.join()

    def test_the_count_follows_with_the_next_capture(self, desk: Desk) -> None:
        first = desk.capture(TEXT)

        def twice() -> None:
            for _ in range(2):
                again = desk.capture(TEXT)
                assert again.duplicate_of == first.path
                assert "next capture or pass" in again.remarks[0]
            assert capture_state(desk.location).reinforcements_waiting == 2
            assert count(desk, first.path) is None

        self.elsewhere(self.taken(desk), twice)
        desk.capture("Something else.")
        assert count(desk, first.path) == "3"
        assert capture_state(desk.location).reinforcements_waiting == 0
        desk.capture("A third thing.")
        assert count(desk, first.path) == "3"

    def test_or_with_the_next_pass(self, desk: Desk) -> None:
        first = desk.capture(TEXT)
        self.elsewhere(self.taken(desk), lambda: desk.capture(TEXT))
        assert work_off(desk.location, desk.backend, NOW) == 1
        assert count(desk, first.path) == "2"
        assert work_off(desk.location, desk.backend, NOW) == 0

    def test_a_new_note_needs_no_lock(self, desk: Desk) -> None:
        def fresh() -> None:
            assert desk.capture("Something else.").duplicate_of is None

        self.elsewhere(self.taken(desk), fresh)

    @pytest.mark.parametrize("how", ["gone", "changed", "expired"])
    def test_a_note_that_is_no_longer_so_is_left_and_the_count_dropped(
        self, desk: Desk, how: str
    ) -> None:
        first = desk.capture(TEXT)
        self.elsewhere(self.taken(desk), lambda: desk.capture(TEXT))
        if how == "gone":
            (desk.root / first.path).unlink()
        elif how == "changed":
            desk.write(first.path, desk.data(first.path) + b" Not on Sundays.")
        else:
            desk.write(first.path, set_key(desk.data(first.path), "status", "expired"))
        before = None if how == "gone" else desk.data(first.path)
        work_off(desk.location, desk.backend, NOW)
        assert capture_state(desk.location).reinforcements_waiting == 0
        assert sum(capture_state(desk.location).refusals.values()) == 1
        if before is not None:
            assert desk.data(first.path) == before


KILLED = """
import json, os, signal, sys
from datetime import datetime, timezone
from agentm_assets.capture import reinforcement
from agentm_assets.config.vault import locate
from agentm_assets.storage.selection import open_backend
location = locate(os.environ)
def die(*given, **more):
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "before the write":
    backend = open_backend(location)
    type(backend).write_bytes = die
else:
    backend = open_backend(location)
    reinforcement.append = die
reinforcement.work_off(location, backend, datetime.now(timezone.utc))
"""


def killed(desk: Desk, moment: str) -> None:
    """Let a process that works the reinforcements off be killed at that moment."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, moment], env=desk.env, check=False, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize("moment", ["before the write", "after the write"])
def test_a_kill_neither_loses_nor_doubles_a_count(desk: Desk, moment: str) -> None:
    first = desk.capture(TEXT)
    TestTheLockIsTaken().elsewhere(
        VaultMutex(desk.backend.identity, desk.location.locks_dir), lambda: desk.capture(TEXT)
    )
    killed(desk, moment)
    assert count(desk, first.path) == ("2" if moment == "after the write" else None)
    assert capture_state(desk.location).reinforcements_waiting == 1
    work_off(desk.location, desk.backend, LATER)
    assert count(desk, first.path) == "2"
    assert capture_state(desk.location).reinforcements_waiting == 0


def test_an_edit_after_the_kill_does_not_double_it_either(desk: Desk) -> None:
    first = desk.capture(TEXT)
    TestTheLockIsTaken().elsewhere(
        VaultMutex(desk.backend.identity, desk.location.locks_dir), lambda: desk.capture(TEXT)
    )
    killed(desk, "after the write")
    desk.write(first.path, set_key(desk.data(first.path), "summary", "by the operator"))
    work_off(desk.location, desk.backend, LATER)
    assert count(desk, first.path) == "2"


def test_eight_processes_count_together(desk: Desk) -> None:
    first = desk.capture(TEXT)
    running = [desk.start("capture", TEXT, "--json") for _ in range(8)]
    for process in running:
        said, complained = process.communicate(timeout=60)
        assert process.returncode == 0, complained
        assert json.loads(said)["duplicate_of"] == first.path
    work_off(desk.location, desk.backend, NOW)
    assert count(desk, first.path) == "9"
    assert capture_state(desk.location).reinforcements_waiting == 0


def test_where_nothing_can_be_put_down_a_new_note_keeps_the_text(desk: Desk) -> None:
    first = desk.capture(TEXT)
    (desk.location.log_dir / "reinforcements").write_text("in the way")
    second = desk.capture(TEXT)
    assert second.duplicate_of is None
    assert second.path != first.path


def put_down_twice(desk: Desk, path: str, *, at: str = "2026-08-20T00:00:00+02:00") -> list[Any]:
    """Two reinforcements of one second, as two captures at once leave them."""
    found = journal.not_committed(desk.location).entries
    body = next(entry.fingerprint for entry in found if entry.path == path)
    again = reinforcement.Reinforcement(path, body, at, (), ())
    return sorted(reinforcement.put_down(desk.location, again) for _ in range(2))


def test_a_lock_that_is_taken_at_the_last_moment_delays_no_capture(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is asked for once, by the write itself; between a look and the write it may go."""
    desk.capture(TEXT)
    asked: list[float | None] = []
    held = VaultMutex.held

    def noted(self: VaultMutex, timeout: float | None = None) -> Any:
        asked.append(timeout)
        return held(self, timeout)

    monkeypatch.setattr(VaultMutex, "held", noted)
    desk.capture(TEXT)
    assert asked == [0.0]


def test_a_kill_before_the_write_loses_nothing_when_another_of_that_second_comes(
    desk: Desk,
) -> None:
    first = desk.capture(TEXT)
    one, two = put_down_twice(desk, first.path)
    one.rename(one.with_name("99999999T000000-late.json"))  # the killed one sorts last
    two.rename(two.with_name("00000000T000000-early.json.kept"))
    killed(desk, "before the write")
    two.with_name("00000000T000000-early.json.kept").rename(two)
    work_off(desk.location, desk.backend, LATER)
    assert count(desk, first.path) == "3"


def test_what_another_state_folder_counted_meanwhile_is_not_taken_for_ones_own(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = desk.capture(TEXT)
    one, two = put_down_twice(desk, first.path)
    two.unlink()
    write = VaultBackend.write_bytes
    state: list[bytes] = []

    def late(self: Any, place: Any, data: bytes, *, expect: Any = None) -> str:
        if not state:
            state.append(data)
            write(self, place, data)  # the other's count, of the same second: the same bytes
        return write(self, place, data, expect=expect)

    monkeypatch.setattr(VaultBackend, "write_bytes", late)
    assert work_off(desk.location, desk.backend, NOW) == 1
    assert count(desk, first.path) == "3"
    assert not one.exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"path": "a.md"}', b"[" * 100_000, b"\xff", b'{"path": 1}'],
)
def test_a_file_that_is_no_reinforcement_is_set_aside_and_counted(
    desk: Desk, content: bytes
) -> None:
    first = desk.capture(TEXT)
    folder = desk.location.log_dir / "reinforcements"
    folder.mkdir()
    (folder / "00000000T000000-aa.json").write_bytes(content)
    (folder / "00000000T000000-bb.json").mkdir()
    assert desk.capture("Something else.").duplicate_of is None
    desk.capture(TEXT)
    assert count(desk, first.path) == "2"
    assert sorted(file.name for file in folder.iterdir() if file.suffix == ".unreadable") == [
        "00000000T000000-aa.json.unreadable",
        "00000000T000000-bb.json.unreadable",
    ]
    state = capture_state(desk.location)
    assert state.refusals == {"reinforcement-unreadable": 2}
    assert state.reinforcements_waiting == 0


def test_a_note_that_can_not_be_counted_in_holds_up_no_other(desk: Desk) -> None:
    one, two = desk.capture(TEXT), desk.capture("Something else.")

    def both() -> None:
        desk.capture(TEXT)
        desk.capture("Something else.", now=LATER)

    TestTheLockIsTaken().elsewhere(VaultMutex(desk.backend.identity, desk.location.locks_dir), both)
    (desk.root / one.path).rename(desk.root / "moved.md")
    (desk.root / one.path).symlink_to(desk.root / "moved.md")
    assert work_off(desk.location, desk.backend, NOW) == 1
    assert count(desk, two.path) == "2"
    assert capture_state(desk.location).reinforcements_waiting == 1


def test_a_folder_that_can_not_be_used_ends_no_capture_in_a_traceback(desk: Desk) -> None:
    desk.capture(TEXT)
    folder = desk.location.log_dir / "reinforcements"
    folder.mkdir()
    (folder / ".lock").mkdir()
    (folder / "00000000T000000-aa.json").write_bytes(b"")
    assert desk.capture("Something else.").duplicate_of is None


def test_the_same_bytes_of_another_are_not_taken_for_ones_own_after_a_busy_lock(desk: Desk) -> None:
    first = desk.capture(TEXT)
    for file in put_down_twice(desk, first.path)[1:]:
        file.unlink()

    def busy() -> None:
        assert work_off(desk.location, desk.backend, NOW) == 0

    TestTheLockIsTaken().elsewhere(VaultMutex(desk.backend.identity, desk.location.locks_dir), busy)
    (waiting,) = files_waiting(desk.location)
    tried = json.loads(waiting.read_bytes())
    other = reinforcement.Reinforcement(first.path, tried["fingerprint"], tried["at"], (), ())
    data, _ = reinforcement.reinforced(desk.data(first.path), other)
    desk.write(first.path, data)  # as a process with another state folder counts in that second
    assert work_off(desk.location, desk.backend, NOW) == 1
    assert count(desk, first.path) == "3"
