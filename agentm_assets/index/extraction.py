"""Reading and extracting notes batch by batch, over all cores when there is much to do.

Extraction is two thirds of the work of a first pass (docs/performance.md) and touches nothing but
one file at a time. Batches come back in the order in which they went in, whoever did them.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from agentm_assets.contract.findings import Finding
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.index.build import build_note
from agentm_assets.index.note_tables import NoteTables, note_tables
from agentm_assets.index.rows import IndexedNote
from agentm_assets.storage.vault import FileEntry, NoteUnreadable, Vault, content_hash

PARALLEL_FROM = 2_000
"""Notes from which a pass takes several processes: under it, starting them costs more than they
save (0.4 s of processor time each)."""

MOST_PROCESSES = 8
_IN_HAND = 2  # batches a process: one being done, one waiting, so that none is idle


@dataclass(frozen=True, slots=True)
class Known:
    """What the tables hold of a file. Both are empty when its rows are missing."""

    content_hash: str
    built_for: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What every batch of one pass needs. `rules` None: the rules file is broken."""

    vault: Vault
    rules: LoadedRules | None
    built_for: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Files to look at, with what is known of them."""

    entries: tuple[FileEntry, ...]
    known: Mapping[str, Known]


@dataclass(frozen=True, slots=True)
class Extracted:
    """A batch, done. Files that are gone by now are in none of the lists."""

    size: int  # files in the batch
    tables: NoteTables
    touched: list[FileEntry]  # same bytes and build as known
    unreadable: list[FileEntry]
    findings: list[Finding]  # one an unreadable file


def extract_batch(work: Extraction, batch: Batch) -> Extracted:
    """Read every file of a batch, and extract those whose bytes or build differ from the known."""
    notes: list[IndexedNote] = []
    touched: list[FileEntry] = []
    unreadable: list[FileEntry] = []
    findings: list[Finding] = []
    for entry in batch.entries:
        try:
            data = work.vault.read_bytes(entry.path)
        except FileNotFoundError:
            continue  # gone since the scan: the next pass sees the deletion
        except NoteUnreadable as error:
            unreadable.append(entry)
            findings.append(Finding(entry.path, None, error.code, error.message, error.cure))
            continue
        digest = content_hash(data)
        known = batch.known.get(entry.path, _UNKNOWN)
        built = known.built_for
        current = built == work.built_for or (work.rules is None and built != "")
        if digest == known.content_hash and current:
            touched.append(entry)
        else:
            notes.append(build_note(entry, data, digest, work.rules))
    return Extracted(len(batch.entries), note_tables(notes), touched, unreadable, findings)


_UNKNOWN = Known("", "")


def extract_batches(
    work: Extraction, batches: Sequence[Batch], *, processes: int | None = None
) -> Generator[Extracted, None, None]:
    """`extract_batch` of each, in order. `processes` None: as many as pay."""
    if processes is None:
        files = sum(len(batch.entries) for batch in batches)
        cores = min(MOST_PROCESSES, len(batches), _available_cores())
        processes = cores if files >= PARALLEL_FROM else 1
    if processes == 1:
        return (extract_batch(work, batch) for batch in batches)
    return _in_processes(work, batches, processes)


def _in_processes(
    work: Extraction, batches: Iterable[Batch], processes: int
) -> Generator[Extracted, None, None]:
    # Spawned, not forked: DuckDB, polars and Dagster have threads, and a fork copies their locks.
    with ProcessPoolExecutor(
        processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(work,),
    ) as pool:
        waiting: deque[tuple[Batch, Future[Extracted] | None]] = deque()
        try:
            for batch in batches:
                waiting.append((batch, _submitted(pool, batch)))
                if len(waiting) > processes * _IN_HAND:
                    yield _result(work, *waiting.popleft())
            while waiting:
                yield _result(work, *waiting.popleft())
        finally:
            pool.shutdown(cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, batch: Batch) -> Future[Extracted] | None:
    try:
        return pool.submit(_extract_here, batch)
    except BrokenProcessPool:
        return None


def _result(work: Extraction, batch: Batch, future: Future[Extracted] | None) -> Extracted:
    """A process that is killed (memory) or can't start breaks its pool: the rest is done here."""
    try:
        return future.result() if future is not None else extract_batch(work, batch)
    except BrokenProcessPool:
        return extract_batch(work, batch)


_work: Extraction
"""Set in the processes of a pool alone: what each batch needs is sent once, not with each."""


def _start(work: Extraction) -> None:
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the pass, which ends the pool
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _extract_here(batch: Batch) -> Extracted:
    return extract_batch(_work, batch)


def _end_with_parent() -> None:
    """A process of a pool waits for work for ever when the one that started it is killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
