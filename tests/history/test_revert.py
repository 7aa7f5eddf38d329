"""Taking a run back: what nobody touched is restored, what somebody changed is left."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentm_assets.history.outcome import Committed
from agentm_assets.history.revert import UnknownRun, revert
from agentm_assets.history.revert_log import LOG, Change, append, parse, read_log
from agentm_assets.history.run import begin
from agentm_assets.history.runs import recent_runs
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import ABSENT, StorageError

Place = Any  # the class in conftest.py, which cannot be imported from here

ROOT = Path(__file__).resolve().parents[2]
MEMORY = b"---\r\ntype: reference # kept\r\nstatus: active\r\n---\r\nBody.\r\n"


def ran(place: Place, *paths: str, run_id: str = "r-1", line: bytes = b"By a pass.\n") -> None:
    """A run that adds a line to each of the files."""
    with begin(
        place.location, place.backend, pass_name="enrich", run_id=run_id, now=place.clock
    ) as run:
        for path in paths:
            run.rewrite(Locator(path), lambda old: old + line)
    assert isinstance(run.outcome, Committed)


def take_back(place: Place, run_id: str = "r-1", **more: bool) -> Any:
    place.clock.pass_by(60)
    return revert(place.location, place.backend, run_id, now=place.clock, **more)


def fates(done: Any) -> dict[str, str]:
    return {file.path: file.fate for file in done.files}


@pytest.fixture
def three(place: Place) -> Place:
    for name in "abc":
        place.write(f"{name}.md", f"{name} at first\r\n".encode())
    place.commit_all()
    return place


def everything(place: Place) -> dict[str, bytes]:
    return {
        str(file.relative_to(place.root)): file.read_bytes()
        for file in place.root.rglob("*")
        if file.is_file() and ".git" not in file.parts
    }


def test_after_a_human_edited_one_of_three_two_are_restored_and_nothing_is_overwritten(
    three: Place,
) -> None:
    ran(three, "a.md", "b.md", "c.md")
    edited = three.read("b.md") + b"By hand.\n"
    three.write("b.md", edited)
    done = take_back(three)
    assert fates(done) == {"a.md": "restored", "b.md": "conflict", "c.md": "restored"}
    assert three.read("a.md") == b"a at first\r\n"
    assert three.read("b.md") == edited
    assert three.read("c.md") == b"c at first\r\n"
    assert isinstance(done.outcome, Committed)
    assert three.files_of() == {"a.md", "c.md", LOG.key}
    assert three.git("log", "-1", "--format=%an|%s").strip() == "agentm-revert|Revert r-1"
    assert three.status() == [" M b.md"]


def test_a_second_time_there_is_nothing_to_do_but_the_conflicts(three: Place) -> None:
    ran(three, "a.md", "b.md")
    three.write("b.md", b"By hand.\n")
    take_back(three)
    before, head = everything(three), three.git("rev-parse", "HEAD")
    again = take_back(three)
    assert fates(again) == {"a.md": "done", "b.md": "conflict"}
    assert (again.by, again.outcome) == (None, None)
    assert (everything(three), three.git("rev-parse", "HEAD")) == (before, head)


def test_a_conflict_that_the_human_took_back_is_restored_the_next_time(three: Place) -> None:
    ran(three, "a.md")
    by_the_pass = three.read("a.md")
    three.write("a.md", b"By hand.\n")
    assert fates(take_back(three)) == {"a.md": "conflict"}
    three.write("a.md", by_the_pass)
    assert fates(take_back(three)) == {"a.md": "restored"}
    assert three.read("a.md") == b"a at first\r\n"


def test_a_revert_is_undone_by_reverting_it(three: Place) -> None:
    ran(three, "a.md", "b.md")
    by_the_pass = everything(three)
    first = take_back(three)
    second = take_back(three, first.by)
    assert fates(second) == {"a.md": "restored", "b.md": "restored"}
    third = take_back(three, second.by)
    assert three.read("a.md") == b"a at first\r\n"
    take_back(three, third.by)
    for path in ("a.md", "b.md"):
        assert three.read(path) == by_the_pass[path]


def test_a_dry_run_tells_what_would_come_and_writes_nothing(three: Place) -> None:
    ran(three, "a.md", "b.md")
    three.write("b.md", b"By hand.\n")
    before, status = everything(three), three.status()
    told = take_back(three, dry_run=True)
    assert (everything(three), three.status()) == (before, status)
    assert fates(told) == fates(take_back(three))


def test_what_the_run_made_is_marked_or_left_and_never_deleted(place: Place) -> None:
    with begin(
        place.location, place.backend, pass_name="enrich", run_id="r-1", now=place.clock
    ) as run:
        run.write(Locator("Agent/memory/semantic/new.md"), MEMORY, expect=ABSENT)
        run.write(Locator("calendar/trace.md"), b"---\nkind: conversation\n---\n", expect=ABSENT)
        run.write(Locator("picture.svg"), b"<svg/>", expect=ABSENT)
        run.write(Locator("later-gone.md"), MEMORY, expect=ABSENT)
    (place.root / "later-gone.md").unlink()
    done = take_back(place)
    assert fates(done) == {
        "Agent/memory/semantic/new.md": "expired",
        "calendar/trace.md": "left",
        "picture.svg": "left",
        "later-gone.md": "done",
    }
    assert place.read("Agent/memory/semantic/new.md") == MEMORY.replace(b"active", b"expired")
    assert place.read("picture.svg") == b"<svg/>"
    assert fates(take_back(place))["Agent/memory/semantic/new.md"] == "done"
    again = take_back(place, done.by)
    assert fates(again) == {"Agent/memory/semantic/new.md": "restored"}
    assert place.read("Agent/memory/semantic/new.md") == MEMORY


def test_a_note_that_is_gone_since_is_a_conflict_and_is_not_made_again(three: Place) -> None:
    ran(three, "a.md")
    (three.root / "a.md").unlink()
    assert fates(take_back(three)) == {"a.md": "conflict"}
    assert not (three.root / "a.md").exists()


def test_a_link_in_the_place_of_a_note_is_not_written_through(three: Place, tmp_path: Path) -> None:
    ran(three, "a.md")
    outside = tmp_path / "outside.md"
    outside.write_bytes(three.read("a.md"))
    (three.root / "a.md").unlink()
    (three.root / "a.md").symlink_to(outside)
    assert fates(take_back(three)) == {"a.md": "conflict"}
    assert outside.read_bytes().endswith(b"By a pass.\n")


def test_an_edit_in_the_last_moment_is_a_conflict_too(
    three: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentm_assets.history import revert as module

    ran(three, "a.md")
    real = module._image

    def edited_meanwhile(*arguments: Any) -> bytes | None:
        three.write("a.md", b"By hand, just now.\n")
        return real(*arguments)

    monkeypatch.setattr(module, "_image", edited_meanwhile)
    assert fates(take_back(three)) == {"a.md": "conflict"}
    assert three.read("a.md") == b"By hand, just now.\n"


def test_an_older_run_under_a_newer_one_is_a_conflict_until_that_is_taken_back(
    three: Place,
) -> None:
    ran(three, "a.md", run_id="r-1")
    ran(three, "a.md", run_id="r-2", line=b"By another pass.\n")
    assert fates(take_back(three, "r-1")) == {"a.md": "conflict"}
    assert fates(take_back(three, "r-2")) == {"a.md": "restored"}
    assert fates(take_back(three, "r-1")) == {"a.md": "restored"}
    assert three.read("a.md") == b"a at first\r\n"


def test_a_run_in_several_steps_is_taken_back_as_one(three: Place) -> None:
    ran(three, "a.md", run_id="r-1")
    ran(three, "a.md", "b.md", run_id="r-1", line=b"Second step.\n")
    assert fates(take_back(three)) == {"a.md": "restored", "b.md": "restored"}
    assert three.read("a.md") == b"a at first\r\n"


@pytest.mark.parametrize("setting", ["core.autocrlf", "attributes", "none"])
def test_mixed_line_ends_come_back_byte_for_byte_whatever_git_converts(
    place: Place, setting: str
) -> None:
    if setting == "core.autocrlf":
        place.git("config", "core.autocrlf", "true")
    elif setting == "attributes":
        place.write(".gitattributes", b"*.md text eol=crlf\n")
        place.commit_all()
    mixed = b"one\r\ntwo\nthree\r\n"
    place.write("mixed.md", mixed)
    ran(place, "mixed.md")
    assert fates(take_back(place)) == {"mixed.md": "restored"}
    assert place.read("mixed.md") == mixed


def test_what_git_was_told_to_ignore_is_a_conflict(place: Place) -> None:
    place.write(".gitignore", b"diary.md\n")
    place.commit_all()
    place.write("diary.md", b"mine\n")
    ran(place, "diary.md")
    done = take_back(place)
    assert fates(done) == {"diary.md": "conflict"}
    assert "git does not have" in done.files[0].reason


def test_an_unknown_run_is_named_with_the_way_to_find_one(place: Place) -> None:
    with pytest.raises(UnknownRun, match="agentm history"):
        take_back(place, "no-such-run")


def test_a_torn_last_line_is_passed_over_and_spoils_no_other(three: Place) -> None:
    ran(three, "a.md")
    torn = three.read(LOG.key) + b'{"v":1,"run":"r-torn","path":"c.m'
    three.write(LOG.key, torn)
    changes, broken = read_log(three.backend)
    assert ([change.run for change in changes], broken) == (["r-1"], 1)
    ran(three, "b.md", run_id="r-2")
    assert three.read(LOG.key).startswith(torn + b"\n{")
    changes, broken = read_log(three.backend)
    assert ([change.run for change in changes], broken) == (["r-1", "r-2"], 1)
    assert fates(take_back(three, "r-2")) == {"b.md": "restored"}


@pytest.mark.parametrize(
    ("lost", "unreadable"), [(1, 0), (30, 1), (len('"},'), 1), (10_000, 0)], ids=str
)
def test_a_torn_line_of_the_run_itself_is_said(three: Place, lost: int, unreadable: int) -> None:
    ran(three, "a.md", "b.md")
    log = three.read(LOG.key)
    last = len(log.split(b"\n")[-2]) + 1
    three.write(LOG.key, log[: -min(lost, last)])
    done = take_back(three)
    assert done.unreadable == unreadable
    assert fates(done).get("a.md") == "restored"
    assert ("b.md" in fates(done)) is (lost == 1)


def test_a_torn_line_of_another_run_is_not_said(three: Place) -> None:
    ran(three, "a.md")
    three.write(LOG.key, three.read(LOG.key) + b'{"v":1,"run":"r-10","path":"c.m')
    assert take_back(three).unreadable == 0
    three.write(LOG.key, three.read(LOG.key) + b'{"v":1,"ru')
    assert take_back(three).unreadable == 1


def test_a_run_whose_only_line_is_torn_is_not_unknown(three: Place) -> None:
    ran(three, "a.md")
    three.write(LOG.key, three.read(LOG.key)[:-30])
    with pytest.raises(StorageError, match="Mend them from git"):
        take_back(three)


@pytest.mark.parametrize("path", ["../a.md", "/a.md", "a//b.md", "a\\\\b.md", "a\\u0000.md"])
def test_lines_of_impossible_paths_and_without_end_are_passed_over(three: Place, path: str) -> None:
    ran(three, "a.md")
    line = three.read(LOG.key).split(b"\n")[0].replace(b"a.md", path.encode())
    three.write(LOG.key, three.read(LOG.key) + line + b"\n" + b"[" * 100_000 + b"\n")
    changes, broken = read_log(three.backend)
    assert (len(changes), broken) == (1, 2)
    assert fates(take_back(three)) == {"a.md": "restored"}


def test_a_last_line_without_its_end_is_kept(three: Place) -> None:
    ran(three, "a.md")
    three.write(LOG.key, three.read(LOG.key).rstrip(b"\n"))
    ran(three, "b.md", run_id="r-2")
    assert [change.run for change in read_log(three.backend)[0]] == ["r-1", "r-2"]


def test_the_same_lines_are_not_logged_twice(three: Place) -> None:
    change = Change("r", "enrich", "a.md", None, "0" * 64, None, "2026-04-12T08:15:00Z")
    once = append(three.backend, [change])
    assert append(three.backend, [change]) == once


@given(
    st.builds(
        Change, *[st.text()] * 3, st.none() | st.text(), st.text(), st.none() | st.text(), st.text()
    )
)
def test_a_line_says_what_was_written(change: Change) -> None:
    line = change.line().encode("utf-8", "surrogatepass")
    assert b"\n" not in line
    assert parse(line) == change


@given(st.binary())
def test_no_line_breaks_the_reading(line: bytes) -> None:
    found = parse(line)
    assert found is None or isinstance(found, Change)


@pytest.mark.parametrize(
    "line",
    [
        b'{"v":2,"run":"r","pass":"p","path":"a","before":null,"after":"x","base":null,"at":"t"}',
        b'{"v":1,"run":7,"pass":"p","path":"a","before":null,"after":"x","base":null,"at":"t"}',
        b'{"v":1,"run":"r","pass":"p","path":"a","before":3,"after":"x","base":null,"at":"t"}',
        b"[]",
        b"null",
        b'"text"',
    ],
)
def test_a_line_of_another_form_is_none(line: bytes) -> None:
    assert parse(line) is None


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(hands=st.lists(st.sampled_from("abc"), max_size=3), count=st.integers(1, 3))
def test_no_byte_of_a_human_is_ever_lost(three: Place, hands: list[str], count: int) -> None:
    run_id = f"r-{len(three.subjects())}"
    before = {name: three.read(f"{name}.md") for name in "abc"}
    ran(three, *[f"{name}.md" for name in "abc"[:count]], run_id=run_id)
    for name in hands:
        three.write(f"{name}.md", three.read(f"{name}.md") + b"By hand.\n")
    after = {name: three.read(f"{name}.md") for name in "abc"}
    told = fates(take_back(three, run_id))
    for name in "abc":
        if name in hands or name not in "abc"[:count]:
            assert three.read(f"{name}.md") == after[name]
            assert told.get(f"{name}.md", "conflict") == "conflict"
        else:
            assert three.read(f"{name}.md") == before[name]


def test_the_runs_are_listed_newest_first(three: Place) -> None:
    ran(three, "a.md", "b.md", run_id="r-1")
    three.clock.pass_by(60)
    ran(three, "c.md", run_id="r-2")
    changes, _ = read_log(three.backend)
    runs = recent_runs(changes, 20)
    assert [(run.run, run.pass_name, run.at, run.files) for run in runs] == [
        ("r-2", "enrich", "2026-04-12T08:16:00Z", ("c.md",)),
        ("r-1", "enrich", "2026-04-12T08:15:00Z", ("a.md", "b.md")),
    ]
    assert [run.run for run in recent_runs(changes, 1)] == ["r-2"]


@pytest.fixture
def agentm(three: Place, tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    import os

    env = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "PYTHONPATH": str(ROOT),
        "AGENTM_VAULT": str(three.root),
        **{f"XDG_{n}_HOME": str(tmp_path / n.lower()) for n in ("STATE", "CACHE", "DATA")},
    }

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "agentm_assets.cli.entry", *arguments],
            env=env,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    return run


def test_the_command_shows_each_file_and_exits_by_what_remains(
    three: Place, agentm: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    assert agentm("history").stdout == "no automated run has changed a file of this vault yet\n"
    ran(three, "a.md", "b.md")
    three.write("b.md", b"By hand.\n")
    listed = json.loads(agentm("history", "--json").stdout)
    assert [(run["run"], run["files"]) for run in listed] == [("r-1", ["a.md", "b.md"])]
    assert "r-1  2 files" in agentm("history").stdout

    dry = agentm("revert", "r-1", "--dry-run")
    assert dry.returncode == 3
    assert "restored       a.md" in dry.stdout
    assert "nothing was written (--dry-run)" in dry.stdout
    assert three.read("a.md").endswith(b"By a pass.\n")

    done = agentm("revert", "r-1", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 3
    assert told["conflicts"] == 1
    assert told["commit"] == three.git("rev-parse", "HEAD").strip()
    assert three.read("a.md") == b"a at first\r\n"

    undo = agentm("revert", told["by"])
    assert undo.returncode == 0
    assert "undoes it" in undo.stdout
    assert three.read("a.md").endswith(b"By a pass.\n")

    unknown = agentm("revert", "r-9")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "agentm history" in unknown.stderr
    assert unknown.stderr.count("\n") == 1
