"""What the background commits: captures, what killed runs left, and deletions on a second look.

A capture writes its file and its line in the journal and goes; an index run calls `settle` before
anything could rewrite a note.

Whose deletions: those of files that an `agentm-…` commit brought in. A tracked file that the
operator made and removed is theirs to commit, and so is one whose removal they have staged.
"""

import json
import os
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from agentm_assets.capture.journal import (
    Held,
    JournalEntry,
    held_back,
    mark_committed,
    not_committed,
)
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract import properties
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.history import revert_log
from agentm_assets.history.git import Author, GitError, Repository
from agentm_assets.history.outcome import (
    Committed,
    GitTrouble,
    NoRepository,
    Outcome,
    is_worth_a_remark,
)
from agentm_assets.history.pending import Abandoned, abandoned
from agentm_assets.history.revert_log import GONE, LOG, Change
from agentm_assets.history.run import (
    commit_changes,
    commit_turn,
    default_subject,
    message,
    open_repository,
)
from agentm_assets.storage.atomic import sweep_temps
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.seam import StorageBackend, StorageError, content_hash

SECOND_LOOK_SECONDS = 90.0
"""A sync client may take a file away and bring it back: it must be gone for this long (measured in
a system before this one: two notes came back after their deletion was committed)."""

_ONE_COMMIT = 5000
"""Captures in one commit at most: their bytes are held in memory."""

_STRAY_BYTES = 2 * 1024 * 1024
_STRAY_SPACES = ("Agent/memory", "standards", "projects")
_GONE = "it is gone"

_MANY_GONE = 20
_GONE_SHARE = 10

_CAPTURE = Author("agentm-capture")
_INDEX = Author("agentm-index")


@dataclass(frozen=True, slots=True)
class Settled:
    """What was brought into git. `recovered`: writes of runs that had been killed or that git could
    not serve. `held`: files that are gone and whose deletion is not committed: not yet, or because
    too many vanished at once. `waiting`: captures that git does not have yet. `at`: when."""

    captures: int
    recovered: int
    deletions: int
    held: int
    waiting: int
    outcome: Outcome
    at: datetime

    @property
    def remark(self) -> str | None:
        """What the operator must hear even when nobody asks: that something is not committed."""
        if isinstance(self.outcome, NoRepository) and not self.waiting:
            return None  # doctor and status say so; there is nothing that waits for one
        return self.outcome.text if is_worth_a_remark(self.outcome) else None

    @property
    def text(self) -> str:
        """One line for the operator."""
        if is_worth_a_remark(self.outcome):
            return self.outcome.text
        counts = (
            (self.captures, "captures committed"),
            (self.recovered, "files of interrupted runs committed"),
            (self.deletions, "deletions committed"),
            (self.held, "missing files that the next pass looks for again"),
        )
        return ", ".join(f"{what}: {count:,}" for count, what in counts if count) or "nothing to do"


@dataclass(frozen=True, slots=True)
class Standing:
    """How many captures git does not have yet, and what to say of that."""

    uncommitted: int
    text: str


def standing(location: VaultLocation) -> Standing:
    """Looks, and changes nothing. Raises StorageError when the capture journal can't be read."""
    try:
        count = len(not_committed(location).entries)
    except OSError as error:
        raise StorageError(
            f"the capture journal in {location.log_dir} can't be read ({error.strerror}). Mend its "
            "permissions."
        ) from error
    repository = open_repository(location)
    if not isinstance(repository, Repository):
        return Standing(count, repository.text)
    if not count:
        return Standing(0, "every capture is in git")
    obstacle = repository.obstacle()
    why = obstacle.text if obstacle else "the next pass commits them (agentm index)"
    stuck = [each for each in held_back(location) if each.reason != _GONE]
    if stuck and not obstacle:
        why = f"{len(stuck):,} of them can't be: {stuck[0].entry.path}: {stuck[0].reason}"
    return Standing(count, f"captures not in git yet: {count:,}; {why}")


def settle(
    location: VaultLocation,
    backend: StorageBackend,
    *,
    now: datetime,
    run_id: str,
    rules_hash: str | None = None,
) -> Settled:
    """Bring git in line with what agentm wrote since the last time, before a pass rewrites it.

    Remains of killed writers are removed first. Never raises for git's or the vault's sake: the
    outcome says what could not be done, and the next pass tries again. Raises OSError when the
    logs of this machine can't be read or written.
    """
    sweep_temps(location.root)
    captures = recovered = deletions = held = 0
    outcome: Outcome = Committed(None)
    try:
        with commit_turn(location, backend).held():
            for left in abandoned(location):
                count, said = _recover(location, backend, left)
                recovered += count
                outcome = _worse(outcome, said)
            captures, said = commit_waiting(
                location, backend, now=now, run_id=run_id, rules_hash=rules_hash
            )
            outcome = _worse(outcome, said)
            if isinstance(said, Committed):
                strays, said = commit_strays(
                    location, backend, now=now, run_id=run_id, rules_hash=rules_hash
                )
                captures += strays
                outcome = _worse(outcome, said)
            if isinstance(outcome, Committed):
                deletions, held, said = confirm_deletions(location, backend, now=now, run_id=run_id)
                outcome = _worse(outcome, said)
    except StorageError as error:
        outcome = GitTrouble(str(error))
    waiting = len(not_committed(location).entries)
    return Settled(captures, recovered, deletions, held, waiting, outcome, now)


def commit_new(
    so_far: Settled,
    location: VaultLocation,
    backend: StorageBackend,
    *,
    run_id: str,
    rules_hash: str | None = None,
) -> Settled:
    """`settle` for captures alone: for those that came, or were captured again, since."""
    if not isinstance(so_far.outcome, Committed):
        return so_far
    try:
        with commit_turn(location, backend).held():
            more, said = commit_waiting(
                location, backend, now=so_far.at, run_id=run_id, rules_hash=rules_hash
            )
    except StorageError as error:
        more, said = 0, GitTrouble(str(error))
    outcome = _worse(so_far.outcome, said)
    return replace(so_far, captures=so_far.captures + more, outcome=outcome)


def commit_waiting(
    location: VaultLocation,
    backend: StorageBackend,
    *,
    now: datetime,
    run_id: str,
    rules_hash: str | None = None,
) -> tuple[int, Outcome]:
    """Commit what stands in the capture journal and git does not have; how many entries that were.

    A file that can't be committed is held back by itself, with the reason, and named; one that is
    gone waits for a second look. The caller holds the commit turn.
    """
    waiting = not_committed(location)
    if not waiting.entries:
        return 0, Committed(None)
    repository = _usable(location)
    if not isinstance(repository, Repository):
        return 0, repository
    before = {each.entry.path: each for each in held_back(location)}
    held: list[Held] = []
    outcome: Outcome = Committed(None)
    for first in range(0, len(waiting.entries), _ONE_COMMIT):
        some = waiting.entries[first : first + _ONE_COMMIT]
        said, left = _commit_captures(repository, backend, some, run_id, rules_hash)
        outcome = _worse(outcome, said)
        if not isinstance(outcome, Committed):
            return 0, outcome
        for entry, reason in left:
            known = before.get(entry.path)
            same = known is not None and known.reason == reason
            since = min(known.since, now.timestamp()) if known and same else now.timestamp()
            if reason != _GONE or now.timestamp() - since < SECOND_LOOK_SECONDS:
                held.append(Held(entry, reason, since))
    mark_committed(location, waiting.end, held)
    return len(waiting.entries) - len(held), outcome


def commit_strays(
    location: VaultLocation,
    backend: StorageBackend,
    *,
    now: datetime,
    run_id: str,
    rules_hash: str | None = None,
) -> tuple[int, Outcome]:
    """Commit captures that no journal of this place lists; how many. They are there when a capture
    was killed before its line or could not write it, came back after it was given up, or the vault
    was moved.

    They are what git neither has nor ignores where captures go, with a capture's frontmatter. The
    caller holds the commit turn.
    """
    repository = _usable(location)
    if not isinstance(repository, Repository):
        return 0, Committed(None) if isinstance(repository, NoRepository) else repository
    try:
        untracked = repository.untracked(_STRAY_SPACES)
    except GitError as error:
        return 0, GitTrouble(str(error))
    known = {each.entry.path for each in held_back(location)}
    strays = [
        JournalEntry(path, content_hash(data), "", now.isoformat(), "capture")
        for path in untracked
        if path not in known and (data := _captured(backend, path)) is not None
    ]
    if not strays:
        return 0, Committed(None)
    held = repository.tracked(repository.head(), [entry.path for entry in strays])
    strays = [entry for entry in strays if entry.path not in held]  # untracked by the operator
    outcome: Outcome = Committed(None)
    for first in range(0, len(strays), _ONE_COMMIT):
        some = strays[first : first + _ONE_COMMIT]
        said, _left = _commit_captures(repository, backend, some, run_id, rules_hash)
        outcome = _worse(outcome, said)
    return len(strays) if isinstance(outcome, Committed) else 0, outcome


def _usable(location: VaultLocation) -> Repository | NoRepository | GitTrouble:
    """The repository while it may be committed to."""
    repository = open_repository(location)
    if isinstance(repository, Repository):
        try:
            obstacle = repository.obstacle()
        except GitError as error:
            return GitTrouble(str(error))
        if obstacle is not None:
            return GitTrouble(obstacle.text)
    return repository


def _captured(backend: StorageBackend, path: str) -> bytes | None:
    """The bytes of a note that a capture made, as its frontmatter says; None for any other file."""
    stem = path.rpartition("/")[2].removesuffix(".md")
    if not path.endswith(".md") or (path[:9].casefold() == "projects/" and path.count("/") < 3):
        return None
    try:
        data = backend.read_bytes(Locator(path), limit=_STRAY_BYTES)
    except (FileNotFoundError, StorageError, LocatorInvalid):
        return None  # it is not known to be one, and the next pass looks again
    if not data.startswith(b"---") or b"captured:" not in data or b"slug:" not in data:
        return None
    frontmatter = read_frontmatter(data)
    slug = properties.text_of(frontmatter, "slug")
    is_capture = slug is not None and _composed(slug) == _composed(stem)
    return data if is_capture and properties.captured(frontmatter) is not None else None


def _commit_captures(
    repository: Repository,
    backend: StorageBackend,
    entries: Sequence[JournalEntry],
    run_id: str,
    rules_hash: str | None,
) -> tuple[Outcome, list[tuple[JournalEntry, str]]]:
    """Commit these captured files, in one commit. With it come those that could not be, and why.

    A file that HEAD lacks is committed as it is now, also when the operator has edited it since.
    One that HEAD has is committed only with the bytes that the journal names (a note that was
    captured again): any other change is the operator's.
    """
    left: list[tuple[JournalEntry, str]] = []
    files: dict[str, bytes | None] = {}
    try:
        known = repository.tracked(repository.head(), [entry.path for entry in entries])
        foreign = repository.foreign(entry.path for entry in entries)
        for entry in entries:
            if entry.path in foreign:
                left.append((entry, foreign[entry.path]))
                continue
            try:
                data = backend.read_bytes(Locator(entry.path))
            except FileNotFoundError:
                left.append((entry, _GONE))
                continue
            except (StorageError, LocatorInvalid) as error:
                left.append((entry, str(error).removeprefix(f"{entry.path}: ")))
                continue
            if entry.path not in known or content_hash(data) == entry.content_hash:
                files[entry.path] = data
        ignored = repository.ignored(files)
        files = {path: data for path, data in files.items() if path not in ignored}
        made = None
        if files:
            only = next(iter(files))
            subject = f"Capture {only}" if len(files) == 1 else f"Capture {len(files):,} notes"
            text = message(subject, run_id, "capture", rules_hash)
            made = repository.commit(files, text, _CAPTURE)
            repository.tidy()
    except GitError as error:
        return GitTrouble(str(error)), []
    names = (f"{entry.path}: {reason}" for entry, reason in left if reason != _GONE)
    return Committed(made, tuple(sorted(ignored)), tuple(names)), left


def confirm_deletions(
    location: VaultLocation, backend: StorageBackend, *, now: datetime, run_id: str
) -> tuple[int, int, Outcome]:
    """Commit the deletion of agentm's files that are gone on a second look.

    Returns how many were committed, how many wait, and the outcome. The first look only notes what
    is missing. When many are gone at once, nothing is committed: a mount is likelier than a person.
    The caller holds the commit turn.
    """
    repository = open_repository(location)
    if not isinstance(repository, Repository):
        return 0, 0, repository
    file = location.log_dir / "vanished.json"
    try:
        missing, tracked = repository.gone()
        if len(missing) > max(_MANY_GONE, tracked // _GONE_SHARE):
            _write_seen(file, {})
            return 0, len(missing), Committed(None)
        seen = _read_seen(file)
        moment = now.timestamp()
        gone = [
            path for path in missing if _is_gone(backend, path) and _is_agentms(repository, path)
        ]
        since = {path: min(seen.get(path, moment), moment) for path in gone}
        confirmed = [
            path for path in gone if path in seen and moment - since[path] >= SECOND_LOOK_SECONDS
        ]
        _write_seen(file, {path: at for path, at in since.items() if path not in confirmed})
        if not confirmed:
            return 0, len(gone), Committed(None)
        obstacle = repository.obstacle()
        if obstacle is not None:
            return 0, len(gone), GitTrouble(obstacle.text)
        only = confirmed[0] if len(confirmed) == 1 else f"{len(confirmed):,} notes"
        made = repository.commit(
            dict.fromkeys(confirmed),
            message(f"Note that {only} is gone", run_id, "index", None),
            _INDEX,
        )
    except GitError as error:
        return 0, 0, GitTrouble(str(error))
    return len(confirmed), len(gone) - len(confirmed), Committed(made)


def _recover(
    location: VaultLocation, backend: StorageBackend, left: Abandoned
) -> tuple[int, Outcome]:
    """Log what a run that is over wrote, and commit what still is as it left it; how many files
    were logged.

    A file that someone has changed since is logged with the bytes that the run left, so that taking
    the run back reports it; those changes are theirs to commit.
    """
    real: dict[str, Change] = {}
    written: dict[str, bytes | None] = {}
    _end_moves(backend, left.changes)
    announced: dict[str, list[Change]] = {}
    for change in left.changes:
        announced.setdefault(change.path, []).append(change)
    for path, tries in announced.items():
        try:
            data = backend.read_bytes(Locator(path))
        except (FileNotFoundError, StorageError):
            data = None  # gone since, or something else is in its place
        found = None if data is None else content_hash(data)
        after = GONE if found is None else found
        stands = next((change for change in reversed(tries) if change.after == after), None)
        if stands is not None:
            real[path], written[path] = stands, data
        elif found != tries[-1].before:
            real[path] = tries[-1]
    if not real:
        left.pending.close()
        return 0, Committed(None)
    first = left.changes[0]
    try:
        log = revert_log.append(backend, list(real.values()))
    except (StorageError, FileNotFoundError) as error:
        return 0, GitTrouble(str(error))
    outcome = commit_changes(
        open_repository(location),
        backend,
        written,
        real,
        {LOG.key: log},
        message(default_subject(first.pass_name, list(real)), first.run, first.pass_name, None),
        first.pass_name,
    )
    if not isinstance(outcome, GitTrouble):
        left.pending.close()
    return len(real), outcome


def _end_moves(backend: StorageBackend, changes: Sequence[Change]) -> None:
    """A kill in the midst of a move leaves the file under both names: take the old one away."""
    for change in changes:
        if change.moved_from is not None:
            source, target = Locator(change.moved_from), Locator(change.path)
            with suppress(FileNotFoundError, FileExistsError, StorageError):
                if backend.exists(target):
                    backend.rename_unlinked(source, target, expect=change.after)


def _worse(one: Outcome, other: Outcome) -> Outcome:
    """The outcome that the operator should rather hear of; of equals the later."""
    return one if _gravity(one) > _gravity(other) else other


def _gravity(outcome: Outcome) -> int:
    if isinstance(outcome, Committed):
        return 1 if is_worth_a_remark(outcome) else 0
    return 3 if isinstance(outcome, GitTrouble) else 2


def _is_gone(backend: StorageBackend, path: str) -> bool:
    """Whether nothing has that name in its folder, in whatever spelling of its accents."""
    try:
        locator = Locator(path)
        if backend.exists(locator):
            return False
        names = {_composed(found.name) for found in backend.list(locator.parent)}
    except (LocatorInvalid, StorageError):
        return False  # it can't be seen: not known to be gone
    return _composed(locator.name) not in names


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _is_agentms(repository: Repository, path: str) -> bool:
    author = repository.added_by(path)
    return author.startswith("agentm-") and author != "agentm-init"


def _read_seen(file: Path) -> dict[str, float]:
    try:
        written = json.loads(file.read_bytes())
        return {str(path): float(at) for path, at in written.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError):
        return {}  # torn by a full disk: then this is the first look again


def _write_seen(file: Path, seen: dict[str, float]) -> None:
    if not seen and not file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    temp = file.with_name(f"{file.name}.{os.urandom(4).hex()}.tmp")
    temp.write_text(json.dumps(seen), "utf-8")
    temp.replace(file)
