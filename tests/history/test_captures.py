"""What the background commits: captures, what killed runs left, deletions on a second look."""

import os
import re
import signal
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.capture import journal
from agentm_assets.capture.journal import JournalEntry
from agentm_assets.history import captures as module
from agentm_assets.history.captures import SECOND_LOOK_SECONDS, Standing, settle, standing
from agentm_assets.history.outcome import Committed, GitTrouble, NoRepository
from agentm_assets.history.pending import abandoned, pending_of
from agentm_assets.history.revert import revert
from agentm_assets.history.revert_log import LOG, Change, read_log
from agentm_assets.history.run import begin
from agentm_assets.history.runs import recent_captures
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import ABSENT, StorageError, content_hash

Place = Any  # the class in conftest.py, which cannot be imported from here

ROOT = Path(__file__).resolve().parents[2]
KETTLE = "Agent/memory/semantic/kettle.md"


def capture(
    place: Place, path: str, data: bytes = b"a note\n", *, entered: bytes | None = None
) -> None:
    """As the capture command does: the file, then the line."""
    if not place.backend.exists(Locator(path)):
        place.backend.write_bytes(Locator(path), data, expect=ABSENT)
    written = content_hash(data if entered is None else entered)
    journal.append(place.location, JournalEntry(path, written, "", "2026-04-12T08:15:00Z", "agent"))


def settled(place: Place) -> Any:
    return settle(
        place.location, place.backend, now=place.clock(), run_id="run-1", rules_hash="abc"
    )


def test_captures_are_committed_once_and_nothing_beside_them(place: Place) -> None:
    capture(place, "Agent/memory/semantic/one.md")
    capture(place, "Agent/memory/semantic/two.md")
    place.write("mine.md", b"mine\n")
    place.write(KETTLE, b"edited by hand\n")
    assert standing(place.location) == Standing(
        2, "captures not in git yet: 2; the next pass commits them (agentm index)"
    )
    done = settled(place)
    assert (done.captures, done.text) == (2, "captures committed: 2")
    assert place.files_of() == {"Agent/memory/semantic/one.md", "Agent/memory/semantic/two.md"}
    assert place.git("log", "-1", "--format=%an|%B").strip() == (
        "agentm-capture|Capture 2 notes\n\n"
        "Agentm-Run: run-1\nAgentm-Pass: capture\nAgentm-Rules: abc"
    )
    assert sorted(place.status()) == [f" M {KETTLE}", "?? mine.md"]
    assert standing(place.location) == Standing(0, "every capture is in git")
    again = settled(place)
    assert (again.captures, again.text, again.outcome) == (0, "nothing to do", Committed(None))
    assert len(place.subjects()) == 2


def test_a_capture_that_was_edited_before_its_commit_is_committed_as_it_is(place: Place) -> None:
    capture(place, "one.md")
    place.write("one.md", b"a note, and more by hand\n")
    assert settled(place).captures == 1
    assert place.git("show", "HEAD:one.md") == "a note, and more by hand\n"


def test_an_edit_of_a_note_that_git_has_is_the_operators(place: Place) -> None:
    capture(place, "one.md")
    settled(place)
    place.write("one.md", b"edited by hand\n")
    capture(place, "one.md", entered=b"captured again, before the edit\n")
    assert isinstance(settled(place).outcome, Committed)
    assert place.git("show", "HEAD:one.md") == "a note\n"
    assert place.status() == [" M one.md"]


def test_a_note_that_was_captured_again_is_committed_with_what_that_changed(place: Place) -> None:
    capture(place, "one.md")
    settled(place)
    place.write("one.md", b"a note, twice\n")
    capture(place, "one.md", entered=b"a note, twice\n")
    settled(place)
    assert place.git("show", "HEAD:one.md") == "a note, twice\n"
    assert place.status() == []


def test_a_capture_that_is_gone_again_is_left_out_on_a_second_look(place: Place) -> None:
    capture(place, "one.md")
    capture(place, "two.md")
    (place.root / "one.md").unlink()
    assert settled(place).captures == 1
    assert place.files_of() == {"two.md"}
    assert standing(place.location).uncommitted == 1
    place.clock.pass_by(SECOND_LOOK_SECONDS - 1)
    assert settled(place).waiting == 1
    place.clock.pass_by(1)
    assert settled(place).waiting == 0
    assert standing(place.location).uncommitted == 0


def test_a_capture_that_was_away_for_a_pass_is_committed_when_it_is_back(place: Place) -> None:
    capture(place, "one.md")
    (place.root / "one.md").rename(place.root / "aside")
    assert settled(place).captures == 0
    (place.root / "aside").rename(place.root / "one.md")
    assert settled(place).captures == 1
    assert place.status() == []


NOTE = b"---\ntype: reference\ncaptured: 2026-04-12T08:15:00Z\nslug: %b\n---\nText.\n"


@pytest.mark.parametrize(
    ("path", "data", "is_capture"),
    [
        ("Agent/memory/semantic/a.md", NOTE % b"a", True),
        ("agent/Memory/a.md", NOTE % b"a", True),
        ("standards/a.md", NOTE % b"a", True),
        ("projects/x/docs/a.md", NOTE % b"a", True),
        ("projects/x/a.md", NOTE % b"a", False),
        ("Agent/memory/semantic/a.md", NOTE % b"b", False),
        ("Agent/memory/semantic/a.md", (NOTE % b"a").replace(b"captured", b"updated"), False),
        ("Agent/memory/semantic/a.md", b"by hand\n", False),
        ("Agent/memory/semantic/a.txt", NOTE % b"a", False),
        ("calendar/a.md", NOTE % b"a", False),
        ("personal/a.md", NOTE % b"a", False),
    ],
)
def test_a_capture_that_no_journal_lists_is_committed_and_nobody_elses_note(
    make_place: Callable[..., Place], path: str, data: bytes, is_capture: bool
) -> None:
    place = make_place(first=False)
    place.write("hello.md", b"hello\n")
    place.commit_all()
    place.write(path, data)
    assert settled(place).captures == is_capture
    assert (place.files_of() == {path}) is is_capture
    assert settled(place).captures == 0


def test_a_capture_that_the_operator_ignores_or_takes_out_of_git_is_not_put_back(
    place: Place,
) -> None:
    place.write("Agent/memory/semantic/a.md", NOTE % b"a")
    place.write("Agent/memory/semantic/b.md", NOTE % b"b")
    place.write(".gitignore", b"b.md\n")
    place.git("add", ".gitignore", "Agent/memory/semantic/a.md")
    place.git("commit", "-q", "-m", "Mine")
    place.git("rm", "-q", "--cached", "Agent/memory/semantic/a.md")
    assert settled(place).captures == 0
    assert place.subjects() == ["Mine", "Start"]


def test_one_capture_that_can_not_be_committed_is_named_and_holds_up_no_other(place: Place) -> None:
    place.write("sub/.git", b"gitdir: elsewhere\n")
    capture(place, "sub/docs/a.md")
    capture(place, "one.md")
    capture(place, "two.md")
    (place.root / "one.md").unlink()
    (place.root / "one.md").symlink_to(place.root / KETTLE)
    done = settled(place)
    assert (done.captures, done.waiting) == (1, 2)
    assert place.files_of() == {"two.md"}
    assert isinstance(done.outcome, Committed)
    assert len(done.outcome.left_out) == 2
    assert done.remark is not None
    assert "sub is a git repository of its own" in done.remark
    assert "2 of them can't be" in standing(place.location).text
    capture(place, "three.md")
    assert settled(place).captures == 1
    place.clock.pass_by(SECOND_LOOK_SECONDS)
    assert settled(place).waiting == 2
    (place.root / "one.md").unlink()
    place.write("one.md", b"a note\n")
    assert (settled(place).captures, standing(place.location).uncommitted) == (1, 1)


def test_what_git_is_told_to_ignore_is_named_and_does_not_stop_the_rest(place: Place) -> None:
    place.write(".gitignore", b"one.md\n")
    place.commit_all()
    capture(place, "one.md")
    capture(place, "two.md")
    done = settled(place)
    assert "one.md" in done.text
    assert place.files_of() == {"two.md"}
    assert standing(place.location).uncommitted == 0


def test_captures_wait_while_git_is_in_the_midst_of_something(place: Place) -> None:
    capture(place, "one.md")
    place.git("checkout", "-q", "--detach")
    done = settled(place)
    assert isinstance(done.outcome, GitTrouble)
    assert done.captures == 0
    assert standing(place.location).uncommitted == 1
    assert "detached HEAD" in standing(place.location).text
    place.git("checkout", "-q", "main")
    assert place.read("one.md") == b"a note\n"
    assert settled(place).captures == 1


def test_captures_wait_while_there_is_no_repository(make_place: Callable[..., Place]) -> None:
    place = make_place(repository=False)
    capture(place, "one.md")
    done = settled(place)
    assert isinstance(done.outcome, NoRepository)
    assert "git init" in done.text
    assert standing(place.location) == Standing(1, done.text)
    place.git("init", "-q")
    assert settled(place).captures == 1


def test_more_captures_than_one_commit_holds(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ONE_COMMIT", 2)
    for number in range(5):
        capture(place, f"{number}.md", f"{number}\n".encode())
    assert settled(place).captures == 5
    assert place.subjects() == ["Capture 4.md", "Capture 2 notes", "Capture 2 notes", "Start"]
    assert place.status() == []


_CAPTURING = """
import os, sys
from agentm_assets.capture.journal import JournalEntry, append
from agentm_assets.config.vault import locate
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import ABSENT, content_hash
from agentm_assets.storage.selection import open_backend
location = locate(os.environ)
backend = open_backend(location)
for number in range(40):
    path, data = f"c/{sys.argv[1]}-{number}.md", f"{sys.argv[1]} {number}".encode()
    backend.write_bytes(Locator(path), data, expect=ABSENT)
    append(location, JournalEntry(path, content_hash(data), "", "t", "agent"))
"""

_SETTLING = """
import os, sys
from datetime import UTC, datetime
from agentm_assets.config.vault import locate
from agentm_assets.history.captures import settle
from agentm_assets.storage.selection import open_backend
location = locate(os.environ)
backend = open_backend(location)
for turn in range(4):
    done = settle(location, backend, now=datetime.now(UTC), run_id=f"run-{sys.argv[1]}-{turn}")
    assert done.text == "nothing to do" or done.captures, done
"""


@pytest.fixture
def child_env(place: Place, tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "PYTHONPATH": str(ROOT),
        "AGENTM_VAULT": str(place.root),
        **{f"XDG_{n}_HOME": str(tmp_path / n.lower()) for n in ("STATE", "CACHE", "DATA")},
    }


def test_passes_and_captures_at_once_make_one_line_of_history_and_lose_nobodys_note(
    place: Place, child_env: dict[str, str]
) -> None:
    def started(code: str, name: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, "-c", code, name], env=child_env)

    children = [
        *(started(_CAPTURING, name) for name in ("x", "y", "z")),
        *(started(_SETTLING, name) for name in ("1", "2")),
    ]
    place.write("mine.md", b"mine\n")
    place.git("add", "mine.md")
    assert [child.wait(timeout=100) for child in children] == [0] * 5
    settled(place)
    parents = place.git("log", "--format=%P").split("\n")[:-1]
    assert all(len(line.split()) <= 1 for line in parents)
    held = set(place.git("ls-tree", "-r", "--name-only", "HEAD").split("\n"))
    assert {f"c/{name}-{number}.md" for name in "xyz" for number in range(40)} <= held
    assert place.status() == ["A  mine.md"]
    added = place.git("log", "--diff-filter=A", "--name-only", "--format=", "--", "c").split()
    assert len(added) == len(set(added)) == 120
    place.git("fsck", "--strict")


_KILLED = """
import os, sys
from agentm_assets.config.vault import locate
from agentm_assets.history import run as run_module
from agentm_assets.history.run import begin
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.selection import open_backend
location = locate(os.environ)
def wait(*_, **__):
    print("ready", flush=True)
    sys.stdin.read()
where = sys.argv[1]
if where == "log":
    run_module.revert_log.append = wait
elif where == "commit":
    run_module.commit_changes = wait
with begin(location, open_backend(location), pass_name="enrich", run_id="r-1") as run:
    run.rewrite(Locator("Agent/memory/semantic/kettle.md"), lambda old: old + b"More.\\n")
    if where == "block":
        wait()
"""


@pytest.mark.parametrize("where", ["block", "log", "commit"])
def test_what_a_killed_run_wrote_is_logged_and_committed_by_the_next_pass(
    place: Place, child_env: dict[str, str], where: str
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", _KILLED, where],
        env=child_env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    before = settled(place) if where == "block" else None
    assert before is None or before.recovered == 0, "a run that lives was taken for a dead one"
    child.send_signal(signal.SIGKILL)
    child.wait()
    done = settled(place)
    assert done.recovered == 1
    assert place.status() == []
    assert place.git("log", "-1", "--format=%an|%s").strip() == f"agentm-enrich|Enrich {KETTLE}"
    assert [change.run for change in read_log(place.backend)[0]] == ["r-1"]
    assert settled(place).recovered == 0


def test_what_git_could_not_serve_is_committed_when_it_can(place: Place) -> None:
    place.git("checkout", "-q", "--detach")
    with begin(place.location, place.backend, pass_name="enrich", run_id="r-1") as run:
        run.rewrite(Locator(KETTLE), lambda old: old + b"More.\n")
    assert isinstance(run.outcome, GitTrouble)
    assert isinstance(settled(place).outcome, GitTrouble)
    place.git("checkout", "-q", "main")
    assert settled(place).recovered == 1
    assert place.status() == []
    assert place.files_of() == {KETTLE, LOG.key}
    assert len(read_log(place.backend)[0]) == 1


def announced(place: Place, path: str, before: bytes | None, after: bytes) -> Any:
    """What a run that was killed had said it would write."""
    old = None if before is None else content_hash(before)
    change = Change("r-1", "enrich", path, old, content_hash(after), None, "2026-04-12T08:15:00Z")
    pending = pending_of(place.location, "r-1")
    pending.enter(change)
    pending.leave()
    assert pending.file.exists()
    return pending


@pytest.mark.parametrize("path", [KETTLE, "new.md"])
def test_a_write_that_was_announced_and_never_made_is_not_logged(place: Place, path: str) -> None:
    before = place.read(path) if path == KETTLE else None
    pending = announced(place, path, before, b"never written")
    done = settled(place)
    assert (done.recovered, done.outcome) == (0, Committed(None))
    assert not pending.file.exists()
    assert read_log(place.backend) == ([], 0)
    assert place.subjects() == ["Start"]


@pytest.mark.parametrize("how", ["edited", "a link", "gone"])
def test_what_was_changed_after_a_killed_run_is_logged_and_left_to_its_author(
    place: Place, how: str
) -> None:
    pending = announced(place, KETTLE, place.read(KETTLE), b"By the run.\n")
    note = place.root / KETTLE
    note.unlink()
    if how == "edited":
        note.write_bytes(b"By the run.\nBy hand.\n")
    elif how == "a link":
        note.symlink_to("elsewhere.md")
    capture(place, "one.md")
    done = settled(place)
    assert (done.recovered, done.captures, isinstance(done.outcome, Committed)) == (1, 1, True)
    assert not pending.file.exists()
    assert [each[-len(KETTLE) :] for each in place.status()] == [KETTLE]
    back = revert(place.location, place.backend, "r-1", now=place.clock)
    assert [file.fate for file in back.files] == ["conflict"]


def test_a_run_that_is_beginning_is_not_taken_for_one_that_ended(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process looks between any two steps by which a run's file comes to be."""
    looked: list[int] = []

    def look(step: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*given: Any, **more: Any) -> Any:
            result = step(*given, **more)
            with monkeypatch.context() as undone:
                undone.undo()
                looked.append(len(abandoned(place.location)))
            return result

        return stepped

    pending = pending_of(place.location, "r-1")
    for name in ("open", "write", "fsync", "replace"):
        monkeypatch.setattr(os, name, look(getattr(os, name)))
    pending.enter(Change("r-1", "enrich", KETTLE, None, "1" * 64, None, "2026-04-12T08:15:00Z"))
    monkeypatch.undo()
    assert len(looked) > 3
    assert set(looked) == {0}
    pending.leave()
    assert [len(each.changes) for each in abandoned(place.location)] == [1]


def gone_once(place: Place, path: str = "one.md") -> None:
    capture(place, path)
    settled(place)
    (place.root / path).unlink()


def test_a_note_that_is_gone_is_so_in_git_on_a_second_look_only(place: Place) -> None:
    gone_once(place)
    first = settled(place)
    assert (first.deletions, first.held) == (0, 1)
    place.clock.pass_by(SECOND_LOOK_SECONDS - 1)
    assert settled(place).deletions == 0
    assert place.status() == [" D one.md"]
    place.clock.pass_by(1)
    assert settled(place).deletions == 1
    assert place.status() == []
    assert (
        place.git("log", "-1", "--format=%an|%s").strip() == "agentm-index|Note that one.md is gone"
    )
    assert settled(place).deletions == 0


def test_a_note_that_comes_back_is_looked_for_anew_when_it_goes_again(place: Place) -> None:
    gone_once(place)
    settled(place)
    place.write("one.md", b"a note\n")
    place.clock.pass_by(SECOND_LOOK_SECONDS)
    assert settled(place).held == 0
    (place.root / "one.md").unlink()
    assert settled(place).deletions == 0
    assert place.status() == [" D one.md"]


def test_a_clock_that_jumped_back_confirms_nothing_early(place: Place) -> None:
    gone_once(place)
    settled(place)
    place.clock.pass_by(-86400)
    assert settled(place).deletions == 0
    place.clock.pass_by(SECOND_LOOK_SECONDS - 1)
    assert settled(place).deletions == 0
    place.clock.pass_by(1)
    assert settled(place).deletions == 1


def test_the_operators_own_deletions_are_theirs(place: Place) -> None:
    gone_once(place, "staged.md")
    place.git("rm", "-q", "--cached", "staged.md")
    (place.root / KETTLE).unlink()
    for _ in range(2):
        assert settled(place).deletions == 0
        place.clock.pass_by(SECOND_LOOK_SECONDS)
    assert sorted(place.status()) == sorted([f" D {KETTLE}", "D  staged.md"])


def test_a_vault_that_is_away_loses_nothing(place: Place) -> None:
    for number in range(25):
        capture(place, f"{number}.md")
    settled(place)
    aside = place.root.with_name("aside")
    for _ in range(2):
        place.root.rename(aside)
        assert not isinstance(settled(place).outcome, Committed)  # the mount is not there
        place.root.mkdir()
        assert not isinstance(settled(place).outcome, Committed)  # the bare mount point is
        place.root.rmdir()
        aside.rename(place.root)
        place.clock.pass_by(SECOND_LOOK_SECONDS)
    (place.root / ".git").rename(place.root.with_name("git"))
    place.root.rename(aside)
    place.root.mkdir()
    (place.root.with_name("git")).rename(place.root / ".git")  # all is gone but the repository
    for _ in range(2):
        done = settled(place)
        assert (done.deletions, done.held) == (0, 26)
        place.clock.pass_by(SECOND_LOOK_SECONDS)
    assert place.subjects()[0] == "Capture 25 notes"


def test_a_folder_that_can_not_be_seen_says_nothing_of_its_notes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone_once(place)

    def unseen(self: object, locator: Locator) -> bool:
        raise StorageError("input/output error")

    monkeypatch.setattr(type(place.backend), "exists", unseen)
    for _ in range(2):
        assert settled(place).deletions == 0
        place.clock.pass_by(SECOND_LOOK_SECONDS)


def test_another_spelling_of_the_same_accents_is_no_deletion(place: Place) -> None:
    composed = unicodedata.normalize("NFC", "é.md")
    gone_once(place, composed)
    place.write(unicodedata.normalize("NFD", composed), b"a note\n")
    for _ in range(2):
        assert settled(place).deletions == 0
        place.clock.pass_by(SECOND_LOOK_SECONDS)


def test_a_killed_writers_remains_are_removed(place: Place) -> None:
    remnant = place.root / "Agent" / f".agentm-00000000-1-1-{'0' * 16}.tmp"
    remnant.write_bytes(b"half")
    os.utime(remnant, (0, 0))
    settled(place)
    assert not remnant.exists()


def test_commits_of_captures_are_listed_newest_first(place: Place) -> None:
    assert recent_captures(place.location, 20) == []
    odd = "Agent/memory/semantic/a b\n\u00e9.md"
    capture(place, odd)
    settled(place)
    first = place.git("rev-parse", "HEAD").strip()
    capture(place, "Agent/memory/semantic/two.md")
    capture(place, "Agent/memory/semantic/three.md")
    settled(place)
    # Neither what the operator commits nor what a run keeps is a capture.
    place.write("mine.md", b"mine\n")
    place.commit_all("Capture mine.md\n\nAgentm-Run: x\nAgentm-Pass: capture")
    place.write(KETTLE, b"edited by hand\n")
    with begin(place.location, place.backend, pass_name="forget", now=place.clock) as run:
        run.rewrite(Locator(KETTLE), lambda data: data + b"more\n")
    found = recent_captures(place.location, 20)
    assert [(each.run, each.pass_name, set(each.files)) for each in found] == [
        ("run-1", "capture", {"Agent/memory/semantic/two.md", "Agent/memory/semantic/three.md"}),
        ("run-1", "capture", {odd}),
    ]
    assert found[1].commit == first
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found[0].at)
    assert recent_captures(place.location, 1) == found[:1]
