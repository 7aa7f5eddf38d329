"""A run: one commit of its paths, its log, old bytes kept, and the operator's work untouched."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentm_assets.history import git as git_module
from agentm_assets.history.git import Author, GitError, Repository
from agentm_assets.history.outcome import Committed, GitTrouble, NoRepository, RepositoryRequired
from agentm_assets.history.revert_log import LOG, read_log
from agentm_assets.history.run import begin, commit_turn, require_repository
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.retry import ATTEMPTS
from agentm_assets.storage.seam import (
    ABSENT,
    ConcurrentModificationError,
    StorageError,
    content_hash,
)

ROOT = Path(__file__).resolve().parents[2]
Place = Any  # the class in conftest.py, which cannot be imported from here

MEMORY = b"---\ntype: reference\nstatus: active\n---\nThe kettle boils at 96 degrees.\n"
KETTLE = Locator("Agent/memory/semantic/kettle.md")


def started(place: Place, pass_name: str = "enrich", **more: str):  # type: ignore[no-untyped-def]
    return begin(place.location, place.backend, pass_name=pass_name, now=place.clock, **more)


def add_line(old: bytes) -> bytes:
    return old + b"More.\n"


def test_a_run_is_one_commit_of_its_paths_and_its_log(place: Place) -> None:
    start = place.git("rev-parse", "HEAD").strip()
    with started(place, run_id="r-1", rules_hash="abc") as run:
        run.rewrite(KETTLE, add_line)
        run.write(Locator("Agent/memory/semantic/new.md"), MEMORY, expect=ABSENT)
    head = place.git("rev-parse", "HEAD").strip()
    assert run.outcome == Committed(head)
    assert place.git("rev-parse", "HEAD^").strip() == start
    assert place.files_of() == {KETTLE.key, "Agent/memory/semantic/new.md", LOG.key}
    assert place.git("log", "-1", "--format=%an <%ae>|%cn <%ce>|%B").strip() == (
        "agentm-enrich <agentm-enrich@localhost>|agentm-enrich <agentm-enrich@localhost>|"
        "Enrich: 2 files\n\nAgentm-Run: r-1\nAgentm-Pass: enrich\nAgentm-Rules: abc"
    )
    assert place.status() == []
    assert [json.loads(line) for line in place.read(LOG.key).splitlines()] == [
        {
            "v": 1,
            "run": "r-1",
            "path": KETTLE.key,
            "before": content_hash(MEMORY),
            "after": content_hash(add_line(MEMORY)),
            "base": start,
            "at": "2026-04-12T08:15:00Z",
            "pass": "enrich",
        },
        {
            "v": 1,
            "run": "r-1",
            "path": "Agent/memory/semantic/new.md",
            "before": None,
            "after": content_hash(MEMORY),
            "base": None,
            "at": "2026-04-12T08:15:00Z",
            "pass": "enrich",
        },
    ]


def test_a_run_that_writes_nothing_leaves_nothing(place: Place) -> None:
    with started(place) as run:
        assert not run.rewrite(KETTLE, lambda old: old).changed
    assert run.outcome == Committed(None)
    assert place.subjects() == ["Start"]
    assert not place.backend.exists(LOG)


def test_the_operators_staged_half_staged_and_unstaged_work_stays_as_it_was(place: Place) -> None:
    for name in ("staged", "half", "unstaged", "removed", "renamed"):
        place.write(f"{name}.md", b"one\n")
    place.commit_all()
    place.write("staged.md", b"two\n")
    place.write("half.md", b"two\n")
    place.git("add", "staged.md", "half.md")
    place.write("half.md", b"three\n")
    place.write("unstaged.md", b"two\n")
    place.write("untracked.md", b"mine\n")
    place.write("intended.md", b"soon\n")
    place.git("add", "-N", "intended.md")
    place.git("rm", "-q", "--cached", "removed.md")
    place.git("mv", "renamed.md", "renamed-to.md")
    status, index = place.status(), place.git("ls-files", "-s", "-z")
    cached, unstaged = place.git("diff", "--cached"), place.git("diff")
    with started(place) as run:
        run.rewrite(KETTLE, add_line)
    assert isinstance(run.outcome, Committed)
    assert place.files_of() == {KETTLE.key, LOG.key}
    assert place.status() == status
    assert (place.git("diff", "--cached"), place.git("diff")) == (cached, unstaged)
    after = place.git("ls-files", "-s", "-z").split("\0")
    assert [e for e in after if KETTLE.key not in e and LOG.key not in e] == [
        e for e in index.split("\0") if KETTLE.key not in e
    ]


def test_what_git_lacks_is_committed_as_it_is_before_it_is_rewritten(place: Place) -> None:
    edited = MEMORY + b"By hand, not committed.\n"
    place.write(KETTLE.key, edited)
    place.git("add", KETTLE.key)
    place.write("beside.md", b"mine\n")
    with started(place, run_id="r-1") as run:
        run.rewrite(KETTLE, add_line)
    assert place.git("log", "--format=%an|%s").split("\n")[:3] == [
        f"agentm-enrich|Enrich {KETTLE.key}",
        f"agentm-capture|Keep {KETTLE.key} as it was before enrich",
        "Olga|Start",
    ]
    assert place.files_of("HEAD^") == {KETTLE.key}
    assert place.git("show", f"HEAD^:{KETTLE.key}").encode() == edited
    assert place.status() == ["?? beside.md"]
    (change,) = read_log(place.backend)[0]
    assert (change.base, change.before) == (
        place.git("rev-parse", "HEAD^").strip(),
        content_hash(edited),
    )


def test_a_file_that_git_never_saw_is_kept_first_too(place: Place) -> None:
    place.write("new.md", MEMORY)
    with started(place) as run:
        run.rewrite(Locator("new.md"), add_line)
    assert place.git("show", "HEAD^:new.md").encode() == MEMORY
    assert place.status() == []


def test_of_two_writes_of_one_run_the_first_image_and_the_last_bytes_count(place: Place) -> None:
    with started(place) as run:
        run.rewrite(KETTLE, add_line)
        run.rewrite(KETTLE, add_line)
    assert len(place.subjects()) == 2
    (change,) = read_log(place.backend)[0]
    assert change.before == content_hash(MEMORY)
    assert change.after == content_hash(add_line(add_line(MEMORY)))


def test_the_bytes_of_the_run_are_committed_not_what_was_made_of_them_since(place: Place) -> None:
    with started(place) as run:
        run.rewrite(KETTLE, add_line)
        place.write(KETTLE.key, b"by hand, at once\n")
    assert place.git("show", f"HEAD:{KETTLE.key}").encode() == add_line(MEMORY)
    assert place.read(KETTLE.key) == b"by hand, at once\n"
    assert place.status() == [f" M {KETTLE.key}"]


def test_history_never_goes_back_where_another_run_was_quicker(place: Place) -> None:
    with started(place, run_id="outer") as outer:
        outer.rewrite(KETTLE, add_line)
        with started(place, run_id="inner") as inner:
            inner.rewrite(KETTLE, lambda old: old + b"Even more.\n")
    assert isinstance(outer.outcome, Committed)
    assert place.git("show", f"HEAD:{KETTLE.key}").encode() == place.read(KETTLE.key)
    assert place.read(KETTLE.key).endswith(b"More.\nEven more.\n")
    assert place.status() == []
    assert {change.run for change in read_log(place.backend)[0]} == {"outer", "inner"}


def test_a_write_over_bytes_that_changed_since_they_were_judged_is_refused(place: Place) -> None:
    with started(place) as run:
        with pytest.raises(ConcurrentModificationError):
            run.write(KETTLE, b"new", expect=content_hash(b"something else"))
        with pytest.raises(FileExistsError):
            run.write(KETTLE, b"new", expect=ABSENT)
    assert place.read(KETTLE.key) == MEMORY
    assert place.subjects() == ["Start"]


def test_what_was_written_before_an_exception_is_committed(place: Place) -> None:
    with pytest.raises(ZeroDivisionError), started(place) as run:
        run.rewrite(KETTLE, add_line)
        raise ZeroDivisionError
    assert isinstance(run.outcome, Committed)
    assert place.status() == []


@pytest.mark.parametrize("inside", ["notes", "a b/ümlaut", "line\nend"])
def test_a_vault_in_a_folder_of_a_repository(make_place: Callable[..., Place], inside: str) -> None:
    place = make_place(inside)
    (place.top / "code.py").write_bytes(b"print()\n")
    place.git("add", "code.py")
    with started(place) as run:
        run.rewrite(KETTLE, add_line)
    assert place.files_of() == {f"{inside}/{KETTLE.key}", f"{inside}/{LOG.key}"}
    assert place.status() == ["A  code.py"]
    assert read_log(place.backend)[0][0].base is not None


def test_the_first_commit_of_a_repository(make_place: Callable[..., Place]) -> None:
    place = make_place(first=False)
    place.write("mine.md", b"mine\n")
    with started(place) as run:
        run.write(KETTLE, MEMORY, expect=ABSENT)
    assert isinstance(run.outcome, Committed)
    assert place.files_of() == {KETTLE.key, LOG.key}
    assert place.status() == ["?? mine.md"]


def test_a_repository_of_long_ids_a_linked_work_tree_and_a_file_that_became_a_folder(
    place: Place, make_place: Callable[..., Place], tmp_path: Path
) -> None:
    for folder, begin_it in (
        (tmp_path / "long", ("init", "-q", "--object-format=sha256")),
        (tmp_path / "linked", None),
    ):
        if begin_it is None:
            place.git("worktree", "add", "-q", "-b", "side", str(folder))
        else:
            folder.mkdir()
            subprocess.run(["git", "-C", folder, *begin_it], check=True)
        repository = Repository.open(folder)
        (folder / "a").write_bytes(b"file")
        repository.commit({"a": b"file"}, "A", Author("agentm-x"))
        (folder / "a").unlink()
        (folder / "a").mkdir()
        (folder / "a" / "b.md").write_bytes(b"below")
        repository.commit({"a/b.md": b"below"}, "B", Author("agentm-x"))
        assert repository.commit({"a/b.md": None}, "C", Author("agentm-x"))
        assert not repository.tracked("HEAD", ["a/b.md"])
        assert repository.content("HEAD~1", "a/b.md") == b"below"
        said = subprocess.run(
            ["git", "-C", folder, "status", "--porcelain"], capture_output=True, check=True
        )
        assert said.stdout == b"?? a/\n"
    assert place.subjects() == ["Start"]


def test_the_name_of_a_file_writes_no_trailers(place: Place) -> None:
    name = "x\n\nAgentm-Run: forged\n.md"
    with started(place, run_id="r-1") as run:
        run.write(Locator(name), b"a", expect=ABSENT)
    trailers = place.git("log", "-1", "--format=%b").strip().split("\n")
    assert trailers[:2] == ["Agentm-Run: r-1", "Agentm-Pass: enrich"]
    assert [name.partition(":")[0] for name in trailers[2:]] == ["Agentm-Rules"]


def test_a_rewrite_that_lost_all_its_races_keeps_the_other_runs_waiting(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = type(place.backend).write_bytes
    lost: list[int] = []

    def lose(self: object, locator: Locator, data: bytes, **more: Any) -> str:
        if locator == KETTLE and len(lost) < ATTEMPTS + 2:
            lost.append(1)
            place.write(KETTLE.key, place.read(KETTLE.key) + b"By another.\n")
        return real(self, locator, data, **more)

    monkeypatch.setattr(type(place.backend), "write_bytes", lose)
    with started(place) as run:
        run.rewrite(KETTLE, add_line)
    assert place.read(KETTLE.key) == MEMORY + b"By another.\n" * (ATTEMPTS + 2) + b"More.\n"
    assert isinstance(run.outcome, Committed)
    (change,) = read_log(place.backend)[0]
    kept = place.git("show", f"{change.base}:{KETTLE.key}").encode()
    assert content_hash(kept) == change.before


def test_bytes_that_another_run_replaced_and_committed_are_not_committed_over_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(KETTLE.key, MEMORY + b"By hand.\n")
    real = Repository.obstacle
    came: list[int] = []

    def another_comes(self: Repository) -> object:
        if not came:  # the outer run has read the file, and is about to keep its bytes
            came.append(1)
            with started(place, run_id="inner") as inner:
                inner.rewrite(KETTLE, lambda old: old + b"Inner.\n")
        return real(self)

    monkeypatch.setattr(Repository, "obstacle", another_comes)
    with started(place, run_id="outer") as outer:
        outer.rewrite(KETTLE, lambda old: old + b"Outer.\n")
    assert place.read(KETTLE.key) == MEMORY + b"By hand.\nInner.\nOuter.\n"
    assert place.subjects() == [
        f"Enrich {KETTLE.key}",
        f"Enrich {KETTLE.key}",
        f"Keep {KETTLE.key} as it was before enrich",
        "Start",
    ]
    assert place.status() == []


_REWRITING = """
import os, sys
from agentm_assets.config.vault import locate
from agentm_assets.history.run import begin
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.selection import open_backend
location = locate(os.environ)
backend = open_backend(location)
for turn in range(8):
    with begin(location, backend, pass_name="enrich") as run:
        line = f"{sys.argv[1]}.{turn}\\n".encode()
        run.rewrite(Locator("Agent/memory/semantic/kettle.md"), lambda old: old + line)
"""


def test_runs_that_rewrite_one_note_at_once_wait_for_each_other_and_lose_nothing(
    place: Place, tmp_path: Path
) -> None:
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "AGENTM_VAULT": str(place.root),
        **{f"XDG_{n}_HOME": str(tmp_path / n.lower()) for n in ("STATE", "CACHE", "DATA")},
    }
    writers = [
        subprocess.Popen([sys.executable, "-c", _REWRITING, str(number)], env=env)
        for number in range(3)
    ]
    assert [writer.wait(timeout=100) for writer in writers] == [0, 0, 0]
    lines = place.read(KETTLE.key).removeprefix(MEMORY).split()
    assert sorted(lines) == sorted(b"%d.%d" % (n, turn) for n in range(3) for turn in range(8))
    changes, broken = read_log(place.backend)
    assert (len(changes), broken) == (24, 0)
    assert len({change.after for change in changes}) == 24
    for change in changes:
        held = Repository.open(place.root).content(str(change.base), change.path)
        assert held is not None and content_hash(held) == change.before
    assert place.status() == []


_COMMITTING = """
import sys
import tempfile
from pathlib import Path
from agentm_assets.history.git import Author, Repository
Repository.open(Path(sys.argv[1])).commit({"a.md": b"a"}, "A", Author("agentm-x"))
"""


def test_a_commit_that_is_killed_with_all_of_its_process_group_leaves_no_lock(
    place: Place, tmp_path: Path
) -> None:
    """git is held while it has the index.lock; agentm is killed; git ends its work alone."""
    told, go = tmp_path / "told", tmp_path / "go"
    for pipe in (told, go):
        os.mkfifo(pipe)
    pipes = [os.open(pipe, os.O_RDWR) for pipe in (told, go)]

    def heard() -> bytes:
        readable, _, _ = select.select(pipes[:1], [], [], 30)
        return os.read(pipes[0], 100) if readable else b"nothing"

    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    real = shutil.which("git")
    shim.write_text(
        f"""#!/bin/sh
case "$*" in *--index-info*)
  echo locked >'{told}'; read -r word <'{go}'
  {real} "$@"; echo "ended $?" >'{told}'; exit;;
esac
exec {real} "$@"
"""
    )
    shim.chmod(0o755)
    child = subprocess.Popen(
        [sys.executable, "-c", _COMMITTING, place.root],
        env={**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    assert heard() == b"locked\n"
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    os.write(pipes[1], b"on\n")
    assert heard() == b"ended 0\n"
    for pipe in pipes:
        os.close(pipe)
    assert not (place.root / ".git" / "index.lock").exists()
    assert place.subjects() == ["Start"]
    assert Repository.open(place.root).commit({"a.md": b"a"}, "A", Author("agentm-x"))
    assert place.subjects() == ["A", "Start"]


@pytest.mark.parametrize("state", ["merge", "rebase", "cherry-pick", "detached", "bisect"])
def test_nothing_is_committed_into_the_midst_of_something(place: Place, state: str) -> None:
    place.write("note.md", b"one\n")
    place.commit_all("One")
    place.git("checkout", "-q", "-b", "side")
    place.write("note.md", b"side\n")
    place.commit_all("Side")
    place.git("checkout", "-q", "main")
    place.write("note.md", b"main\n")
    place.commit_all("Main")
    begins = {
        "merge": ("merge", "side"),
        "rebase": ("rebase", "side"),
        "cherry-pick": ("cherry-pick", "side"),
        "detached": ("checkout", "-q", "--detach"),
        "bisect": ("bisect", "start", "HEAD", "HEAD~1"),
    }
    place.git(*begins[state], check=False)
    head, status = place.git("rev-parse", "HEAD"), place.status()
    with started(place) as run:
        run.rewrite(KETTLE, add_line)
    assert isinstance(run.outcome, GitTrouble)
    assert "stands" in run.outcome.text
    assert place.git("rev-parse", "HEAD") == head
    assert place.read(KETTLE.key) == add_line(MEMORY)
    assert set(status) <= set(place.status())
    with pytest.raises(RepositoryRequired):
        require_repository(place.location)


def test_bytes_that_can_not_be_kept_first_are_not_overwritten(place: Place) -> None:
    place.git("checkout", "-q", "--detach")
    place.write(KETTLE.key, b"by hand\n")
    with started(place) as run, pytest.raises(Exception, match="detached"):
        run.rewrite(KETTLE, add_line)
    assert place.read(KETTLE.key) == b"by hand\n"


def test_another_gits_index_lock_is_waited_for(place: Place) -> None:
    lock = place.root / ".git" / "index.lock"
    lock.write_bytes(b"")
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            lock.unlink()

    repository = Repository.open(place.root)
    made = repository.commit({"a.md": b"a"}, "A", Author("agentm-x"), sleep=sleep)
    assert made == place.git("rev-parse", "HEAD").strip()
    assert len(waits) == 3


def test_an_index_lock_that_stays_is_never_removed_and_nothing_is_committed(place: Place) -> None:
    lock = place.root / ".git" / "index.lock"
    lock.write_bytes(b"somebody's")
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        assert now < 60, "waits for ever"

    repository = Repository.open(place.root)
    with pytest.raises(GitError, match=r"index\.lock"):
        repository.commit({"a.md": b"a"}, "A", Author("agentm-x"), clock=lambda: now, sleep=sleep)
    assert 10.0 <= now < 10.5
    assert lock.read_bytes() == b"somebody's"
    assert place.subjects() == ["Start"]


def test_a_commit_of_the_operators_in_between_is_built_upon(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Repository._renew
    times: list[int] = []

    def renew(self: Repository, *arguments: object) -> None:
        real(self, *arguments)  # type: ignore[arg-type]
        if not times:
            place.write("mine.md", b"mine\n")
            place.git("add", "mine.md")
            place.git("commit", "-q", "-m", "In between", "--", "mine.md")
        times.append(1)

    monkeypatch.setattr(Repository, "_renew", renew)
    made = Repository.open(place.root).commit({"a.md": b"a"}, "A", Author("agentm-x"))
    assert place.subjects() == ["A", "In between", "Start"]
    assert made == place.git("rev-parse", "HEAD").strip()
    assert place.git("ls-tree", "-r", "--name-only", "HEAD").split() == [
        KETTLE.key,
        "a.md",
        "mine.md",
    ]


def test_hooks_signatures_and_a_strangers_variables_have_no_say(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hooks = place.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran-{name}'\nexit 1\n")
        (hooks / name).chmod(0o755)
    place.git("config", "commit.gpgsign", "true")
    place.git("config", "gpg.program", "/bin/false")
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    for name, text in {
        "GIT_DIR": f"{other}/.git",
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": f"{other}/.git/index",
        "GIT_AUTHOR_NAME": "Mallory",
        "GIT_COMMITTER_NAME": "Mallory",
        "GIT_LITERAL_PATHSPECS": "0",
    }.items():
        monkeypatch.setenv(name, text)
    with started(place) as run:
        run.rewrite(KETTLE, add_line)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name)
    assert isinstance(run.outcome, Committed)
    assert place.git("log", "-1", "--format=%an %cn").strip() == "agentm-enrich agentm-enrich"
    assert not list(tmp_path.glob("ran-*"))
    assert not (other / ".git" / "refs" / "heads" / "main").exists()
    assert not (other / ".git" / "index").exists()
    assert place.status() == []


def test_line_ends_that_git_converts_leave_the_file_clean_and_as_it_was(place: Place) -> None:
    place.write(".gitattributes", b"*.md text eol=crlf\n")
    place.commit_all()
    with started(place) as run:
        run.write(Locator("crlf.md"), b"one\r\ntwo\r\n", expect=ABSENT)
    assert isinstance(run.outcome, Committed)
    assert place.git("cat-file", "blob", "HEAD:crlf.md") == "one\ntwo\n"
    assert place.read("crlf.md") == b"one\r\ntwo\r\n"
    assert place.status() == []


def test_what_the_operator_ignores_is_written_and_named_but_not_forced_into_git(
    place: Place,
) -> None:
    place.write(".gitignore", b"/secret/\n")
    place.commit_all()
    with started(place) as run:
        run.write(Locator("secret/a.md"), b"a", expect=ABSENT)
    assert isinstance(run.outcome, Committed)
    assert run.outcome.ignored == ("secret/a.md",)
    assert "secret/a.md" in run.outcome.text
    assert place.files_of() == {LOG.key}


def test_a_note_that_may_be_executed_stays_so(place: Place) -> None:
    place.write("run.md", b"#!/bin/sh\n")
    (place.root / "run.md").chmod(0o755)
    place.commit_all()
    with started(place) as run:
        run.rewrite(Locator("run.md"), add_line)
    assert isinstance(run.outcome, Committed)
    assert place.git("ls-tree", "HEAD", "run.md").startswith("100755")
    assert place.status() == []


def test_without_a_repository_the_write_stands_and_the_log_says_so(
    make_place: Callable[..., Place],
) -> None:
    place = make_place(repository=False)
    place.write(KETTLE.key, MEMORY)
    with started(place) as run:
        run.rewrite(KETTLE, add_line)
    assert isinstance(run.outcome, NoRepository)
    assert "git init" in run.outcome.text
    assert place.read(KETTLE.key) == add_line(MEMORY)
    (change,) = read_log(place.backend)[0]
    assert (change.base, change.before) == (None, content_hash(MEMORY))
    with pytest.raises(RepositoryRequired, match="nothing was changed"):
        require_repository(place.location)
    assert not (place.root / ".git").exists()


def test_a_repository_that_git_refuses_is_said_in_its_words(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with started(place) as run:
        run.rewrite(KETTLE, add_line)
    assert isinstance(run.outcome, GitTrouble)
    assert "dubious ownership" in run.outcome.text
    assert place.read(KETTLE.key) == add_line(MEMORY)


def test_without_the_git_command_the_write_stands(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_module.shutil, "which", lambda name: None)
    with started(place) as run:
        run.rewrite(KETTLE, add_line)
    assert isinstance(run.outcome, NoRepository)
    assert "not installed" in run.outcome.text


def test_a_commit_that_another_agentm_is_busy_with_is_waited_for_and_then_left(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from agentm_assets.history import run as run_module

    monkeypatch.setattr(run_module, "COMMIT_TURN_TIMEOUT", 0.0)
    outcomes: list[object] = []

    def work() -> None:
        with started(place) as run:
            run.rewrite(KETTLE, add_line)
        outcomes.append(run.outcome)

    with commit_turn(place.location, place.backend).held():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    (outcome,) = outcomes
    assert isinstance(outcome, GitTrouble)
    assert "later" in outcome.text
    assert place.read(KETTLE.key) == add_line(MEMORY)


@pytest.mark.parametrize("bad", ["../x", "a b", "", "x" * 130, "-r"])
def test_an_id_that_could_be_mistaken_for_something_else_is_refused(place: Place, bad: str) -> None:
    with pytest.raises(ValueError, match="id of a run"), started(place, run_id=bad or " "):
        pytest.fail("begun")


_ODD = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="/\0\\"),
    min_size=1,
    max_size=12,
).filter(lambda name: name not in (".", "..") and not name.lower().startswith((".git", "personal")))


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(names=st.lists(_ODD, min_size=1, max_size=4, unique_by=str.casefold))
def test_any_name_is_committed_as_it_is(place: Place, names: list[str]) -> None:
    files = {f"odd/{name}": name.encode() for name in names}
    try:
        for path in files:
            Locator(path)
    except LocatorInvalid:
        return
    repository = Repository.open(place.root)
    for path, data in files.items():
        place.write(path, data)
    repository.commit(dict(files), "Odd", Author("agentm-x"))
    listed = place.git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
    assert set(files) <= set(listed)
    assert place.status() == []
    for path, data in files.items():
        assert repository.content("HEAD", path, filtered=False) == data


@pytest.mark.parametrize(
    "name",
    ["-n.md", "--all", ":(top)*", "*.md", '"q".md', "a\nb.md", "[x].md", "é.md", " .md", "日本"],
)
def test_names_that_could_be_read_as_something_else(place: Place, name: str) -> None:
    with started(place) as run:
        run.write(Locator(name), b"a", expect=ABSENT)
        run.rewrite(Locator(name), add_line)
    assert isinstance(run.outcome, Committed)
    assert place.files_of() == {name, LOG.key}
    assert place.status() == []


def test_a_note_that_git_is_told_to_ignore_never_comes_into_history(place: Place) -> None:
    place.write(".gitignore", b"diary.md\n")
    place.commit_all()
    place.write("diary.md", b"mine\n")
    with started(place) as run:
        run.rewrite(Locator("diary.md"), add_line)
    assert place.read("diary.md") == add_line(b"mine\n")
    assert isinstance(run.outcome, Committed)
    assert run.outcome.ignored == ("diary.md",)
    assert "can't be restored" in run.outcome.text
    assert "diary.md" not in place.git("log", "--all", "--format=", "--name-only")
    assert run.changes[0].base is None


def test_bytes_that_a_filter_loses_are_not_overwritten(place: Place) -> None:
    place.git("config", "filter.f.clean", "sed s/secret/XXX/")
    place.write(".gitattributes", b"*.md filter=f\n")
    place.commit_all()
    place.write("a.md", b"a secret\n")
    with started(place) as run, pytest.raises(StorageError, match="filter"):
        run.rewrite(Locator("a.md"), add_line)
    assert place.read("a.md") == b"a secret\n"
    assert run.changes == ()


def test_what_a_filter_encrypts_stays_encrypted_in_history(place: Place) -> None:
    place.git("config", "filter.f.clean", "tr a-y b-z")
    place.git("config", "filter.f.smudge", "tr b-z a-y")
    place.write(".gitattributes", b"a.md filter=f\n")
    place.commit_all()
    place.write("a.md", b"plain\n")
    with started(place) as run:
        run.rewrite(Locator("a.md"), lambda old: old + b"more\n")
    assert isinstance(run.outcome, Committed)
    assert place.git("cat-file", "blob", "HEAD~1:a.md") == "qmbjo\n"
    assert place.git("cat-file", "blob", "HEAD:a.md") == "qmbjo\nnpsf\n"
    assert place.status() == []


def test_a_file_in_a_repository_of_its_own_is_named_and_the_others_are_committed(
    place: Place,
) -> None:
    place.git("init", "-q", "sub")
    with started(place) as run:
        run.write(Locator("sub/a.md"), b"a", expect=ABSENT)
        run.write(Locator("b.md"), b"b", expect=ABSENT)
    assert isinstance(run.outcome, Committed)
    assert place.files_of() == {"b.md", LOG.key}
    assert "sub is a git repository of its own" in run.outcome.text
    assert not list(pending_folder(place).glob("*.jsonl"))


def pending_folder(place: Place) -> Path:
    folder: Path = place.location.log_dir / "pending-writes"
    return folder


def test_a_branch_that_another_git_has_locked_is_waited_for(place: Place) -> None:
    lock = place.root / ".git" / "refs" / "heads" / "main.lock"
    lock.write_bytes(b"")
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 8:
            lock.unlink()

    repository = Repository.open(place.root)
    made = repository.commit({"a.md": b"a"}, "A\n", Author("agentm-x"), sleep=sleep)
    assert made is not None
    assert len(waits) == 8


def test_without_a_folder_for_temporary_files_the_write_stands_and_it_is_said(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place.root / "nowhere"))
    with started(place) as run:
        run.write(Locator("a.md"), b"a", expect=ABSENT)
    assert isinstance(run.outcome, GitTrouble)
    assert "TMPDIR" in run.outcome.text
    assert place.read("a.md") == b"a"
    assert list(pending_folder(place).glob("*.jsonl")), "it is left to the next pass"
    with started(place) as run, pytest.raises(StorageError, match="TMPDIR"):
        run.rewrite(Locator("a.md"), add_line)


def test_between_the_picks_of_a_sequence_nothing_is_committed(place: Place) -> None:
    (place.root / ".git" / "sequencer").mkdir()
    with started(place) as run:
        run.rewrite(KETTLE, add_line)
    assert isinstance(run.outcome, GitTrouble)
    assert place.subjects() == ["Start"]
