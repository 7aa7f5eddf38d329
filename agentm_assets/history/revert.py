"""Taking a run back: only where nobody has touched its result since.

A file that still holds the bytes which the run left gets back those it held before. One that
someone has changed since is a conflict and stays as it is. Nothing is deleted: a memory that the
run made is marked `status: expired`, under the name that the run left it with; any other file that
it made stays and is named.

Taking back is itself a run, of the pass `revert`: it can be taken back by its own id, and run again
it finds nothing to do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.edit import EditRefused, set_key
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.history.footer_writes import FOOTER_PASS, same_but_for_footers
from agentm_assets.history.git import Repository
from agentm_assets.history.outcome import Outcome
from agentm_assets.history.revert_log import GONE, LOG, Change, may_be_of, read_lines
from agentm_assets.history.run import Run, begin, open_repository
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend, StorageError, content_hash

PASS = "revert"

Fate = Literal["restored", "expired", "left", "done", "conflict"]


_Planned = tuple["FileReverted", bytes | None, str]
"""The fate, the bytes to write if any, and the hash of those that are there."""


class UnknownRun(Exception):
    """The revert log has no such run."""


@dataclass(frozen=True, slots=True)
class FileReverted:
    """What became of one file. "restored": it holds its old bytes again. "expired": the run made
    it, and it is marked so. "left": the run made it, it is no memory, and stays. "done": it was
    taken back before. "conflict": it stays as it is; `reason` says why."""

    path: str
    fate: Fate
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reverted:
    """`by` is the id of the run that took `run` back; None when nothing was written. `unreadable`:
    lines of the log that may be of this run and can't be understood, so that files of it may be
    missing here."""

    run: str
    by: str | None
    files: tuple[FileReverted, ...]
    outcome: Outcome | None
    unreadable: int = 0

    @property
    def conflicts(self) -> tuple[FileReverted, ...]:
        return tuple(file for file in self.files if file.fate == "conflict")


def revert(
    location: VaultLocation,
    backend: StorageBackend,
    run_id: str,
    *,
    now: Callable[[], datetime],
    dry_run: bool = False,
) -> Reverted:
    """Take the run `run_id` back, as far as nobody has changed its files since.

    With `dry_run` nothing is written and the files' fates are those that would come. Raises
    UnknownRun, and StorageError when the log can't be read or the result can't be logged.
    """
    changes, broken = read_lines(backend)
    unreadable = sum(may_be_of(line, run_id) for line in broken)
    net = _moves_first(net_changes([change for change in changes if change.run == run_id]))
    if not net and unreadable:
        raise StorageError(
            f"the lines of run {run_id} in {LOG} can't be understood, so nothing was taken back. "
            f"Mend them from git: git log -p -- {LOG}"
        )
    if not net:
        raise UnknownRun(
            f"the revert log has no run {run_id}; `agentm history` lists the runs it has"
        )
    if dry_run:
        planned = [
            _plan_back(location, backend, change, net, changes)[0]
            if _had_a_name_before(change, net)
            else _plan(location, backend, change, changes)[0]
            for change in net
        ]
        return Reverted(run_id, None, tuple(planned), None, unreadable)
    with begin(location, backend, pass_name=PASS, subject=f"Revert {run_id}", now=now) as run:
        files = tuple(
            _move_back(location, backend, run, change, net, changes)
            if _had_a_name_before(change, net)
            else _take_back(location, backend, run, change, changes)
            for change in net
        )
    wrote = bool(run.changes)
    by, outcome = (run.run_id, run.outcome) if wrote else (None, None)
    return Reverted(run_id, by, files, outcome, unreadable)


def net_changes(changes: Sequence[Change]) -> list[Change]:
    """One change a file, of a run that may have written it several times: from the bytes before
    the first of its writes in a row to those after the last."""
    net: dict[str, Change] = {}
    for change in changes:
        first = net.get(change.path)
        if first is not None and first.after == change.before:
            change = replace(
                change,
                before=first.before,
                base=first.base,
                moved_from=first.moved_from or change.moved_from,
            )
        net[change.path] = change
    return list(net.values())


def _moves_first(net: Sequence[Change]) -> list[Change]:
    """The names that a run gave, before those that it took away: moving a file back brings its old
    name back, and there is nothing left to do for that."""
    return sorted(net, key=lambda change: change.after == GONE)


def _had_a_name_before(change: Change, net: Sequence[Change]) -> bool:
    """Whether the run gave another name to a file that was there before it. One that it made and
    then moved has no old name to go back to, and stays under the new one."""
    by_path = {each.path: each for each in net}
    origin: Change | None = change
    while origin is not None and origin.moved_from is not None:
        origin = by_path.pop(origin.moved_from, None)  # popped: names may have gone in a circle
    return change.moved_from is not None and (origin is None or origin.before is not None)


def _move_back(
    location: VaultLocation,
    backend: StorageBackend,
    run: Run,
    change: Change,
    net: Sequence[Change],
    log: Sequence[Change],
) -> FileReverted:
    fate, image, found = _plan_back(location, backend, change, net, log)
    if image is None or change.moved_from is None:
        return fate
    try:
        run.move(Locator(change.path), Locator(change.moved_from), image, expect=found)
    except FileExistsError:
        return FileReverted(change.path, "conflict", f"{change.moved_from} is another note's now")
    except (StorageError, FileNotFoundError) as error:
        return FileReverted(change.path, "conflict", str(error))
    return fate


def _plan_back(
    location: VaultLocation,
    backend: StorageBackend,
    change: Change,
    net: Sequence[Change],
    log: Sequence[Change],
) -> _Planned:
    """What is to become of a file that the run moved, and the bytes for it under its old name."""
    fate, _, found = _plan(location, backend, change, log)
    if fate.fate in ("done", "conflict"):
        return fate, None, found
    origin = next((each for each in net if each.path == change.moved_from), None)
    if origin is None or change.moved_from is None:
        why = "the log does not say what it held under its old name"
        return FileReverted(change.path, "conflict", why), None, found
    if backend.exists(Locator(change.moved_from)):
        why = f"{change.moved_from} is another note's now"
        return FileReverted(change.path, "conflict", why), None, found
    image = _image(location, origin)
    if image is None:
        why = "git does not have the bytes that it held before"
        return FileReverted(change.path, "conflict", why), None, found
    return FileReverted(change.path, "restored", f"as {change.moved_from} again"), image, found


def _take_back(
    location: VaultLocation,
    backend: StorageBackend,
    run: Run,
    change: Change,
    log: Sequence[Change],
) -> FileReverted:
    fate, data, found = _plan(location, backend, change, log)
    if data is None:
        return fate
    try:
        run.write(Locator(change.path), data, expect=found)
    except (StorageError, FileNotFoundError) as error:
        return FileReverted(change.path, "conflict", str(error))
    return fate


def _plan(
    location: VaultLocation, backend: StorageBackend, change: Change, log: Sequence[Change]
) -> _Planned:
    """What is to become of the file, and the bytes to write for it, if any."""
    path = change.path
    try:
        current = backend.read_bytes(Locator(path))
    except FileNotFoundError:
        if change.before is None:
            return FileReverted(path, "done", "it is gone"), None, GONE
        if change.after == GONE:
            return FileReverted(path, "left", "its file has another name"), None, GONE
        return FileReverted(path, "conflict", "it is gone since"), None, GONE
    except StorageError as error:
        return FileReverted(path, "conflict", str(error)), None, GONE
    found = content_hash(current)
    same = frozenset({found})
    if change.pass_name != FOOTER_PASS:
        same = same_but_for_footers(path, found, log)
    if change.before in same or any(_was_taken_back(change, each, log) for each in same):
        return FileReverted(path, "done"), None, found
    if change.after not in same:
        return FileReverted(path, "conflict", "it was changed since"), None, found
    if change.before is None:
        return (*_expire(path, current), found)
    image = _image(location, change)
    if image is None:
        why = "git does not have the bytes that it held before"
        return FileReverted(path, "conflict", why), None, found
    return FileReverted(path, "restored"), image, found


def _was_taken_back(change: Change, found: str, log: Sequence[Change]) -> bool:
    """Whether the file is as a former revert of this change left it."""
    return any(
        other.pass_name == PASS
        and (other.path, other.before, other.after) == (change.path, change.after, found)
        for other in log
    )


def _expire(path: str, current: bytes) -> tuple[FileReverted, bytes | None]:
    frontmatter = read_frontmatter(current)
    keys = frontmatter.fields
    if not path.endswith(".md") or "kind" in keys or not {"type", "status"} & keys.keys():
        why = "the run made it, it is no memory, and nothing is deleted: remove it if you like"
        return FileReverted(path, "left", why), None
    try:
        return FileReverted(path, "expired"), set_key(current, "status", "expired")
    except EditRefused as error:
        return FileReverted(path, "conflict", f"it can't be marked expired: {error}"), None


def _image(location: VaultLocation, change: Change) -> bytes | None:
    """The bytes before the change, if git has them unaltered."""
    repository = open_repository(location)
    if change.base is None or not isinstance(repository, Repository):
        return None
    for filtered in (True, False):
        data = repository.content(change.base, change.path, filtered=filtered)
        if data is not None and content_hash(data) == change.before:
            return data
    return None
