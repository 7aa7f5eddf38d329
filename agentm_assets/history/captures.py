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
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from agentm_assets.capture.journal import JournalEntry, mark_committed, not_committed
from agentm_assets.config.vault import VaultLocation
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
from agentm_assets.history.revert_log import Change
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

_MANY_GONE = 20
_GONE_SHARE = 10

_CAPTURE = Author("agentm-capture")
_INDEX = Author("agentm-index")


@dataclass(frozen=True, slots=True)
class Settled:
    """What was brought into git. `recovered`: writes of runs that had been killed or that git could
    not serve. `held`: files that are gone and whose deletion is not committed: not yet, or because
    too many vanished at once. `waiting`: captures that could not be committed."""

    captures: int
    recovered: int
    deletions: int
    held: int
    waiting: int
    outcome: Outcome

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
            captures, said = commit_waiting(location, backend, run_id=run_id, rules_hash=rules_hash)
            outcome = _worse(outcome, said)
            if isinstance(outcome, Committed):
                deletions, held, said = confirm_deletions(location, backend, now=now, run_id=run_id)
                outcome = _worse(outcome, said)
    except StorageError as error:
        outcome = GitTrouble(str(error))
    waiting = 0 if isinstance(outcome, Committed) else len(not_committed(location).entries)
    return Settled(captures, recovered, deletions, held, waiting, outcome)


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
            more, said = commit_waiting(location, backend, run_id=run_id, rules_hash=rules_hash)
    except StorageError as error:
        more, said = 0, GitTrouble(str(error))
    outcome = _worse(so_far.outcome, said)
    return replace(so_far, captures=so_far.captures + more, outcome=outcome)


def commit_waiting(
    location: VaultLocation,
    backend: StorageBackend,
    *,
    run_id: str,
    rules_hash: str | None = None,
) -> tuple[int, Outcome]:
    """Commit what stands in the capture journal and git was not told of; how many entries that
    were. The caller holds the commit turn."""
    waiting = not_committed(location)
    outcome: Outcome = Committed(None)
    for first in range(0, len(waiting.entries), _ONE_COMMIT):
        some = waiting.entries[first : first + _ONE_COMMIT]
        said = commit_captures(location, backend, some, run_id=run_id, rules_hash=rules_hash)
        outcome = _worse(outcome, said)
        if not isinstance(outcome, Committed):
            return 0, outcome
    if waiting.entries:
        mark_committed(location, waiting.end)
    return len(waiting.entries), outcome


def commit_captures(
    location: VaultLocation,
    backend: StorageBackend,
    entries: Sequence[JournalEntry],
    *,
    run_id: str,
    rules_hash: str | None = None,
) -> Outcome:
    """Commit the captured files of the journal, in one commit. The caller holds the commit turn.

    A file that HEAD lacks is committed as it is now, also when the operator has edited it since.
    One that HEAD has is committed only with the bytes that the journal names (a note that was
    captured again): any other change is the operator's. A file that is gone is left out.
    """
    repository = open_repository(location)
    if not isinstance(repository, Repository):
        return repository
    obstacle = repository.obstacle()
    if obstacle is not None:
        return GitTrouble(obstacle.text)
    try:
        known = repository.tracked(repository.head(), [entry.path for entry in entries])
        files: dict[str, bytes | None] = {}
        for entry in entries:
            try:
                data = backend.read_bytes(Locator(entry.path))
            except FileNotFoundError:
                continue
            if entry.path not in known or content_hash(data) == entry.content_hash:
                files[entry.path] = data
        ignored = repository.ignored(files)
        files = {path: data for path, data in files.items() if path not in ignored}
        if not files:
            return Committed(None, tuple(sorted(ignored)))
        only = next(iter(files))
        subject = f"Capture {only}" if len(files) == 1 else f"Capture {len(files):,} notes"
        made = repository.commit(files, message(subject, run_id, "capture", rules_hash), _CAPTURE)
        repository.tidy()
    except (GitError, StorageError) as error:
        return GitTrouble(str(error))
    return Committed(made, tuple(sorted(ignored)))


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
    """Log and commit what a run that is over really wrote; how many files that are."""
    real: dict[str, Change] = {}
    written: dict[str, bytes] = {}
    for change in left.changes:
        try:
            data = backend.read_bytes(Locator(change.path))
        except FileNotFoundError:
            continue
        if content_hash(data) == change.after:
            real[change.path], written[change.path] = change, data
    if not real:
        left.pending.close()
        return 0, Committed(None)
    first = left.changes[0]
    log = revert_log.append(backend, list(real.values()))
    outcome = commit_changes(
        open_repository(location),
        backend,
        written,
        real,
        log,
        message(default_subject(first.pass_name, list(real)), first.run, first.pass_name, None),
        first.pass_name,
    )
    if not isinstance(outcome, GitTrouble):
        left.pending.close()
    return len(real), outcome


def _worse(one: Outcome, other: Outcome) -> Outcome:
    """The outcome that the operator should rather hear of; of equals the later."""
    return one if _gravity(one) > _gravity(other) else other


def _gravity(outcome: Outcome) -> int:
    if isinstance(outcome, Committed):
        return 1 if outcome.ignored else 0
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
