"""One sweep over files, folders and addresses: what is new in them becomes notes."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from agentm_assets.capture.filing_rules import filing_rules
from agentm_assets.capture.moment import iso
from agentm_assets.capture.mounted import require_mounted
from agentm_assets.config.vault import VaultLocation
from agentm_assets.index.store import IndexStore
from agentm_assets.ingest import documents
from agentm_assets.ingest.account import Account, moment_of
from agentm_assets.ingest.discover import files_in, is_private
from agentm_assets.ingest.distil import Distilled, distil_mail, distil_page, distil_session
from agentm_assets.ingest.fetch import FetchRefused, fetch
from agentm_assets.ingest.kinds import READERS, Kind, Sniffed, sniff
from agentm_assets.ingest.mail import MOST_BYTES, mails_in, read_mail
from agentm_assets.ingest.report import Did, IngestReport, SourceReport
from agentm_assets.ingest.tail import Tail, begins_like, continues, read_tail
from agentm_assets.ingest.version import VERSION
from agentm_assets.ingest.web import MOST_BYTES as MOST_PAGE_BYTES
from agentm_assets.ingest.web import read_page
from agentm_assets.ingest.write import Reading, Writer, nothing
from agentm_assets.ledger.source_ids import NoSource, source_id
from agentm_assets.ledger.source_records import Cursor
from agentm_assets.ledger.sources import Registry, bring_up_to_date
from agentm_assets.projects.turn import turn
from agentm_assets.storage.seam import StorageBackend

ONE_RUN: Final = 200
"""Sources whose notes are written and committed together."""

_MARK: Final = 16  # characters of a digest that names a log without an id

Listen = Callable[[str, int, int], None]


class IngestRefused(Exception):
    """Nothing was read; the text says why, and the cure."""


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
    fetched: Callable[[str], tuple[str, bytes]] | None = None,
) -> IngestReport:
    """Read what is new in the sources and write what is worth keeping.

    One ingest of a vault at a time. `fetched` gets a page (its address behind redirects, and its
    bytes). Raises IngestRefused, StorageError (LockTimeout while another one runs), IndexBusy.
    """
    require_mounted(location, backend)
    files, addresses, folders = _places(location, asked)
    held = nullcontext() if asked.dry_run else turn(location, backend, "ingest").held()
    with held:
        registry = bring_up_to_date(IndexStore(location.duckdb_file), backend)
        rules = filing_rules(location, backend, os.environ)
        sweep = _Sweep(location, registry, asked, now, fetched or _fetched)
        writer = Writer(location, backend, rules, registry, now)
        reports: list[SourceReport] = []
        waiting: list[Reading] = []
        total = len(files) + len(addresses)
        for done, reading in sweep.readings(files, addresses, folders):
            listen("sources", done, total)
            if reading is None:
                continue
            if asked.dry_run or not _has_work(reading):
                reports.append(_as_planned(reading, registry) if asked.dry_run else reading.report)
                continue
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
        remarks=(*sweep.remarks(), *writer.remarks),
        runs=tuple(writer.runs),
    )


def _places(location: VaultLocation, asked: Asked) -> tuple[list[Path], list[str], frozenset[Path]]:
    """The files, the addresses, and which files a folder brought in."""
    files: dict[Path, None] = {}
    addresses: dict[str, None] = {}
    found: set[Path] = set()
    for place in asked.places:
        if place[:8].lower().startswith(("http://", "https://")):
            if asked.kind not in (None, "web"):
                raise IngestRefused(f"an address is a web page; leave out --kind {asked.kind}")
            addresses[place] = None
            continue
        path = Path(os.path.realpath(Path(place).expanduser()))
        if is_private(location.root, str(path)):
            raise IngestRefused(
                "personal/ is the operator's own and is not mined; copy what should be known to "
                "another folder, and ingest that"
            )
        if path.is_dir():
            inside = [each for each in files_in(path) if not is_private(location.root, str(each))]
            found.update(inside)
            files |= dict.fromkeys(inside)
        elif path.exists():
            files[path] = None
        else:
            raise IngestRefused(f"{place} is not there; give a file, a folder or an address")
    return (
        list(files),
        list(addresses),
        frozenset(found)
        - frozenset(Path(os.path.realpath(Path(place).expanduser())) for place in asked.places),
    )


def _fetched(url: str) -> tuple[str, bytes]:
    page = fetch(url)
    return page.url, page.data


class _Sweep:
    def __init__(
        self,
        location: VaultLocation,
        registry: Registry,
        asked: Asked,
        now: datetime,
        fetched: Callable[[str], tuple[str, bytes]],
    ) -> None:
        self.location = location
        self.registry = registry
        self.asked = asked
        self.now = now
        self.fetched = fetched
        self.ignored = 0
        self._seen: set[str] = set()  # units of this sweep
        self._cursors: list[Cursor] = list(registry.records.cursors.values())

    def remarks(self) -> Iterator[str]:
        broken = self.registry.records.broken
        if broken:
            yield (
                f"{len(broken)} lines of Agent/_meta/sources.jsonl can't be read (the first is "
                f"line {broken[0]}); what they told is found out again"
            )

    def readings(
        self, files: Sequence[Path], addresses: Sequence[str], folders: frozenset[Path]
    ) -> Iterator[tuple[int, Reading | None]]:
        """What each file gives, with the count of those that are done."""
        logs: list[tuple[Path, Sniffed]] = []
        others: list[tuple[Path, Sniffed]] = []
        for file in files:
            try:
                sniffed = sniff(file, self.asked.kind)
            except OSError as error:
                yield 0, _failed(str(file), "", f"it can't be read: {error.strerror}")
                continue
            if sniffed is None and file in folders:
                self.ignored += 1
            elif sniffed is None:
                yield 0, _failed(str(file), "", "it is nothing that is read; see --kind")
            else:
                (logs if sniffed.kind in READERS else others).append((file, sniffed))
        done = len(files) - len(logs) - len(others)
        for group in self._by_session(logs):
            for reading in self._session(*group):
                yield done, reading
            done += len(group[2])
        for file, sniffed in others:
            read = self._mails if sniffed.kind == "mail" else self._page_file
            try:
                for reading in read(file, sniffed):
                    yield done, reading
            except OSError as error:
                why = f"it can't be read: {error.strerror}"
                yield done, _failed(str(file), sniffed.kind, why)
            done += 1
        for address in addresses:
            yield done, self._address(address)
            done += 1

    # Session logs

    def _by_session(
        self, logs: Sequence[tuple[Path, Sniffed]]
    ) -> Iterator[tuple[str, str, list[tuple[Path, Sniffed]]]]:
        """The logs of each session: its source, its id, and the files."""
        groups: dict[str, tuple[str, list[tuple[Path, Sniffed]]]] = {}
        for file, sniffed in logs:
            reader = READERS[sniffed.kind]
            session = sniffed.session or self._known_by_content(file, reader.namespace)
            try:
                source = source_id(f"{reader.namespace}:{session}")
                session = source.partition(":")[2]
            except NoSource:
                source, session = "", ""
            groups.setdefault(source or f"?{file}", (session, []))[1].append((file, sniffed))
        for source, (session, group) in groups.items():
            yield ("" if source.startswith("?") else source), session, group

    def _known_by_content(self, file: Path, namespace: str) -> str:
        """The id of a log that names none: of the source whose log begins with the same bytes,
        else a digest of its first line."""
        try:
            for cursor in self._cursors:
                if cursor.source.startswith(f"{namespace}:") and begins_like(file, cursor):
                    return cursor.source.partition(":")[2]
            return documents.digest_of_first_line(file)[:_MARK]
        except OSError:
            return ""

    def _session(
        self, source: str, session: str, files: list[tuple[Path, Sniffed]]
    ) -> Iterator[Reading]:
        file, sniffed = files[0]
        if not source:
            yield _failed(str(file), sniffed.kind, "it names no session, and has no whole line yet")
            return
        cursor = self.registry.cursor_of(source)
        try:
            (file, sniffed), *others = self._preferred(files, cursor)
            yield self._log(file, sniffed, source, session, cursor)
        except OSError as error:
            yield _failed(str(file), sniffed.kind, f"it can't be read: {error.strerror}", source)
            return
        for other, also in others:
            why = f"another log of the session in {file}"
            yield Reading(SourceReport(str(other), also.kind, source, "passed", reason=why))

    def _preferred(
        self, files: list[tuple[Path, Sniffed]], cursor: Cursor | None
    ) -> list[tuple[Path, Sniffed]]:
        """The one that goes on where the cursor is first, else the longest."""
        if len(files) == 1:
            return files

        def rank(each: tuple[Path, Sniffed]) -> tuple[bool, bool, int]:
            file, sniffed = each
            known = cursor is not None and not sniffed.is_document and continues(file, cursor)
            return known, not sniffed.is_document, file.stat().st_size

        return sorted(files, key=rank, reverse=True)

    def _log(
        self, file: Path, sniffed: Sniffed, source: str, session: str, cursor: Cursor | None
    ) -> Reading:
        reader = READERS[sniffed.kind]
        again = self.asked.again and cursor is not None and cursor.version != VERSION
        account = Account(folder=sniffed.folder, is_subagent=sniffed.is_subagent)
        tail: Tail
        if sniffed.is_document:
            tail = documents.read_document(file, None if again else cursor, account)
        else:
            tail = read_tail(
                file, None if again else cursor, lambda record: reader.read(record, account)
            )
        report = SourceReport(
            place=str(file),
            kind=sniffed.kind,
            source=source,
            did=_fate(cursor, tail, again),
            records=tail.records,
            unknown=dict(account.unknown),
            broken=tail.broken,
            restarted=tail.restarted,
            waits=tail.waits,
        )
        if report.did == "current":
            return Reading(report)
        started = cursor.started if cursor is not None else ""
        begun = moment_of(account.started)
        new_cursor = Cursor(
            source=source,
            position=tail.position,
            lines=tail.lines,
            head=tail.head,
            head_bytes=tail.head_bytes,
            check=tail.check,
            made=cursor.made if cursor is not None else 0,
            started=started or (iso(begun) if begun is not None else ""),
            version=VERSION,
            at=iso(self.now),
        )
        if account.is_subagent:
            report = replace(report, did="nothing", reason="an agent started it, not the operator")
            return Reading(report, entry=new_cursor)
        distilled = distil_session(
            account,
            reader.agent,
            source,
            session,
            cursor,
            self.now,
            lambda path: is_private(self.location.root, path),
        )
        return Reading(
            report,
            distilled.drafts,
            distilled.session,
            replace(new_cursor, title=distilled.title),
            replaces_all=again,
            # Without a word of the operator it is the same work that went on.
            replaces_part=not account.prompts,
            reinforces=not again and not tail.restarted,
        )

    # Mails and pages

    def _mails(self, file: Path, sniffed: Sniffed) -> Iterator[Reading]:
        if sniffed.is_mbox:
            mails: Iterable[bytes | None] = mails_in(file)
        else:
            mails = [None if file.stat().st_size > MOST_BYTES else file.read_bytes()]
        for data in mails:
            if data is None:
                why = f"a mail of more than {MOST_BYTES // (1024 * 1024)} MB"
                yield Reading(SourceReport(str(file), "mail", "", "passed", reason=why))
                continue
            mail = read_mail(data)
            source = source_id(f"email:{mail.id}")
            why = "a machine sent it" if mail.is_automatic else "hardly a word in it"
            reading = self._unit(
                str(file),
                "mail",
                source,
                mail.digest,
                partial(distil_mail, mail, source, self.now),
                why,
            )
            if reading.report.did == "changed":
                # A mail does not change: whoever sends another one under the same id must not
                # take the place of the first.
                why = "another text under the Message-ID of a known mail"
                reading = Reading(replace(reading.report, did="passed", reason=why))
            yield reading

    def _page_file(self, file: Path, sniffed: Sniffed) -> Iterator[Reading]:
        if file.stat().st_size > MOST_PAGE_BYTES:
            why = f"a page of more than {MOST_PAGE_BYTES // (1024 * 1024)} MB"
            yield Reading(SourceReport(str(file), "web", "", "passed", reason=why))
            return
        yield self._page(str(file), file.read_bytes(), "")

    def _address(self, address: str) -> Reading:
        try:
            url, data = self.fetched(address)
        except FetchRefused as error:
            return _failed(address, "web", str(error))
        return self._page(address, data, url)

    def _page(self, place: str, data: bytes, url: str) -> Reading:
        """`url`: where the page was fetched from. What it claims of itself counts for a file
        alone."""
        page = read_page(data)
        address = url or page.address
        try:
            source = source_id(address or f"url:page-{page.digest[:32]}")
        except NoSource as error:
            return _failed(place, "web", str(error))
        return self._unit(
            place,
            "web",
            source,
            page.digest,
            lambda: distil_page(page, source, self.now),
            "hardly a word in it",
        )

    def _unit(
        self,
        place: str,
        kind: Kind,
        source: str,
        digest: str,
        distil: Callable[[], Distilled],
        why_nothing: str,
    ) -> Reading:
        version = self.registry.is_done(source, digest)
        known = source in self.registry.sources
        did: Did = "changed" if known else "new"
        if source in self._seen:
            return Reading(SourceReport(place, kind, source, "passed", reason="met before"))
        self._seen.add(source)
        if version == VERSION:
            return Reading(SourceReport(place, kind, source, "current"))
        if version is not None:
            if not self.asked.again:
                return Reading(SourceReport(place, kind, source, "older"))
            did = "again"
        distilled = distil()
        report = SourceReport(place, kind, source, did, records=1)
        if not distilled.drafts:
            report = replace(report, did="nothing", reason=why_nothing)
        return Reading(
            report,
            distilled.drafts,
            entry=nothing(source, digest, self.now, why_nothing),
            replaces_all=True,
            reinforces=did != "again",
        )


def _fate(cursor: Cursor | None, tail: Tail, again: bool) -> Did:
    if again:
        return "again"
    if cursor is None:
        return "new" if tail.position else "current"
    if tail.restarted:
        return "changed"
    return "grown" if tail.position > tail.start else "current"


def _has_work(reading: Reading) -> bool:
    return reading.entry is not None or bool(reading.drafts)


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


def _failed(place: str, kind: str, why: str, source: str = "") -> Reading:
    return Reading(SourceReport(place, kind, source, "failed", reason=why))
