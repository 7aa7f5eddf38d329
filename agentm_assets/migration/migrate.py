"""The migration of a vault: every note looked at, what is plain edited, the rest listed.

One run of history: one commit, one id to take it back by, and a line a note in the record of
migrations. A second run finds nothing to do and writes nothing.
"""

import json
import posixpath
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.spaces import is_contract_exempt, is_generated, is_rules_file, space_of
from agentm_assets.history.outcome import Outcome
from agentm_assets.history.run import Run, begin, require_repository
from agentm_assets.migration.note import Edit, Left, Migrated, Wanted, migrate_note
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.personal import is_personal
from agentm_assets.storage.seam import StorageBackend, StorageError
from agentm_assets.storage.vault import NoteUnreadable, Vault

PASS: Final = "migrate"
RECORD: Final = Locator("Agent/_meta/migrations.jsonl")
"""A line a migrated note: its path, the run, and each edited line before and after."""


@dataclass(frozen=True, slots=True)
class NoteEdits:
    """What is done, or would be, to one note."""

    path: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class NoteLeft:
    """What one note is left with."""

    path: str
    left: tuple[Left, ...]


@dataclass(frozen=True, slots=True)
class Migration:
    """`looked_at`: notes that the contract covers. `outside`: notes in other folders that carry
    values which are retired, so that the operator may name those folders. `run`: the id by which
    all is taken back, None when nothing was written."""

    looked_at: int
    changed: tuple[NoteEdits, ...]
    left: tuple[NoteLeft, ...]
    outside: tuple[str, ...]
    outcome: Outcome | None
    run: str | None


def migrate(
    location: VaultLocation,
    backend: StorageBackend,
    wanted: Wanted,
    rules_hash: str,
    now: Callable[[], datetime],
    *,
    folders: Collection[str] = (),
    dry_run: bool = False,
    on_note: Callable[[int, int], None] = lambda done, total: None,
) -> Migration:
    """Migrate the notes of the declared spaces, and those of `folders` (vault-relative) beside.

    Notes in spaces without a contract, generated pages and the rules file are not touched. A note
    that changes while it is read is edited as it is then. `dry_run` writes nothing.
    Raises RepositoryRequired for a vault whose history can't take the migration back, and
    StorageError.
    """
    vault = Vault(backend)
    if not dry_run:
        require_repository(location)
    paths = sorted(vault.scan().notes)
    plans: list[NoteEdits] = []
    left: list[NoteLeft] = []
    outside: list[str] = []
    looked_at = 0
    for number, path in enumerate(paths, start=1):
        on_note(number, len(paths))
        if not _is_covered(path, wanted):
            continue
        declared = space_of(path).space != "other" or _is_below(path, folders)
        try:
            found = migrate_note(path, vault.read_bytes(path), wanted)
        except FileNotFoundError:
            continue  # gone since the walk
        except NoteUnreadable as error:
            if declared:
                left.append(NoteLeft(path, (Left(0, f"{error.message}; {error.cure}"),)))
            continue
        if not declared:
            if found.edits:
                outside.append(path)
            continue
        looked_at += 1
        if found.edits:
            plans.append(NoteEdits(path, found.edits))
        if found.left:
            left.append(NoteLeft(path, found.left))
    outcome: Outcome | None = None
    done: tuple[NoteEdits, ...] = tuple(plans)
    run_id: str | None = None
    if plans and not dry_run:
        subject = f"Migrate {len(plans):,} notes onto the filing contract"
        with begin(
            location,
            backend,
            pass_name=PASS,
            rules_hash=rules_hash,
            subject=subject,
            now=now,
        ) as run:
            done = tuple(_written(run, plans, wanted, left))
            if done:
                run.record(RECORD, [_line(run.run_id, each) for each in done])
        outcome, run_id = run.outcome, run.run_id if done else None
    return Migration(looked_at, done, tuple(left), tuple(outside), outcome, run_id)


def _written(
    run: Run, plans: list[NoteEdits], wanted: Wanted, left: list[NoteLeft]
) -> Iterator[NoteEdits]:
    """Write each note; what others did to it meanwhile stands, and is migrated with it."""
    for plan in plans:
        latest: list[Migrated] = []

        def change(data: bytes, path: str = plan.path, latest: list[Migrated] = latest) -> bytes:
            latest[:] = [migrate_note(path, data, wanted)]
            return latest[0].data

        try:
            written = run.rewrite(Locator(plan.path), change)
        except FileNotFoundError:
            continue  # gone since it was read
        except StorageError as error:
            left.append(NoteLeft(plan.path, (Left(0, str(error)),)))
            continue
        if written.changed:
            yield NoteEdits(plan.path, latest[0].edits)


def _is_covered(path: str, wanted: Wanted) -> bool:
    return not (
        is_personal(Locator(path))
        or is_contract_exempt(path, wanted.rules)
        or is_generated(path)
        or is_rules_file(path)
    )


def _is_below(path: str, folders: Collection[str]) -> bool:
    named = (posixpath.normpath(folder.strip("/") or ".") for folder in folders)
    return any(folder == "." or path.startswith(f"{folder}/") for folder in named)


def _line(run: str, note: NoteEdits) -> bytes:
    edits = [[edit.before, edit.after] for edit in note.edits]
    return json.dumps({"run": run, "path": note.path, "edits": edits}, ensure_ascii=False).encode(
        "utf-8", "surrogateescape"
    )
