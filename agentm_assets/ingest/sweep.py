"""One sweep over files, folders and addresses: what is new in them becomes notes."""

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from agentm_assets.capture.filing_rules import filing_rules
from agentm_assets.capture.mounted import require_mounted
from agentm_assets.config.vault import VaultLocation
from agentm_assets.index.store import IndexStore
from agentm_assets.ingest.discover import is_private
from agentm_assets.ingest.kinds import READERS, Kind, Sniffed, sniff
from agentm_assets.ingest.logs import Logs
from agentm_assets.ingest.places import Places, places_of
from agentm_assets.ingest.report import IngestReport, SourceReport
from agentm_assets.ingest.units import Fetch, Units, fetched
from agentm_assets.ingest.version import VERSION
from agentm_assets.ingest.write import Reading, Writer, failed
from agentm_assets.ledger.sources import Registry, bring_up_to_date
from agentm_assets.projects.turn import turn
from agentm_assets.storage.seam import StorageBackend

ONE_RUN: Final = 200
"""Sources whose notes are written and committed together."""

Listen = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """`places`: paths, or http(s) addresses. `kind`: what the files are, None: each is looked at.
    `again`: what an older version of the importer read is read anew. `dry_run`: nothing is
    written."""

    places: tuple[str, ...]
    kind: Kind | None = None
    again: bool = False
    dry_run: bool = False


def ingest(
    location: VaultLocation,
    backend: StorageBackend,
    asked: Asked,
    now: datetime,
    *,
    listen: Listen = lambda stage, done, total: None,
    fetch: Fetch = fetched,
) -> IngestReport:
    """Read what is new in the sources and write what is worth keeping.

    One ingest of a vault at a time. Raises IngestRefused, StorageError (LockTimeout while another
    one runs), IndexBusy.
    """
    require_mounted(location, backend)
    places = places_of(location.root, asked.places, pages_only=asked.kind in (None, "web"))
    held = nullcontext() if asked.dry_run else turn(location, backend, "ingest").held()
    with held:
        registry = bring_up_to_date(IndexStore(location.duckdb_file), backend)
        rules = filing_rules(location, backend, os.environ)
        sweep = _Sweep(location.root, registry, asked, now, fetch)
        writer = Writer(location, backend, rules, registry, now)
        reports: list[SourceReport] = []
        waiting: list[Reading] = []
        total = len(places.files) + len(places.addresses)
        for done, reading in sweep.readings(places):
            listen("sources", done, total)
            if asked.dry_run:
                reports.append(_as_planned(reading, registry))
            elif reading.entry is None:
                reports.append(reading.report)
            else:
                waiting.append(reading)
            if len(waiting) >= ONE_RUN:
                reports += writer.write(waiting)
                waiting.clear()
        if waiting:
            reports += writer.write(waiting)
        listen("sources", total, total)
    return IngestReport(
        sources=tuple(reports),
        looked_at=total,
        ignored=sweep.ignored,
        dry_run=asked.dry_run,
        remarks=(*_remarks(registry), *writer.remarks),
        runs=tuple(writer.runs),
    )


class _Sweep:
    def __init__(
        self, root: Path, registry: Registry, asked: Asked, now: datetime, fetch: Fetch
    ) -> None:
        self.kind = asked.kind
        self.logs = Logs(registry, now, lambda path: is_private(root, path), again=asked.again)
        self.units = Units(registry, now, fetch, again=asked.again)
        self.ignored = 0

    def readings(self, places: Places) -> Iterator[tuple[int, Reading]]:
        """What each file gives, with the count of those that are done."""
        logs: list[tuple[Path, Sniffed]] = []
        others: list[tuple[Path, Sniffed]] = []
        for file in places.files:
            try:
                sniffed = sniff(file, self.kind)
            except OSError as error:
                yield 0, failed(str(file), "", f"it can't be read: {error.strerror}")
                continue
            if sniffed is not None:
                (logs if sniffed.kind in READERS else others).append((file, sniffed))
            elif file in places.found:
                self.ignored += 1
            else:
                yield 0, failed(str(file), "", "it is nothing that is read; see --kind")
        done = len(places.files) - len(logs) - len(others)
        for group in self.logs.by_session(logs):
            for reading in self.logs.readings(*group):
                yield done, reading
            done += len(group[2])
        for file, sniffed in others:
            for reading in self._unit(file, sniffed):
                yield done, reading
            done += 1
        for address in places.addresses:
            yield done, self.units.address(address)
            done += 1

    def _unit(self, file: Path, sniffed: Sniffed) -> Iterator[Reading]:
        is_mail = sniffed.kind == "mail"
        try:
            yield from self.units.mails(file, sniffed) if is_mail else self.units.page(file)
        except OSError as error:
            yield failed(str(file), sniffed.kind, f"it can't be read: {error.strerror}")


def _remarks(registry: Registry) -> Iterator[str]:
    broken = registry.records.broken
    if broken:
        yield (
            f"{len(broken)} lines of Agent/_meta/sources.jsonl can't be read (the first is line "
            f"{broken[0]}); what they told is found out again"
        )


def _as_planned(reading: Reading, registry: Registry) -> SourceReport:
    """What a dry run says of it: the titles of the notes that would be made."""
    titles = tuple(
        draft.title
        for draft in reading.drafts
        if not registry.has_made(draft.source, draft.digest, VERSION)
    )
    trace = "calendar" if reading.session is not None else ""
    did = reading.report.did
    if did == "new" and not (titles or trace):
        did = "nothing"
    return replace(reading.report, did=did, made=titles, trace=trace)
