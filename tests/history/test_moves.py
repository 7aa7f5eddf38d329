"""A run that gives a file another name: logged, committed, taken back, and killed in between."""

import os
from typing import Any

import pytest

from agentm_assets.history.captures import settle
from agentm_assets.history.pending import pending_of
from agentm_assets.history.revert import revert
from agentm_assets.history.revert_log import GONE, Change, parse, read_log
from agentm_assets.history.run import begin
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import ABSENT, ConcurrentModificationError, content_hash

Place = Any  # the class in conftest.py, which cannot be imported from here
OLD = Locator("Agent/memory/semantic/kettle.md")
NEW = Locator("Agent/memory/procedural/boil.md")
RECORD = Locator("Agent/_meta/notes.jsonl")


def move(place: Place, data: bytes = b"new\n", run_id: str = "enrich-1") -> bytes:
    old = place.read(OLD.key)
    with begin(
        place.location, place.backend, pass_name="enrich", run_id=run_id, now=place.clock
    ) as run:
        run.move(OLD, NEW, data, expect=content_hash(old))
    return old


def test_a_move_is_one_commit_and_two_lines_of_the_log(place: Place) -> None:
    old = move(place)
    assert place.read(NEW.key) == b"new\n" and not (place.root / OLD.key).exists()
    assert place.files_of() == {OLD.key, NEW.key, "Agent/_meta/revert-log.jsonl"}
    assert place.status() == []
    changes, broken = read_log(place.backend)
    assert broken == 0
    by_path = {change.path: change for change in changes}
    assert by_path[OLD.key].before == content_hash(old) and by_path[OLD.key].after == GONE
    assert by_path[NEW.key].before is None and by_path[NEW.key].moved_from == OLD.key
    assert parse(by_path[NEW.key].line().encode()) == by_path[NEW.key]
    assert "moved_from" not in by_path[OLD.key].line()


def test_it_is_taken_back_and_made_again(place: Place) -> None:
    old = move(place)
    planned = revert(place.location, place.backend, "enrich-1", now=place.clock, dry_run=True)
    assert {(file.path, file.fate) for file in planned.files} == {
        (NEW.key, "restored"),
        (OLD.key, "left"),
    }
    done = revert(place.location, place.backend, "enrich-1", now=place.clock)
    assert place.read(OLD.key) == old and not (place.root / NEW.key).exists()
    assert place.status() == [] and not done.conflicts
    again = revert(place.location, place.backend, "enrich-1", now=place.clock)
    assert again.by is None and not again.conflicts
    revert(place.location, place.backend, str(done.by), now=place.clock)
    assert place.read(NEW.key) == b"new\n" and not (place.root / OLD.key).exists()


@pytest.mark.parametrize("commits", [1, 2])
def test_what_the_run_made_and_then_moved_expires_under_its_new_name(
    place: Place, commits: int
) -> None:
    made, named = Locator("Agent/memory/semantic/part.md"), Locator("Agent/memory/semantic/lid.md")
    note = b"---\ntype: reference\nstatus: unfiled\n---\nThe lid is tight.\n"
    filed = note.replace(b"unfiled", b"active")
    common = {"pass_name": "enrich", "run_id": "enrich-1", "now": place.clock}
    with begin(place.location, place.backend, **common) as run:
        run.write(made, note, expect=ABSENT)
        if commits == 1:
            run.move(made, named, filed, expect=content_hash(note))
    if commits == 2:
        with begin(place.location, place.backend, **common) as run:
            run.move(made, named, filed, expect=content_hash(note))
    expected = {(made.key, "done"), (named.key, "expired")}
    planned = revert(place.location, place.backend, "enrich-1", now=place.clock, dry_run=True)
    assert {(file.path, file.fate) for file in planned.files} == expected
    done = revert(place.location, place.backend, "enrich-1", now=place.clock)
    assert {(file.path, file.fate) for file in done.files} == expected
    assert place.read(named.key) == filed.replace(b"active", b"expired")
    assert not (place.root / made.key).exists() and place.status() == []
    assert revert(place.location, place.backend, "enrich-1", now=place.clock).by is None
    revert(place.location, place.backend, str(done.by), now=place.clock)
    assert place.read(named.key) == filed


def test_what_a_human_changed_under_the_new_name_is_not_moved(place: Place) -> None:
    move(place)
    place.write(NEW.key, b"mine\n")
    done = revert(place.location, place.backend, "enrich-1", now=place.clock)
    assert [file.path for file in done.conflicts] == [NEW.key]
    assert place.read(NEW.key) == b"mine\n" and not (place.root / OLD.key).exists()


def test_a_name_that_another_note_has_by_now_is_left_to_it(place: Place) -> None:
    move(place)
    place.write(OLD.key, b"another\n")
    planned = revert(place.location, place.backend, "enrich-1", now=place.clock, dry_run=True)
    assert {file.path for file in planned.conflicts} == {NEW.key, OLD.key}
    done = revert(place.location, place.backend, "enrich-1", now=place.clock)
    assert {file.path for file in done.conflicts} == {NEW.key, OLD.key}
    assert place.read(OLD.key) == b"another\n" and place.read(NEW.key) == b"new\n"


def test_what_was_never_committed_is_kept_in_git_before_it_moves(place: Place) -> None:
    place.write(OLD.key, b"uncommitted words\n")
    move(place)
    revert(place.location, place.backend, "enrich-1", now=place.clock)
    assert place.read(OLD.key) == b"uncommitted words\n"


def test_a_name_that_is_taken_and_bytes_that_differ_are_refused(place: Place) -> None:
    place.write(NEW.key, b"there\n")
    with pytest.raises(FileExistsError):
        move(place)
    (place.root / NEW.key).unlink()
    with (
        pytest.raises(ConcurrentModificationError),
        begin(place.location, place.backend, pass_name="enrich", now=place.clock) as run,
    ):
        run.move(OLD, NEW, b"new\n", expect=content_hash(b"other bytes"))
    assert (place.root / OLD.key).exists() and not (place.root / NEW.key).exists()
    assert read_log(place.backend) == ([], 0)


@pytest.mark.parametrize("stage", ["before", "two-names", "new-name", "written"])
def test_a_kill_loses_nothing_and_the_next_pass_ends_the_move(place: Place, stage: str) -> None:
    old = place.read(OLD.key)
    base = place.git("rev-parse", "HEAD").strip()
    pending = pending_of(place.location, "enrich-1")
    common = {"run": "enrich-1", "pass_name": "enrich", "at": "2026-04-12T08:15:00Z"}
    pending.enter(Change(path=OLD.key, before=content_hash(old), after=GONE, base=base, **common))
    arrived = {"path": NEW.key, "before": None, "base": None, "moved_from": OLD.key, **common}
    pending.enter(Change(after=content_hash(old), **arrived))
    pending.enter(Change(after=content_hash(b"new\n"), **arrived))
    pending.leave()
    (place.root / NEW.key).parent.mkdir(parents=True)
    if stage != "before":
        os.link(place.root / OLD.key, place.root / NEW.key)
    if stage in ("new-name", "written"):
        (place.root / OLD.key).unlink()
    if stage == "written":
        place.write(NEW.key, b"new\n")
    settle(place.location, place.backend, now=place.clock(), run_id="index-1")
    assert place.status() == []
    if stage == "before":
        assert place.read(OLD.key) == old and not (place.root / NEW.key).exists()
        return
    assert not (place.root / OLD.key).exists()
    assert place.read(NEW.key) == (b"new\n" if stage == "written" else old)
    revert(place.location, place.backend, "enrich-1", now=place.clock)
    assert place.read(OLD.key) == old and not (place.root / NEW.key).exists()


def test_two_files_of_equal_bytes_are_not_one(place: Place) -> None:
    old = place.read(OLD.key)
    place.write(NEW.key, old)
    with pytest.raises(FileExistsError):
        place.backend.rename_unlinked(OLD, NEW, expect=content_hash(old))
    assert place.read(OLD.key) == place.read(NEW.key) == old


def test_a_record_is_committed_with_the_run_and_not_taken_back(place: Place) -> None:
    with begin(
        place.location, place.backend, pass_name="enrich", run_id="enrich-1", now=place.clock
    ) as run:
        run.record(RECORD, [b'{"a":1}', b'{"a":1}'])
    assert place.files_of() == {RECORD.key}
    with begin(
        place.location, place.backend, pass_name="enrich", run_id="enrich-2", now=place.clock
    ) as run:
        run.record(RECORD, [b'{"a":1}', b'{"b":2}'])
        run.rewrite(OLD, lambda data: data + b"more\n")
    assert place.read(RECORD.key) == b'{"a":1}\n{"a":1}\n{"b":2}\n'
    revert(place.location, place.backend, "enrich-2", now=place.clock)
    assert place.read(RECORD.key).endswith(b'{"b":2}\n')
    assert place.status() == []


def test_a_commit_says_which_version_of_the_pass_it_was(place: Place) -> None:
    with begin(
        place.location, place.backend, pass_name="enrich", version="judge-1", now=place.clock
    ) as run:
        run.rewrite(OLD, lambda data: data + b"more\n")
    assert "Agentm-Version: judge-1\n" in place.git("log", "-1", "--format=%B")
