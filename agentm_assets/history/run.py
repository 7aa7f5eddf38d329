"""An automated run that writes: noted before, logged and committed after.

with history.begin(location, backend, pass_name="forget") as run:
    run.rewrite(locator, change)
show(run.outcome)
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from agentm_assets.capture.filing_rules import hash_in_force
from agentm_assets.config.vault import DEVICE_LOCAL, VAULT, VaultLocation
from agentm_assets.history import revert_log
from agentm_assets.history.git import NO_REPOSITORY, Author, GitError, Repository, is_installed
from agentm_assets.history.outcome import (
    Committed,
    GitTrouble,
    NoRepository,
    Outcome,
    RepositoryRequired,
)
from agentm_assets.history.pending import PendingWrites, pending_of
from agentm_assets.history.records import append_lines
from agentm_assets.history.revert_log import GONE, LOG, Change
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.mutex import VaultMutex
from agentm_assets.storage.retry import Written, read_modify_write
from agentm_assets.storage.seam import (
    Absent,
    ConcurrentModificationError,
    LockTimeout,
    OwnershipLost,
    StorageBackend,
    StorageError,
    content_hash,
)

COMMIT_TURN_TIMEOUT = 60.0
"""Seconds that another agentm's commit is waited for: one of thousands of captures takes some."""

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PASS_NAME = re.compile(r"[a-z][a-z-]{0,30}")
_NOT_INSTALLED = NoRepository("git is not installed", "install it: history and undo rest on it")
_NONE_THERE = NoRepository(
    "the vault is no git repository", "run git init in the vault, and commit what is there"
)


def open_repository(location: VaultLocation) -> Repository | NoRepository | GitTrouble:
    """The repository that the vault lies in, or why there is none to use."""
    if location.backend not in (VAULT, DEVICE_LOCAL):
        return NoRepository(
            f"the store `{location.backend}` is no folder of this machine, so git can't serve it",
            "keep the vault in a folder if you need history",
        )
    if not is_installed():
        return _NOT_INSTALLED
    try:
        return Repository.open(location.root)
    except GitError as error:
        if str(error) == NO_REPOSITORY:
            return _NONE_THERE
        return GitTrouble(f"git can't work in the vault: {error}")


def require_repository(location: VaultLocation) -> None:
    """For a pass that writes many files: raise RepositoryRequired unless it can be reverted."""
    repository = open_repository(location)
    if not isinstance(repository, Repository):
        raise RepositoryRequired(f"refused, nothing was changed: {repository.text}")
    obstacle = repository.obstacle()
    if obstacle is not None:
        raise RepositoryRequired(
            f"refused, nothing was changed: {obstacle.message} (cure: {obstacle.cure})"
        )


def commit_turn(location: VaultLocation, backend: StorageBackend) -> VaultMutex:
    """The lock under which one agentm at a time logs and commits. It is not the vault's own: files
    can be written meanwhile."""
    return VaultMutex(f"{backend.identity}\0git", location.locks_dir, timeout=COMMIT_TURN_TIMEOUT)


def message(
    subject: str,
    run_id: str,
    pass_name: str,
    rules_hash: str | None,
    version: str | None = None,
) -> str:
    """A commit's message with the trailers by which a run is found again. The subject stays one
    line: a file's name must not write trailers."""
    subject = _CONTROLS.sub("\ufffd", subject)
    trailers = {
        "Agentm-Run": run_id,
        "Agentm-Pass": pass_name,
        "Agentm-Version": version,
        "Agentm-Rules": rules_hash,
    }
    ends = "\n".join(f"{name}: {text}" for name, text in trailers.items() if text)
    return f"{subject}\n\n{ends}\n"


def new_run_id(pass_name: str, now: datetime) -> str:
    """Such as forget-20260412T081500Z-3f9a2c."""
    return f"{pass_name}-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{os.urandom(3).hex()}"


def _now() -> datetime:
    return datetime.now(UTC)


class Run:
    """What one run writes. Made by `begin`; `outcome` is there when its block is left."""

    def __init__(
        self,
        location: VaultLocation,
        backend: StorageBackend,
        pass_name: str,
        run_id: str,
        rules_hash: Callable[[], str | None],
        now: Callable[[], datetime],
        subject: str | None,
        version: str | None = None,
    ) -> None:
        self.run_id = run_id
        self.pass_name = pass_name
        self.outcome: Outcome = Committed(None)
        self.subject = subject
        self._location = location
        self._backend = backend
        self._rules_hash = rules_hash
        self._now = now
        self._version = version
        self._pending: PendingWrites = pending_of(location, run_id)
        self._changes: dict[str, Change] = {}
        self._written: dict[str, bytes | None] = {}  # None: the run took the name away
        self._records: dict[str, bytes] = {}
        self._repository = open_repository(location)
        self._has_turn = False  # held while a rewrite that lost its races is tried again

    @property
    def changes(self) -> tuple[Change, ...]:
        """The files that were changed so far, one entry each, in the order of the first write."""
        return tuple(self._changes.values())

    def has_written(self, locator: Locator) -> bool:
        """Did the run change that file?"""
        return locator.key in self._changes

    def write(self, locator: Locator, data: bytes, *, expect: str | Absent) -> str:
        """Put the whole file through the seam, and note it. Returns the content hash.

        `expect`: the hash of the bytes that the caller judged, or ABSENT to make the file. What is
        there and not in git yet is committed as it is before it is replaced. Raises
        ConcurrentModificationError, FileExistsError, StorageError, GitError's words as StorageError
        when those bytes can't be committed: then nothing was written.
        """
        old = None
        if not isinstance(expect, Absent):
            old = self._backend.read_bytes(locator)
            if content_hash(old) != expect:
                raise ConcurrentModificationError(
                    f"{locator} changed since it was read; read it again, then write"
                )
        change = self._announce(locator, old, data)
        after = self._backend.write_bytes(locator, data, expect=expect)
        self._note(change, data)
        return after

    def rewrite(self, locator: Locator, change: Callable[[bytes], bytes]) -> Written:
        """Change the file through the seam, again and again while others are quicker, and note it.

        See `read_modify_write`. A change that gives the same bytes back is no write. Keeping old
        bytes takes git a while, in which another run may write: after five lost races it is the
        other runs that wait.
        """
        try:
            return self._rewrite(locator, change)
        except (ConcurrentModificationError, OwnershipLost):
            with commit_turn(self._location, self._backend).held():
                self._has_turn = True
                try:
                    return self._rewrite(locator, change)
                finally:
                    self._has_turn = False

    def move(self, source: Locator, target: Locator, data: bytes, *, expect: str) -> str:
        """Give the file another name, and then these bytes. Returns their content hash.

        For a note that nothing links to; the caller has made sure. `expect` is the hash of the
        bytes that the caller judged. A kill in between leaves them under either name or both, and
        the next pass ends it. Raises FileExistsError for a name that is taken, and as `write` does;
        when the bytes under the new name were changed at once, they stay and the move stands.
        """
        old = self._backend.read_bytes(source)
        if content_hash(old) != expect:
            raise ConcurrentModificationError(
                f"{source} changed since it was read; read it again, then write"
            )
        gone = self._announce(source, old, None)
        arrived = self._entered(
            Change(
                run=self.run_id,
                pass_name=self.pass_name,
                path=target.key,
                before=None,
                after=expect,
                base=None,
                at=gone.at,
                moved_from=source.key,
            )
        )
        final = self._entered(replace(arrived, after=content_hash(data)))
        self._backend.rename_unlinked(source, target, expect=expect)
        self._note(gone, None)
        self._note(arrived, old)
        after = self._backend.write_bytes(target, data, expect=expect)
        self._note(final, data)
        return after

    def record(self, record: Locator, lines: Sequence[bytes]) -> None:
        """Add lines to a file of machine records. It is committed with the run and not taken back
        with it. Raises StorageError."""
        self._records[record.key] = append_lines(self._backend, record, lines)

    def _rewrite(self, locator: Locator, change: Callable[[bytes], bytes]) -> Written:
        latest: list[tuple[Change, bytes]] = []

        def announce(old: bytes, new: bytes) -> None:
            latest[:] = [(self._announce(locator, old, new), new)]

        written = read_modify_write(self._backend, locator, change, before_write=announce)
        if written.changed:
            self._note(*latest[0])
        return written

    def _announce(self, locator: Locator, old: bytes | None, new: bytes | None) -> Change:
        first = self._changes.get(locator.key)
        if first is not None and self._written[locator.key] == old and not first.moved_from:
            before, base = first.before, first.base  # of one run, only the first image counts
        elif old is not None:
            before, base = content_hash(old), self._keep(locator.key, old)
        else:
            before, base = None, None
        return self._entered(
            Change(
                run=self.run_id,
                pass_name=self.pass_name,
                path=locator.key,
                before=before,
                after=GONE if new is None else content_hash(new),
                base=base,
                at=revert_log.stamp(self._now()),
            )
        )

    def _entered(self, change: Change) -> Change:
        try:
            self._pending.enter(change)
        except OSError as error:
            raise StorageError(
                f"{self._location.log_dir} can't be written ({error.strerror}), so nothing was "
                "changed. Mend that folder, or set XDG_STATE_HOME."
            ) from error
        return change

    def _note(self, change: Change, data: bytes | None) -> None:
        self._changes[change.path] = change
        self._written[change.path] = data

    def _keep(self, path: str, old: bytes) -> str | None:
        """The commit that holds the bytes which are about to be replaced; made if there is none."""
        repository = self._repository
        if not isinstance(repository, Repository):
            return None
        failed = f"{path} could not be committed before the write, so it was not changed"
        try:
            head = repository.head()
            if repository.holds(head, path, old):
                return head
            foreign = repository.foreign([path])
            if foreign:
                raise StorageError(f"{failed}: {foreign[path]}")
            if repository.ignored([path]):
                return None  # not to be put into history; the outcome says what that means
            obstacle = repository.obstacle()
            if obstacle is not None:
                raise StorageError(
                    f"{path} holds changes that git has not, and they can't be committed before "
                    f"the write, so it was not changed: {obstacle.message} (cure: {obstacle.cure})"
                )
            text = message(
                f"Keep {path} as it was before {self.pass_name}",
                self.run_id,
                "capture",
                self._rules_hash(),
            )
            turn = commit_turn(self._location, self._backend)
            with nullcontext() if self._has_turn else turn.held():
                if not self._is_there(path, old):
                    # Another run wrote the file meanwhile and may have committed it: HEAD must not
                    # go back. The write that follows fails its comparison.
                    return repository.head()
                made = repository.commit({path: old}, text, Author("agentm-capture"))
            kept = made or repository.head()
            if not repository.holds(kept, path, old):
                raise StorageError(
                    f"{path} was not changed: git keeps other bytes of it than it holds, because "
                    "of a filter in .gitattributes, so they could not be brought back. Exempt it "
                    "there, or edit it by hand."
                )
        except GitError as error:
            raise StorageError(f"{failed}: {error}") from error
        return kept

    def _is_there(self, path: str, data: bytes) -> bool:
        try:
            return self._backend.read_bytes(Locator(path)) == data
        except FileNotFoundError:
            return False

    def finish(self) -> None:
        """Log and commit what was written. `begin` calls it."""
        if not self._changes and not self._records:
            self._pending.close()
            return
        try:
            with commit_turn(self._location, self._backend).held():
                records = dict(self._records)
                if self._changes:
                    records[LOG.key] = revert_log.append(self._backend, self.changes)
                self.outcome = commit_changes(
                    self._repository,
                    self._backend,
                    {path: self._written[path] for path in self._changes},
                    self._changes,
                    records,
                    message(
                        self.subject
                        or default_subject(self.pass_name, [*self._changes] or [*records]),
                        self.run_id,
                        self.pass_name,
                        self._rules_hash(),
                        self._version,
                    ),
                    self.pass_name,
                )
        except LockTimeout as error:
            self.outcome = GitTrouble(f"{error} What was written stands and is committed later.")
        except BaseException:
            self._pending.leave()
            raise
        if isinstance(self.outcome, GitTrouble):
            self._pending.leave()
        else:
            self._pending.close()


def default_subject(pass_name: str, paths: list[str]) -> str:
    name = pass_name.capitalize()
    return f"{name} {paths[0]}" if len(paths) == 1 else f"{name}: {len(paths):,} files"


def commit_changes(
    repository: Repository | NoRepository | GitTrouble,
    backend: StorageBackend,
    written: Mapping[str, bytes | None],
    changes: Mapping[str, Change],
    records: Mapping[str, bytes],
    text: str,
    pass_name: str,
) -> Outcome:
    """One commit of what a run wrote, and of the records: the log and others. The caller holds the
    commit turn."""
    if not isinstance(repository, Repository):
        return repository
    obstacle = repository.obstacle()
    if obstacle is not None:
        return GitTrouble(obstacle.text)
    try:
        head = repository.head()
        foreign = repository.foreign([*written, *records])
        ignored = repository.ignored(path for path in [*written, *records] if path not in foreign)
        files: dict[str, bytes | None] = {
            path: data
            for path, data in written.items()
            if path not in ignored
            and path not in foreign
            and _is_next(repository, backend, head, path, data, changes[path].before)
        }
        files |= {
            path: data
            for path, data in records.items()
            if path not in ignored and path not in foreign
        }
        made = repository.commit(files, text, Author(f"agentm-{pass_name}")) if files else None
    except GitError as error:
        return GitTrouble(str(error))
    left_out = tuple(f"{path}: {reason}" for path, reason in sorted(foreign.items()))
    return Committed(made, tuple(sorted(ignored)), left_out)


def _is_next(
    repository: Repository,
    backend: StorageBackend,
    head: str | None,
    path: str,
    data: bytes | None,
    before: str | None,
) -> bool:
    """Whether these bytes come next in the file's history (None: that nothing has its name). They
    do not when others wrote the file since and committed what they found: HEAD would go back in
    time."""
    if data is None:
        return not backend.exists(Locator(path))
    with suppress(FileNotFoundError, StorageError):  # gone, or a link by now: HEAD decides
        if backend.read_bytes(Locator(path)) == data:
            return True
    held = repository.content(head, path) if head else None
    return (None if held is None else content_hash(held)) == before


@contextmanager
def begin(
    location: VaultLocation,
    backend: StorageBackend,
    *,
    pass_name: str,
    run_id: str | None = None,
    rules_hash: str | None = None,
    subject: str | None = None,
    version: str | None = None,
    now: Callable[[], datetime] = _now,
) -> Iterator[Run]:
    """A run of the pass `pass_name` ("forget", "enrich"…).

    When the block is left, also by an exception, what was written is logged and committed: one
    commit of just those files and the log, by `agentm-<pass>`, with `subject` as its first line.
    `Run.outcome` says what became of it; show it. `rules_hash`: of the rules that the pass judged
    by; None for one that judges nothing: then that of the rules in force is noted. `version`: of a
    pass that has versions.
    """
    if not _PASS_NAME.fullmatch(pass_name):
        raise ValueError(f"{pass_name!r} is no name of a pass")
    chosen = run_id or new_run_id(pass_name, now())
    if not _RUN_ID.fullmatch(chosen):
        raise ValueError(f"{chosen!r} is no id of a run")

    @cache
    def judged_by() -> str | None:
        return rules_hash or hash_in_force(location, backend, os.environ)

    run = Run(location, backend, pass_name, chosen, judged_by, now, subject, version)
    try:
        yield run
    finally:
        run.finish()
