"""Session logs: which session each is of, and what is new in it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from agentm_assets.capture.moment import iso
from agentm_assets.ingest import documents
from agentm_assets.ingest.account import Account, moment_of
from agentm_assets.ingest.distil import distil_session
from agentm_assets.ingest.kinds import READERS, Sniffed
from agentm_assets.ingest.report import Did, SourceReport
from agentm_assets.ingest.tail import Tail, begins_like, continues, read_tail
from agentm_assets.ingest.version import VERSION
from agentm_assets.ingest.write import Reading, failed
from agentm_assets.ledger.source_ids import NoSource, source_id
from agentm_assets.ledger.source_records import Cursor
from agentm_assets.ledger.sources import Registry
from agentm_assets.projects.document import storable
from agentm_assets.traces.session import MAX_ID_CHARACTERS

_MARK: Final = 16  # characters of a digest that names a log without an id

_File = tuple[Path, Sniffed]


class Logs:
    """Reads session logs against what the registry knows. `again`: what an older version read is
    read anew."""

    def __init__(
        self,
        registry: Registry,
        now: datetime,
        is_private: Callable[[str], bool],
        *,
        again: bool,
    ) -> None:
        self.registry = registry
        self.now = now
        self.is_private = is_private
        self.again = again
        self._cursors = list(registry.records.cursors.values())

    def by_session(
        self, logs: Sequence[tuple[Path, Sniffed]]
    ) -> Iterator[tuple[str, str, list[tuple[Path, Sniffed]]]]:
        """The logs of each session: its source, its id, and the files."""
        groups: dict[str, tuple[str, list[tuple[Path, Sniffed]]]] = {}
        for file, sniffed in logs:
            reader = READERS[sniffed.kind]
            session = sniffed.session or self._known_by_content(file, reader.namespace)
            try:
                source = source_id(f"{reader.namespace}:{storable(session)}")
                session = source.partition(":")[2]
                if len(session) > MAX_ID_CHARACTERS:
                    raise NoSource("no id of a session")
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

    def readings(
        self, source: str, session: str, files: list[tuple[Path, Sniffed]]
    ) -> Iterator[Reading]:
        file, sniffed = files[0]
        if not source:
            yield failed(str(file), sniffed.kind, "it names no session that can be used")
            return
        cursor = self.registry.cursor_of(source)
        try:
            (file, sniffed), *others = self._preferred(files, cursor)
            yield self._log(file, sniffed, source, session, cursor)
        except OSError as error:
            yield failed(str(file), sniffed.kind, f"it can't be read: {error.strerror}", source)
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
        again = self.again and cursor is not None and cursor.version != VERSION
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
            # Of one that an older version began to read, --again is still to read the beginning.
            version=cursor.version if cursor is not None and tail.start else VERSION,
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
            self.is_private,
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


def _fate(cursor: Cursor | None, tail: Tail, again: bool) -> Did:
    if again:
        return "again"
    if cursor is None:
        return "new" if tail.position else "current"
    if tail.restarted:
        return "changed"
    return "grown" if tail.position > tail.start else "current"
