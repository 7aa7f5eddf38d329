"""The git command, and nothing of git beside it.

Commits are made from the bytes that were written, in an index and a work tree of their own: what
the operator has staged, half staged or left unstaged is not looked at and not moved. Only the
entries of the committed paths are then renewed in the operator's index, by git, under its
index.lock, which is waited for and never removed.

git runs in a session of its own and reads from files, not pipes: a killed agentm, or Ctrl-C in its
terminal, lets it finish what it began, so that no lock of git's stays behind.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha1, sha256
from pathlib import Path
from typing import IO

NO_REPOSITORY = "no repository"

INDEX_LOCK_TIMEOUT = 10.0
"""Seconds that another git's index.lock is waited for."""

REF_ATTEMPTS = 5
"""How often a commit is made anew because the branch moved meanwhile."""

_LOCK_WAIT = 0.1
_STAGED = ("ls-files", "-s", "-z")
_LOGGED = "agentm-commit:"

# Set inside a git hook, these would lead every command to the hook's repository, not the vault's.
_REPOSITORY_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_AUTHOR_DATE",
        "GIT_AUTHOR_EMAIL",
        "GIT_AUTHOR_NAME",
        "GIT_CEILING_DIRECTORIES",
        "GIT_COMMITTER_DATE",
        "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_LITERAL_PATHSPECS",
        "GIT_NAMESPACE",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)

# No hook, no monitor, no signature, no refusal over line ends: only what is asked.
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.safecrlf=false",
    "commit.gpgSign=false",
)

_UNDER_WAY: Mapping[str, str] = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a git revert",
    "sequencer": "a cherry-pick or revert of several commits",
    "BISECT_LOG": "a bisection",
}


class GitError(Exception):
    """git did not do what it was asked; the text is one sentence with the cure or git's words."""


def git(
    root: Path,
    *arguments: str,
    given: bytes | None = None,
    more: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    """Run git in `root`, whatever repository this process was started in. `given` is its input."""
    env = {name: text for name, text in os.environ.items() if name not in _REPOSITORY_VARIABLES}
    # Its words are compared; a diff or status must not write the operator's index.
    env |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"} | dict(more or {})
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    with _given(given) as source:
        return subprocess.run(
            ["git", "-C", str(root), *settings, *arguments],
            env=env,
            stdin=source,
            capture_output=True,
            start_new_session=True,
            check=False,
        )


@contextmanager
def _given(data: bytes | None) -> Iterator[IO[bytes] | int]:
    """A file with git's input; none for none. Raises GitError when there is no room for one."""
    if data is None:
        yield subprocess.DEVNULL
        return
    with ExitStack() as stack:
        try:
            source = stack.enter_context(tempfile.TemporaryFile())
            source.write(data)
            source.seek(0)
        except OSError as error:
            raise _no_temp(error) from error
        yield source


def _no_temp(error: OSError) -> GitError:
    return GitError(
        f"the folder for temporary files can't be used ({error.strerror or error}). Free some "
        "space there, or set TMPDIR to another folder"
    )


def is_installed() -> bool:
    return shutil.which("git") is not None


def repository_trouble(root: Path) -> str | None:
    """Why git can't work in `root`: NO_REPOSITORY, or its own words; None when it can."""
    done = git(root, "rev-parse", "--is-inside-work-tree")
    if done.returncode == 0:
        inside = done.stdout.strip() == b"true"
        return None if inside else NO_REPOSITORY  # a bare one, or the inside of .git
    said = _words(done.stderr)
    return NO_REPOSITORY if "not a git repository" in said else said or f"exit {done.returncode}"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A state of the repository in which a commit would end up in the midst of something."""

    message: str
    cure: str

    @property
    def text(self) -> str:
        return (
            f"{self.message} (cure: {self.cure}). What was written stands and is committed "
            "afterwards."
        )


@dataclass(frozen=True, slots=True)
class Author:
    """Who a commit is by: the pass, never the operator."""

    name: str

    @property
    def variables(self) -> dict[str, str]:
        mail = f"{self.name}@localhost"
        return {
            "GIT_AUTHOR_NAME": self.name,
            "GIT_AUTHOR_EMAIL": mail,
            "GIT_COMMITTER_NAME": self.name,
            "GIT_COMMITTER_EMAIL": mail,
        }


@dataclass(frozen=True, slots=True)
class LoggedCommit:
    """A commit of agentm's. `seconds` since the epoch; `run` from its trailer, "" without one."""

    commit: str
    seconds: int
    run: str
    files: list[str]


class Repository:
    """The repository that a vault lies in, at its top or in a folder of it.

    Paths are relative to the vault, POSIX; commits are named by their full id.
    """

    def __init__(self, vault: Path, folder: str, git_dir: Path, index: Path) -> None:
        self.vault = vault
        self._folder = folder  # the vault's place in the repository: "" or "notes/"
        self._git_dir = git_dir
        self._index = index

    @classmethod
    def open(cls, vault: Path) -> "Repository":
        """Raises GitError; NO_REPOSITORY is its text where there is none."""
        asked = ("--show-prefix", "--absolute-git-dir", "--git-path", "index")
        done = git(vault, "rev-parse", "--is-inside-work-tree", *asked)
        lines = done.stdout.split(b"\n")
        if done.returncode != 0 or lines[0] != b"true":
            raise GitError(repository_trouble(vault) or NO_REPOSITORY)
        # A folder's name may hold a line end, so the ends are counted from both sides.
        prefix = b"\n".join(lines[1:-3])
        index = vault / os.fsdecode(lines[-2])
        return cls(vault, os.fsdecode(prefix), Path(os.fsdecode(lines[-3])), index)

    def obstacle(self) -> Obstacle | None:
        """Why nothing may be committed now; None when it may."""
        for name, what in _UNDER_WAY.items():
            if (self._git_dir / name).exists():
                return Obstacle(f"{what} is under way in the vault's repository", "end or abort it")
        if git(self.vault, "symbolic-ref", "-q", "HEAD").returncode != 0:
            # Checking out a branch again would take a note that only a detached commit holds away.
            return Obstacle(
                "no branch is checked out in the vault's repository (detached HEAD)",
                "check one out",
            )
        if git(self.vault, "ls-files", "--unmerged", "-z").stdout:
            return Obstacle("the vault's repository holds unmerged files", "resolve them")
        return None

    def head(self) -> str | None:
        """The commit that is checked out; None before the first one."""
        done = git(self.vault, "rev-parse", "-q", "--verify", "HEAD^{commit}")
        return done.stdout.decode("ascii").strip() if done.returncode == 0 else None

    def content(self, commit: str, path: str, *, filtered: bool = True) -> bytes | None:
        """The file's bytes in a commit, as a checkout would write them (else as git stores them);
        None when the commit does not have it."""
        named = f"{commit}:{self._folder}{path}"
        done = git(self.vault, "cat-file", "--filters" if filtered else "blob", named)
        return done.stdout if done.returncode == 0 else None

    def holds(self, commit: str | None, path: str, data: bytes) -> bool:
        """Whether these very bytes of the file can be had from the commit."""
        return commit is not None and any(
            self.content(commit, path, filtered=filtered) == data for filtered in (True, False)
        )

    def ignored(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of the paths that git is told to ignore and does not hold."""
        given = self._listed(paths)
        done = git(self.vault, "check-ignore", "-z", "--stdin", given=given)
        if done.returncode not in (0, 1):
            raise GitError(_words(done.stderr))
        return frozenset(os.fsdecode(name) for name in done.stdout.split(b"\0") if name)

    def tracked(self, commit: str | None, paths: Sequence[str]) -> frozenset[str]:
        """Those of the paths that the commit holds."""
        if commit is None or not paths:
            return frozenset()
        done = git(self.vault, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        if done.returncode != 0:
            raise GitError(_words(done.stderr))
        held = {os.fsdecode(name) for name in done.stdout.split(b"\0")}
        return frozenset(path for path in paths if f"{self._folder}{path}" in held)

    def gone(self) -> tuple[list[str], int]:
        """Tracked files of the vault that are not in its folder, and how many are tracked."""
        lists = []
        for wanted in ("--deleted", "--cached"):
            done = git(self.vault, "ls-files", "-z", wanted)
            if done.returncode != 0:
                raise GitError(_words(done.stderr))
            lists.append([os.fsdecode(name) for name in done.stdout.split(b"\0") if name])
        return lists[0], len(lists[1])

    def untracked(self, folders: Sequence[str]) -> list[str]:
        """Files below these folders, in whatever case, that git neither has nor ignores."""
        below = [f":(icase){folder}" for folder in folders]
        wanted = ("ls-files", "-z", "--others", "--exclude-standard", "--", *below)
        done = git(self.vault, *wanted)
        if done.returncode != 0:
            raise GitError(_words(done.stderr))
        names = (os.fsdecode(name) for name in done.stdout.split(b"\0"))
        return [name for name in names if name and not name.endswith("/")]

    def foreign(self, paths: Iterable[str]) -> dict[str, str]:
        """Those of the paths that this repository can't hold, and why: they lie in a repository of
        their own, such as a submodule, or behind a link."""
        said: dict[str, str] = {"": ""}

        def why(folder: str) -> str:
            if folder not in said:
                place = self.vault / folder
                if os.path.lexists(place / ".git"):
                    said[folder] = f"{folder} is a git repository of its own: commit it there"
                elif place.is_symlink():
                    said[folder] = f"{folder} is a symbolic link"
                else:
                    said[folder] = why(folder.rpartition("/")[0])
            return said[folder]

        found = {path: why(path.rpartition("/")[0]) for path in paths}
        return {path: reason for path, reason in found.items() if reason}

    def added_by(self, path: str) -> str:
        """The author of the commit that brought the file in last; "" when none is found."""
        wanted = ("log", "-1", "--diff-filter=A", "--format=%an", "--", path)
        return _words(git(self.vault, "--literal-pathspecs", *wanted).stdout)

    def log(self, patterns: Sequence[str], author: str, limit: int) -> list[LoggedCommit]:
        """The newest commits by `author` whose message matches each of the patterns (git's basic
        regular expressions, one line each), newest first, with the files of the vault in them."""
        greps = [f"--grep={pattern}" for pattern in patterns]
        header = f"--format={_LOGGED}%H {_LOGGED}%ct {_LOGGED}%(trailers:key=Agentm-Run,valueonly)"
        wanted = ("log", "-z", "--name-only", "--relative", f"--max-count={limit}", "--all-match")
        by = f"--author=^{author} <"
        done = git(self.vault, *wanted, by, *greps, header, "--", ".")
        if done.returncode != 0:
            return []  # there is no commit yet
        found: list[LoggedCommit] = []
        for part in os.fsdecode(done.stdout).split("\0"):
            head = part.split(f" {_LOGGED}", 2)
            if part.startswith(_LOGGED) and len(head) == 3:
                commit, seconds, run = head
                found.append(
                    LoggedCommit(commit.removeprefix(_LOGGED), int(seconds), run.strip(), [])
                )
            elif part and found:
                files = found[-1].files
                files.append(part if files else part.removeprefix("\n"))
        return found

    def commit(
        self,
        files: Mapping[str, bytes | None],
        message: str,
        author: Author,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        lock_timeout: float = INDEX_LOCK_TIMEOUT,
    ) -> str | None:
        """Commit these files with these bytes (None: as gone) and no other change.

        Returns the commit's id, None when HEAD has it all already. Waits for another git's
        index.lock; when that stays, GitError is raised and HEAD is as it was.
        """
        with _scratch() as scratch:
            tree_dir = scratch / "tree"
            try:
                for path, data in files.items():
                    if data is not None:
                        self._lay_out(tree_dir / f"{self._folder}{path}", path, data)
                tree_dir.mkdir(exist_ok=True)
            except OSError as error:
                raise _no_temp(error) from error
            own = {
                "GIT_DIR": str(self._git_dir),
                "GIT_INDEX_FILE": str(scratch / "index"),
                "GIT_WORK_TREE": str(tree_dir),
            }
            names = b"".join(os.fsencode(f"{self._folder}{path}") + b"\0" for path in files)
            deadline = clock() + lock_timeout
            attempts = 0
            while attempts < REF_ATTEMPTS:
                head = self.head()
                commit = self._build(tree_dir, own, head, names, files, message, author)
                if commit is None:
                    return None
                entries = _run(tree_dir, *_STAGED, more=own)
                self._renew(entries, frozenset(files), len(commit), clock, sleep, lock_timeout)
                # The empty old value says: only while there is no commit yet.
                moved = git(
                    self.vault,
                    *("update-ref", "-m", f"commit: {message.partition(chr(10))[0]}"),
                    *("HEAD", commit, head or "0" * len(commit)),
                    more=author.variables,
                )
                if moved.returncode == 0:
                    return commit
                if b"File exists" in moved.stderr and clock() < deadline:
                    sleep(_LOCK_WAIT)  # another git holds the branch's lock
                    continue
                attempts += 1
            raise GitError(f"the branch moved each time: {_words(moved.stderr)}. Try again.")

    def tidy(self) -> None:
        """Let git pack its objects when it finds that worth while, as `git commit` does."""
        git(self.vault, "maintenance", "run", "--auto", "--quiet")

    def _lay_out(self, place: Path, path: str, data: bytes) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        try:
            executable = (self.vault / path).lstat().st_mode & 0o100
        except OSError:
            return
        if executable:
            place.chmod(0o755)

    def _build(
        self,
        tree_dir: Path,
        own: Mapping[str, str],
        head: str | None,
        names: bytes,
        files: Mapping[str, bytes | None],
        message: str,
        author: Author,
    ) -> str | None:
        """A commit on top of `head`, to which nothing points yet; None when nothing differs."""
        _run(tree_dir, "read-tree", *((head,) if head else ("--empty",)), more=own)
        update = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        _run(tree_dir, *update, given=names, more=own)
        tree = _run(tree_dir, "write-tree", more=own).decode("ascii").strip()
        if self._make_exact(tree_dir, own, tree, files):
            tree = _run(tree_dir, "write-tree", more=own).decode("ascii").strip()
        if head and _run(self.vault, "rev-parse", f"{head}^{{tree}}").decode().strip() == tree:
            return None
        parents = ("-p", head) if head else ()
        made = _run(
            self.vault,
            *("commit-tree", tree, *parents, "-F", "-"),
            given=message.encode("utf-8", "replace"),
            more=author.variables,
        )
        return made.decode("ascii").strip()

    def _make_exact(
        self, tree_dir: Path, own: Mapping[str, str], tree: str, files: Mapping[str, bytes | None]
    ) -> bool:
        """Where git's conversion of line ends lost bytes, put the very bytes in their place; True
        when there was any. A file with a filter of the operator's (encryption, large files) stays
        as that made it: its plain bytes may not be meant for history."""
        entries = {name: line for line, name in _index_entries(_run(tree_dir, *_STAGED, more=own))}
        changed: dict[str, bytes] = {}  # by git on the way in
        for path, data in files.items():
            entry = entries.get(os.fsencode(f"{self._folder}{path}"))
            if data is not None and entry is not None:
                made = entry.split(b" ")[1].decode("ascii")
                if made != _blob_id(data, len(made)):
                    changed[path] = data
        if not changed:
            return False
        filtered = self._filtered(changed)
        lost = {
            path: data
            for path, data in changed.items()
            if path not in filtered and self.content(tree, path) != data
        }
        lines = []
        for path, data in lost.items():
            name = os.fsencode(f"{self._folder}{path}")
            mode = entries[name].split(b" ")[0]
            blob = _run(self.vault, "hash-object", "-w", "--stdin", "--no-filters", given=data)
            lines.append(mode + b" " + blob.strip() + b"\t" + name + b"\0")
        if lines:
            _run(tree_dir, "update-index", "-z", "--index-info", given=b"".join(lines), more=own)
        return bool(lines)

    def _filtered(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of the paths for which the operator has set a filter."""
        asked = ("check-attr", "-z", "--stdin", "filter")
        fields = _run(self.vault, *asked, given=self._listed(paths)).split(b"\0")
        return frozenset(
            os.fsdecode(path)
            for path, value in zip(fields[0::3], fields[2::3], strict=False)
            if value not in (b"unspecified", b"unset")
        )

    def _renew(
        self,
        listed: bytes,
        paths: frozenset[str],
        id_length: int,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        timeout: float,
    ) -> None:
        """Have the operator's index hold the committed entries. It comes before HEAD moves: when
        this process ends in between, the files are staged, which harms nobody."""
        wanted = {os.fsencode(f"{self._folder}{path}") for path in paths}
        entries = {name: line for line, name in _index_entries(listed) if name in wanted}
        nothing = b"0 " + b"0" * id_length + b"\t"
        given = b"".join(entries.get(name, nothing + name) + b"\0" for name in sorted(wanted))
        deadline = clock() + timeout
        while True:
            # --index-info takes names as they stand at the top, wherever it runs.
            done = git(self.vault, "update-index", "--replace", "-z", "--index-info", given=given)
            if done.returncode == 0:
                return
            said = _words(done.stderr)
            if "index.lock" not in said or "File exists" not in said:
                raise GitError(f"git can't renew its index: {said}")
            if clock() >= deadline:
                raise GitError(
                    f"another git holds {self._index}.lock for longer than {timeout:g} s. Wait for "
                    "it; if no git is running, remove that file. What was written stands and is "
                    "committed afterwards."
                )
            sleep(_LOCK_WAIT)

    @staticmethod
    def _listed(paths: Iterable[str]) -> bytes:
        return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _blob_id(data: bytes, length: int) -> str:
    """The id that git gives these bytes, in a repository whose ids have this length."""
    make = sha1 if length == 40 else sha256
    return make(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _index_entries(listed: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The lines of `ls-files -s -z`, each with its path."""
    for line in listed.split(b"\0"):
        if line:
            yield line, line.partition(b"\t")[2]


@contextmanager
def _scratch() -> Iterator[Path]:
    with ExitStack() as stack:
        try:
            made = tempfile.TemporaryDirectory(prefix="agentm-git-", ignore_cleanup_errors=True)
            folder = stack.enter_context(made)
        except OSError as error:
            raise _no_temp(error) from error
        yield Path(folder)


def _run(
    root: Path, *arguments: str, given: bytes | None = None, more: Mapping[str, str] | None = None
) -> bytes:
    done = git(root, *arguments, given=given, more=more)
    if done.returncode != 0:
        raise GitError(f"git {arguments[0]} failed: {_words(done.stderr)}")
    return done.stdout


def _words(said: bytes) -> str:
    return said.decode("utf-8", "replace").strip()
