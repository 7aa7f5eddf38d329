"""Putting what was distilled into the vault.

In this order: the trace in the calendar; then, in one run, the new notes, the older ones that they
replace, and what the registry must remember. A kill in between leaves the source unread: it is read
again, and notes that are there are not made twice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from agentm_assets.capture.filing_rules import BrokenRules, FilingRules
from agentm_assets.capture.journal import FORGETTING, JournalEntry, append
from agentm_assets.capture.known import known_paths
from agentm_assets.capture.live import body_fingerprint, is_live, live_notes
from agentm_assets.capture.moment import iso
from agentm_assets.capture.place import LAST_NUMBER
from agentm_assets.capture.reinforcement import Reinforcement, reinforced
from agentm_assets.capture.slug import NAMELESS, slugify, with_suffix
from agentm_assets.capture.transaction import UNJUDGED_CLASS
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract import properties
from agentm_assets.contract.edit import EditRefused
from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.enrichment.staleness import OPERATOR
from agentm_assets.forgetting.edit import Wanted, forgotten
from agentm_assets.history.outcome import Outcome, is_worth_a_remark
from agentm_assets.history.run import Run, begin
from agentm_assets.ingest.draft import Draft
from agentm_assets.ingest.report import Did, SourceReport
from agentm_assets.ingest.version import VERSION
from agentm_assets.ledger.source_records import RECORD, Cursor, Entry, NothingFound, line_of
from agentm_assets.ledger.sources import SOURCE_PART, Registry, SourceNote
from agentm_assets.projects.declared import space_folder
from agentm_assets.projects.document import document
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import ABSENT, StorageBackend, StorageError, content_hash
from agentm_assets.traces.record import record_session
from agentm_assets.traces.session import Session, TraceRefused

PASS = "ingest"


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reading of a source gave. `entry`: what the registry is to remember of it.
    `replaces_all`: its notes take the place of all of the source; `replaces_part`: of those of the
    same part. `reinforces`: what another source said before is counted there and not written
    again. `was_read`: it was read before, and older notes of it may still be in force."""

    report: SourceReport
    drafts: tuple[Draft, ...] = ()
    session: Session | None = None
    entry: Entry | None = None
    replaces_all: bool = False
    replaces_part: bool = False
    reinforces: bool = True
    was_read: bool = False


@dataclass(slots=True)
class _Written:
    """What a run has done so far. `by_body`: the notes it made and their source, by the fingerprint
    of their body. `touched`: paths, and what the journal is to say of them."""

    by_body: dict[str, tuple[Locator, str]] = field(default_factory=dict)
    touched: dict[str, str] = field(default_factory=dict)


class Writer:
    """Writes readings into one vault; `registry` is what was known before."""

    def __init__(
        self,
        location: VaultLocation,
        backend: StorageBackend,
        rules: FilingRules | BrokenRules,
        registry: Registry,
        now: datetime,
    ) -> None:
        self.location = location
        self.backend = backend
        self.rules = rules
        self.registry = registry
        self.now = now
        self.runs: list[str] = []
        self.remarks: dict[str, None] = {}

    def write(self, readings: Sequence[Reading]) -> list[SourceReport]:
        """Write them and say what was done, in their order. Raises StorageError."""
        traced = [self._trace(reading) for reading in readings]
        written = _Written()
        reports: list[SourceReport] = []
        with begin(self.location, self.backend, pass_name=PASS, version=VERSION) as run:
            for reading in traced:
                reports.append(self._write(run, reading, written))
            lines = self._lines(traced, reports)
            if lines:
                run.record(RECORD, lines)
            run.subject = _subject(reports)
        if run.changes:
            self.runs.append(run.run_id)
        self._remark(run.outcome)
        self._journal(written)
        return reports

    def _trace(self, reading: Reading) -> Reading:
        if reading.session is None or reading.report.did == "failed":
            return reading
        try:
            done = record_session(self.location, self.backend, reading.session, self.now)
        except TraceRefused as error:
            report = replace(reading.report, did="failed", reason=str(error))
            return Reading(report)
        if done.outcome is not None:
            self._remark(done.outcome)
        trace = done.path if done.did != "unchanged" else ""
        return replace(reading, report=replace(reading.report, trace=trace))

    def _write(self, run: Run, reading: Reading, written: _Written) -> SourceReport:
        made: list[tuple[Locator, Draft]] = []
        reinforced_here: list[str] = []
        for draft in reading.drafts:
            if self.registry.has_made(
                draft.source, draft.digest, VERSION, live=reading.replaces_all
            ):
                continue
            known = self._known(draft, written)
            if known is not None:
                path, source = known
                is_own = source == draft.source
                if is_own and (path.key in written.touched or not reading.replaces_all):
                    continue
                if not is_own and not reading.reinforces:
                    continue
                if not is_own and self._reinforce(run, path, draft, written):
                    reinforced_here.append(path.key)
                    continue
            made.append((self._put(run, draft, written), draft))
        superseded = self._supersede(run, reading, made, written)
        did = reading.report.did
        if did == "new" and not (made or reinforced_here or reading.report.trace):
            did = "nothing"
        if reading.was_read and not superseded:
            did = "current"
        return replace(
            reading.report,
            did=did,
            made=tuple(place.key for place, _ in made),
            superseded=tuple(superseded),
            reinforced=tuple(dict.fromkeys(reinforced_here)),
        )

    def _known(self, draft: Draft, written: _Written) -> tuple[Locator, str] | None:
        """A live note that says the same, and the source it names."""
        body = fingerprint(draft.body.encode("utf-8", "replace"))
        if body in written.by_body:
            return written.by_body[body]
        known = known_paths(self.location, body)
        for note in live_notes(self.backend, body, known, standards=False) if known else ():
            source = properties.text_of(note.frontmatter, "source")
            if source:
                return Locator(note.path), source
        return None

    def _reinforce(self, run: Run, place: Locator, draft: Draft, written: _Written) -> bool:
        """Count it once more in the note that says it. False where that note can't be edited."""
        body = fingerprint(draft.body.encode("utf-8", "replace"))
        again = Reinforcement(place.key, body, iso(self.now), draft.tags, ())

        def more(data: bytes) -> bytes:
            frontmatter = read_frontmatter(data)
            if not is_live(frontmatter) or body_fingerprint(data, frontmatter) != body:
                return data
            return reinforced(data, again)[0]

        try:
            changed = run.rewrite(place, more).changed
        except (EditRefused, FileNotFoundError):
            return False
        if changed:
            written.touched.setdefault(place.key, FORGETTING)
        return changed

    def _put(self, run: Run, draft: Draft, written: _Written) -> Locator:
        kind, folder = self._filed(draft)
        stem = slugify(draft.title) or slugify(draft.body[:4_096]) or NAMELESS
        for name in _names(stem, draft.digest):
            place = folder.child(f"{name}.md")
            if self.backend.exists(place):
                continue
            data = document(
                {
                    "type": kind,
                    "status": "unfiled",
                    "captured": iso(draft.captured),
                    "slug": name,
                    "title": draft.title,
                    "tags": draft.tags,
                    "source": draft.source,
                    "source_hash": draft.digest,
                    "source_version": VERSION,
                    SOURCE_PART: draft.part,
                },
                draft.body,
            )
            try:
                run.write(place, data, expect=ABSENT)
            except FileExistsError:
                continue
            body = body_fingerprint(data, read_frontmatter(data))
            written.by_body[body] = (place, draft.source)
            written.touched[place.key] = PASS
            return place
        raise StorageError(f"{folder}/{stem}.md: every name for it is taken; rename some")

    def _filed(self, draft: Draft) -> tuple[str, Locator]:
        """Type and folder. While the rules are broken nothing is typed."""
        if isinstance(self.rules, BrokenRules):
            kind, memory_class = "", UNJUDGED_CLASS
        else:
            known = draft.type in self.rules.memory_types
            kind = draft.type if known else self.rules.default_type
            memory_class = self.rules.routing[kind]
        root = space_folder(self.backend, "Agent") or Locator("Agent")
        year, month = draft.captured.year, draft.captured.month
        folder = root.child("memory").child(memory_class)
        return kind, folder.child(f"{year:04}").child(f"{month:02}")

    def _supersede(
        self,
        run: Run,
        reading: Reading,
        made: Sequence[tuple[Locator, Draft]],
        written: _Written,
    ) -> list[str]:
        """Mark the notes of exactly this source whose place the new ones take, or those that a run
        made which was killed before it came to this."""
        notes = self.registry.notes_of(reading.report.source)
        told = {draft.digest for draft in reading.drafts}
        kept = {note.path for note in notes if note.version == VERSION and note.hash in told}
        new = [(place, draft.part) for place, draft in made]
        new += [(Locator(note.path), note.part) for note in notes if note.path in kept]
        done: list[str] = []
        for note in notes:
            successor = _successor(note, new, reading)
            if successor is None or note.path in kept:
                continue
            wanted = Wanted("read anew from its source", successor.name[:-3], self.now)
            try:
                if run.rewrite(Locator(note.path), partial(_older, wanted)).changed:
                    done.append(note.path)
                    written.touched.setdefault(note.path, FORGETTING)
            except EditRefused as error:
                self.remarks[f"{note.path} is not superseded: {error}"] = None
            except FileNotFoundError:
                continue  # moved or taken away a moment ago
        return done

    def _lines(self, readings: Iterable[Reading], reports: Iterable[SourceReport]) -> list[bytes]:
        lines: list[bytes] = []
        for reading, report in zip(readings, reports, strict=True):
            entry = reading.entry
            if entry is None or report.did == "failed":
                continue
            if isinstance(entry, Cursor):
                entry = replace(entry, made=entry.made + len(report.made))
            elif report.made or self.registry.is_done(entry.source, entry.hash) == VERSION:
                continue  # its notes tell it
            lines.append(line_of(entry))
        return lines

    def _remark(self, outcome: Outcome) -> None:
        if is_worth_a_remark(outcome):
            self.remarks[outcome.text] = None

    def _journal(self, written: _Written) -> None:
        """Let recall know at once."""
        try:
            for path, by in written.touched.items():
                data = self.backend.read_bytes(Locator(path))
                body = body_fingerprint(data, read_frontmatter(data))
                append(
                    self.location, JournalEntry(path, content_hash(data), body, iso(self.now), by)
                )
        except (OSError, StorageError):
            text = "the capture log can't be written, so recall finds the new notes only after the"
            self.remarks[f"{text} next index pass (agentm index)"] = None


def failed(place: str, kind: str, why: str, source: str = "") -> Reading:
    """Of what can't be used."""
    return Reading(SourceReport(place, kind, source, "failed", reason=why))


def nothing(source: str, digest: str, now: datetime, reason: str) -> NothingFound:
    """What is remembered of a source that gave nothing."""
    return NothingFound(source, digest, VERSION, iso(now), reason)


def _older(wanted: Wanted, data: bytes) -> bytes:
    """What the operator accepted as it is stays in force."""
    frontmatter = read_frontmatter(data)
    kept = properties.text_of(frontmatter, "enriched_by") == OPERATOR
    return data if kept or not is_live(frontmatter) else forgotten(data, wanted)


def _successor(
    note: SourceNote, new: Sequence[tuple[Locator, str]], reading: Reading
) -> Locator | None:
    """`new`: places and the parts of the source that they are of."""
    if not (reading.replaces_all or reading.replaces_part):
        return None
    same = [place for place, part in new if part and part == note.part]
    if same:
        return same[0]
    return new[0][0] if new and reading.replaces_all else None


def _names(stem: str, digest: str) -> Iterable[str]:
    yield stem
    for number in range(2, LAST_NUMBER + 1):
        yield with_suffix(stem, str(number))
    yield with_suffix(stem, digest[:8])


def _subject(reports: Sequence[SourceReport]) -> str:
    made = sum(len(report.made) for report in reports)
    read: set[Did] = {"new", "grown", "changed", "again", "nothing"}
    count = sum(report.did in read for report in reports)
    sources = "1 source" if count == 1 else f"{count:,} sources"
    return f"Ingest {sources}: {made:,} new {'note' if made == 1 else 'notes'}"
