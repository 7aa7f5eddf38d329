"""One pass that brings the tables in line with the vault: scan, compare, extract, replace, link.

Work is committed in batches, each of them whole, so a pass can be killed at any point and the next
one goes on from there. Nothing is ever written to the vault.
"""

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
from filelock import FileLock

from agentm_assets.contract.findings import Finding
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.index.build import contract_key
from agentm_assets.index.diff import Diff, KnownFile, diff
from agentm_assets.index.extraction import Batch, Extracted, Extraction, Known, extract_batches
from agentm_assets.index.linking import forget_keys, record_attachments, record_keys, settle
from agentm_assets.index.rowio import (
    all_findings,
    delete_notes,
    insert,
    insert_findings,
    insert_notes,
)
from agentm_assets.index.schema import EXTRACT_VERSION
from agentm_assets.index.store import IndexDamaged, IndexStore, get_meta, set_meta
from agentm_assets.storage.locator import ROOT
from agentm_assets.storage.seam import StoreUnreachable, emptied
from agentm_assets.storage.vault import FileEntry, Scan, Vault

BATCH_NOTES = 1_000
BATCH_BYTES = 8 * 1024 * 1024
"""A batch ends at whichever comes first; together they bound memory and what a kill can cost."""

BRAKE_NOTES = 50
BRAKE_SHARE = 0.5
BRAKE_SECONDS = 90.0
"""A pass that would drop more than half of the notes (and over 50), or all of several, holds the
deletions back until a second look at least 90 s later: an unmounted or swapped folder looks just
like that. While the vault has no file or folder at all, no pass runs."""

Progress = Callable[[str, int, int], None]
"""Called with a stage, how many are done and how many there are."""


@dataclass(frozen=True, slots=True)
class ReconcileOptions:
    """`full` extracts every note anew; `hash_all` trusts no stamp; `limit` bounds the changed notes
    of one pass; `accept_deletions` releases the mass-deletion brake. `only`: no other paths are
    looked at, so that whatever else has changed is still seen as changed."""

    full: bool = False
    hash_all: bool = False
    limit: int | None = None
    accept_deletions: bool = False
    only: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class ReconcileReport:
    """What one pass did. Counts are of notes unless they say otherwise."""

    notes: int
    chunks: int
    links: int
    unresolved_links: int
    entities: int  # distinct
    aliases: int
    changed: int  # extracted anew
    touched: int  # new stamp, same bytes
    unchanged: int
    deleted: int
    relinked: int  # notes whose links now lead elsewhere, without a change of their own
    deferred: int  # changed, but over this pass's limit
    held_deletions: int  # look deleted, held back for a second look
    unreadable: int
    seconds: float
    rebuilt: str | None  # why the index was built anew, if it was
    findings: tuple[Finding, ...] = field(repr=False)

    @property
    def did_nothing(self) -> bool:
        """True when no row changed."""
        return not (self.changed or self.deleted or self.relinked)


@dataclass(frozen=True, slots=True)
class _Plan:
    scan: Scan
    found: Diff
    todo: tuple[str, ...]
    deferred: int
    built_for: str
    known: Mapping[str, Known]


@dataclass(slots=True)
class _Tally:
    changed: int = 0
    touched: int = 0
    same: int = 0
    unreadable: list[Finding] = field(default_factory=list)


def reconcile(
    vault: Vault,
    store: IndexStore,
    rules: LoadedRules | None,
    options: ReconcileOptions,
    *,
    lock_file: Path,
    on_progress: Progress = lambda stage, done, total: None,
    clock: Callable[[], float] = time.time,
) -> ReconcileReport:
    """Bring the tables in line with the vault; a second pass at once waits for the first.

    `rules` None: the rules file is broken; indexing goes on and contract findings wait.
    Raises StoreUnreachable when the vault can't be listed, or is empty and was not before;
    IndexBusy; duckdb.Error for a full disk and the like.
    """
    lock_file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock_file):
        try:
            return _pass(vault, store, rules, options, on_progress, clock)
        except IndexDamaged as damage:
            # The damaged file is set aside by now; a second failure is a fault worth seeing.
            report = _pass(vault, store, rules, options, on_progress, clock)
            return dataclasses.replace(report, rebuilt=str(damage))


def _pass(
    vault: Vault,
    store: IndexStore,
    rules: LoadedRules | None,
    options: ReconcileOptions,
    on_progress: Progress,
    clock: Callable[[], float],
) -> ReconcileReport:
    began = time.monotonic()
    now = clock()
    plan = _plan(vault, store, rules, options, on_progress)
    tally = _extract(vault, store, rules, plan, on_progress)
    with store.transaction(last=True) as connection:
        deleted, held = _delete(connection, plan, options, now)
        record_attachments(connection, plan.scan.attachments)
        relinked = sorted(set(settle(connection)) - set(plan.todo))
        _record_changes(connection, relinked)
        if options.only is None:  # else the next whole pass must still find what this one left
            _replace_scan_findings(connection, plan.scan, tally.unreadable)
            set_meta(connection, "last_pass_ns", str(int(now * 1e9)))
        set_meta(connection, "rules_hash", rules.rules_hash if rules else "")
        counts = _counts(connection)
        findings = all_findings(connection)
    return ReconcileReport(
        **counts,
        changed=tally.changed,
        touched=tally.touched,
        unchanged=plan.found.unchanged + tally.same,
        deleted=deleted,
        relinked=len(relinked),
        deferred=plan.deferred,
        held_deletions=held,
        unreadable=len(tally.unreadable),
        seconds=time.monotonic() - began,
        rebuilt=store.rebuilt,
        findings=findings,
    )


def _plan(
    vault: Vault,
    store: IndexStore,
    rules: LoadedRules | None,
    options: ReconcileOptions,
    on_progress: Progress,
) -> _Plan:
    scan = vault.scan(lambda count: on_progress("scan", count, count))
    with store.transaction() as connection:
        generation = int(get_meta(connection, "generation") or 0)
        if options.full:
            # Kept in the index, so that a killed full pass is finished by whichever comes next.
            generation += 1
            set_meta(connection, "generation", str(generation))
        rows = connection.execute(_KNOWN).fetchall()
        last_pass_ns = int(get_meta(connection, "last_pass_ns") or 0)
    if rows and not options.accept_deletions and not vault.store.list(ROOT):
        raise StoreUnreachable(emptied(vault.store.identity))
    built_for = f"{generation}:{EXTRACT_VERSION}:{contract_key(rules)}"
    found = diff(
        scan.notes.values(),
        [KnownFile(path, size, mtime_ns, build) for path, size, mtime_ns, build, _, _ in rows],
        built_for=built_for if rules is not None or options.full else None,
        last_pass_ns=last_pass_ns,
        hash_all=options.hash_all,
        unknown=scan.unknown,
    )
    if options.only is not None:
        found = dataclasses.replace(
            found,
            changed=tuple(path for path in found.changed if path in options.only),
            suspects=tuple(path for path in found.suspects if path in options.only),
            deleted=tuple(path for path in found.deleted if path in options.only),
        )
    todo = sorted({*found.changed, *found.suspects})
    limit = len(todo) if options.limit is None else options.limit
    return _Plan(
        scan,
        found,
        tuple(todo[:limit]),
        len(todo[limit:]),
        built_for,
        {path: Known(digest or "", build or "") for path, *_, digest, build in rows},
    )


_KNOWN = """
SELECT path, coalesce(u.size, n.size), coalesce(u.mtime_ns, n.mtime_ns),
       CASE WHEN u.path IS NULL THEN b.built_for ELSE '' END, n.content_hash, b.built_for
FROM notes n JOIN builds b USING (path) FULL JOIN unreadable u USING (path)
"""


def _extract(
    vault: Vault,
    store: IndexStore,
    rules: LoadedRules | None,
    plan: _Plan,
    on_progress: Progress,
) -> _Tally:
    """Read, extract and commit, batch by batch."""
    tally = _Tally()
    suspects = set(plan.found.suspects)
    done = 0
    batches = [
        Batch(tuple(entries), {e.path: plan.known[e.path] for e in entries if e.path in plan.known})
        for entries in _batches([plan.scan.notes[path] for path in plan.todo])
    ]
    with closing(extract_batches(Extraction(vault, rules, plan.built_for), batches)) as results:
        for batch, extracted in zip(batches, results, strict=True):
            with store.transaction() as connection:
                _apply(connection, extracted, batch.known, plan.built_for)
            tally.unreadable += extracted.findings
            tally.changed += len(extracted.tables.paths)
            tally.touched += sum(1 for e in extracted.touched if e.path not in suspects)
            tally.same += sum(1 for e in extracted.touched if e.path in suspects)
            done += len(batch.entries)
            on_progress("extract", done, len(plan.todo))
    return tally


def _batches(entries: Sequence[FileEntry]) -> Iterator[list[FileEntry]]:
    batch: list[FileEntry] = []
    size = 0
    for entry in entries:
        if batch and (len(batch) >= BATCH_NOTES or size + entry.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += entry.size
    if batch:
        yield batch


def _apply(
    connection: duckdb.DuckDBPyConnection,
    extracted: Extracted,
    known: Mapping[str, Known],
    built_for: str,
) -> None:
    tables, touched, unreadable = extracted.tables, extracted.touched, extracted.unreadable
    paths = tables.paths
    if paths:
        delete_notes(connection, [path for path in paths if path in known])
        insert_notes(connection, tables, built_for)
        record_keys(connection, tables)
        _record_changes(connection, paths)
    seen = [(e.path, e.size, e.mtime_ns) for e in (*touched, *unreadable)]
    if seen:
        connection.execute(
            "DELETE FROM unreadable WHERE path IN (SELECT unnest(?::VARCHAR[]))",
            [[path for path, _, _ in seen]],
        )
    if touched:
        connection.execute(
            "UPDATE notes SET mtime_ns = t.mtime_ns FROM (SELECT unnest(?::VARCHAR[]) AS path, "
            "unnest(?::BIGINT[]) AS mtime_ns) AS t WHERE notes.path = t.path",
            [[e.path for e in touched], [e.mtime_ns for e in touched]],
        )
    insert(
        connection,
        "unreadable",
        "VARCHAR BIGINT BIGINT",
        [(e.path, e.size, e.mtime_ns) for e in unreadable],
    )


def _record_changes(connection: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> None:
    """Put notes on the change feed that the serving files follow."""
    if not paths:
        return
    rev = int(get_meta(connection, "rev") or 0) + 1
    set_meta(connection, "rev", str(rev))
    connection.execute(
        "DELETE FROM changes WHERE path IN (SELECT unnest(?::VARCHAR[]))", [list(paths)]
    )
    insert(connection, "changes", "BIGINT VARCHAR", [(rev, path) for path in paths])


def _delete(
    connection: duckdb.DuckDBPyConnection, plan: _Plan, options: ReconcileOptions, now: float
) -> tuple[int, int]:
    """Drop the rows of notes that are gone. Returns how many were dropped and held back."""
    gone = list(plan.found.deleted)
    known = sum(1 for each in plan.known.values() if each.built_for)
    mass = len(gone) > max(BRAKE_NOTES, known * BRAKE_SHARE) or len(gone) == known > 1
    if mass and not options.accept_deletions:
        first_seen = get_meta(connection, "mass_deletion_seen")
        if first_seen is None or now - float(first_seen) < BRAKE_SECONDS:
            # A clock that jumped back must not hold deletions for ever.
            if first_seen is None or float(first_seen) > now:
                set_meta(connection, "mass_deletion_seen", str(now))
            return 0, len(gone)
    if options.only is None:
        connection.execute("DELETE FROM meta WHERE key = 'mass_deletion_seen'")
    if gone:
        forget_keys(connection, gone)
        delete_notes(connection, gone)
        _record_changes(connection, gone)
    return len(gone), 0


def _replace_scan_findings(
    connection: duckdb.DuckDBPyConnection, scan: Scan, unreadable: Sequence[Finding]
) -> None:
    """Keep one finding a file: a note's own is the more precise and stands."""
    connection.execute("DELETE FROM findings WHERE origin = 'scan'")
    taken = {row[0] for row in connection.execute("SELECT path FROM findings").fetchall()}
    fresh: dict[str, Finding] = {}
    for finding in (*unreadable, *scan.findings):
        if finding.path not in taken:
            fresh.setdefault(finding.path, finding)
    insert_findings(connection, fresh.values(), "scan")


def _counts(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    row = connection.execute(
        """
        SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM chunks),
               (SELECT count(*) FROM links),
               (SELECT count(*) FROM links WHERE resolved_path IS NULL AND how IS NULL),
               (SELECT count(DISTINCT key) FROM entities), (SELECT count(*) FROM aliases)
        """
    ).fetchone()
    names = ("notes", "chunks", "links", "unresolved_links", "entities", "aliases")
    return dict(zip(names, row or (0,) * len(names), strict=True))
