"""Mails and pages: what does not change under its identity and hash."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from agentm_assets.ingest.distil import Distilled, distil_mail, distil_page
from agentm_assets.ingest.fetch import FetchRefused, fetch
from agentm_assets.ingest.kinds import Kind, Sniffed
from agentm_assets.ingest.mail import MOST_BYTES, mails_in, read_mail
from agentm_assets.ingest.report import Did, SourceReport
from agentm_assets.ingest.version import VERSION
from agentm_assets.ingest.web import MOST_BYTES as MOST_PAGE_BYTES
from agentm_assets.ingest.web import read_page
from agentm_assets.ingest.write import Reading, failed, nothing
from agentm_assets.ledger.source_ids import NoSource, source_id
from agentm_assets.ledger.sources import Registry

Fetch = Callable[[str], tuple[str, bytes]]
"""Gets a page: its address behind redirects, and its bytes. Raises FetchRefused."""


def fetched(url: str) -> tuple[str, bytes]:
    """From the web."""
    page = fetch(url)
    return page.url, page.data


class Units:
    """Reads mails and pages against what the registry knows. `again`: what an older version read is
    read anew."""

    def __init__(self, registry: Registry, now: datetime, fetch: Fetch, *, again: bool) -> None:
        self.registry = registry
        self.now = now
        self.fetch = fetch
        self.again = again
        self._seen: set[str] = set()  # in this sweep

    def mails(self, file: Path, sniffed: Sniffed) -> Iterator[Reading]:
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
            try:
                source = source_id(f"email:{mail.id}")
            except NoSource as error:
                yield Reading(SourceReport(str(file), "mail", "", "passed", reason=str(error)))
                continue
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

    def page(self, file: Path) -> Iterator[Reading]:
        if file.stat().st_size > MOST_PAGE_BYTES:
            why = f"a page of more than {MOST_PAGE_BYTES // (1024 * 1024)} MB"
            yield Reading(SourceReport(str(file), "web", "", "passed", reason=why))
            return
        yield self._page(str(file), file.read_bytes(), "")

    def address(self, address: str) -> Reading:
        try:
            url, data = self.fetch(address)
        except FetchRefused as error:
            return failed(address, "web", str(error))
        return self._page(address, data, url)

    def _page(self, place: str, data: bytes, url: str) -> Reading:
        """`url`: where the page was fetched from. What it claims of itself counts for a file
        alone."""
        page = read_page(data)
        address = url or page.address
        try:
            source = source_id(address or f"url:page-{page.digest[:32]}")
        except NoSource as error:
            return failed(place, "web", str(error))
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
        was_read = version == VERSION
        if was_read and not self._is_unfinished(source, digest):
            return Reading(SourceReport(place, kind, source, "current"))
        if version is not None and not was_read:
            if not self.again:
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
            was_read=was_read,
        )

    def _is_unfinished(self, source: str, digest: str) -> bool:
        """Are older notes in force beside those of this content, as a kill leaves them?"""
        current = [
            (note.hash, note.version) == (digest, VERSION)
            for note in self.registry.notes_of(source)
        ]
        return any(current) and not all(current)
