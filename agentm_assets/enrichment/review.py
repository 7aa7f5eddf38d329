"""The review queue: what a judge left to the operator, and what the operator says of it.

It is a query, no folder: the notes stay where they are and are recalled. An answer is a run of the
pass `review`, logged and committed as any other, so that `agentm revert` takes it back.
"""

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.edit import EditRefused, set_key
from agentm_assets.contract.lines import split_lines
from agentm_assets.contract.properties import text_of
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.contract.spaces import is_model_exempt, space_of
from agentm_assets.contract.vocabulary import OBSERVATIONAL_CLASSES
from agentm_assets.enrichment.reading import subject_of
from agentm_assets.enrichment.reenrichment import NoteHistory
from agentm_assets.enrichment.refusals import RefusedBefore
from agentm_assets.enrichment.rename import free_place, fresh_links
from agentm_assets.enrichment.staleness import OPERATOR
from agentm_assets.enrichment.subject import Subject
from agentm_assets.forgetting.allowed import ForgetRefused
from agentm_assets.forgetting.edit import Wanted, forgotten
from agentm_assets.forgetting.forget import forget
from agentm_assets.history.git import Repository
from agentm_assets.history.outcome import Outcome
from agentm_assets.history.revert import PASS as REVERT
from agentm_assets.history.revert_log import Change
from agentm_assets.history.revert_log import stamp as moment
from agentm_assets.history.run import begin, open_repository
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.rows import NoteRow
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.vault import Vault

PASS = "review"
ENRICH = "enrich"
MAX_NOTE_BYTES = 16 * 1024 * 1024

Answer = Literal["accept", "reject", "retype"]


class ReviewRefused(Exception):
    """Nothing was changed; the text says why, and the cure."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A note that waits for the operator. `why` is "unsure" where the judge's confidence was under
    the floor, "taken-back" where the operator undid what a judge had written, else the code of the
    gate that refused the answer; `detail` says more. `since`: when
    that was, UTC. `confidence` None: the note was refused, so nothing was judged."""

    path: str
    title: str
    type: str | None
    confidence: float | None
    captured: str | None
    judged_by: str
    since: str
    why: str
    detail: str


@dataclass(frozen=True, slots=True)
class Shown:
    """One note of the queue, or any other, as a person judges it. `queued` None: it waits for no
    answer. `judged_diff`: what changed in the file from before the first judgment until now, as a
    unified diff; empty where there is none, or no git to tell."""

    path: str
    status: str | None
    queued: Queued | None
    judged_diff: str
    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """`diff`: what the answer changes, as a unified diff. `moved_to`: the note's new place, where
    its class was corrected. `outcome` None: nothing was written (`dry_run`, or nothing to do)."""

    path: str
    answer: Answer
    changed: bool
    diff: str
    moved_to: str | None
    outcome: Outcome | None
    run: str | None
    remark: str | None = None


def review_queue(
    facts: FactsReader, refused: Iterable[RefusedBefore], log: Sequence[Change]
) -> tuple[Queued, ...]:
    """What waits, the longest waiting first: notes that are unfiled after a judgment, notes whose
    judgment a gate refused and whose body is still the one that was judged, and notes whose
    judgment the operator took back. `log`: the revert log, oldest first. It also knows answers that
    the index has not seen yet.
    """
    history: defaultdict[str, list[Change]] = defaultdict(list)
    for change in log:
        history[change.path].append(change)
    last: Mapping[tuple[str, str], RefusedBefore] = {
        (each.path, each.fingerprint): each for each in refused
    }
    found = [
        Queued(
            note.path,
            note.title,
            note.type,
            note.confidence,
            note.captured,
            note.enriched_by,
            note.enriched_at or note.captured or "",
            "unsure",
            "the judge was not sure enough to file it",
        )
        for note in facts.unfiled()
        if note.enriched_by is not None and not _is_answered(note, history)
    ]
    found += [
        Queued(
            note.path,
            note.title,
            note.type,
            None,
            note.captured,
            "",
            history[note.path][-1].at,
            "taken-back",
            "you took back what a judge had written",
        )
        for note in facts.notes_by_path(
            [path for path, changes in history.items() if changes[-1].pass_name == REVERT]
        ).values()
        if note.enriched_by is None
        and note.status in ("unfiled", "active")
        and _is_taken_back(note, history)
    ]
    waiting = {each.path for each in found}
    notes = facts.notes_by_path([path for path, _ in last if path not in waiting])
    found += [
        Queued(
            path,
            note.title,
            note.type,
            None,
            note.captured,
            refusal.stamp,
            refusal.at,
            refusal.code,
            refusal.detail,
        )
        for (path, body), refusal in last.items()
        if (note := notes.get(path)) is not None
        and note.fingerprint == body
        and note.enriched_by is None
        and note.status in ("unfiled", "active")
        and not _is_answered(note, history)
    ]
    return tuple(sorted(found, key=lambda each: (each.since, each.path)))


def _is_answered(note: NoteRow, history: Mapping[str, Sequence[Change]]) -> bool:
    """Whether the operator's word stands in the file, and the index has yet to read it."""
    changes = history.get(note.path, ())
    return (
        bool(changes) and changes[-1].pass_name == PASS and changes[-1].after != note.content_hash
    )


def _is_taken_back(note: NoteRow, history: Mapping[str, Sequence[Change]]) -> bool:
    """Whether the note is as a revert left it, and what that undid was a judge's."""
    last = history[note.path][-1]
    if last.after != note.content_hash:
        return False
    judged = history.get(last.moved_from or note.path, ())  # the name that the judge gave it
    before = next((each.before for each in judged if each.run == last.run), last.before)
    undone = next((each for each in reversed(judged) if each.after == before), None)
    return undone is not None and undone.pass_name == ENRICH


class Review:
    """Answers to what waits, in one vault. `now`: the wall clock."""

    def __init__(
        self,
        location: VaultLocation,
        backend: StorageBackend,
        now: Callable[[], datetime],
    ) -> None:
        self._location = location
        self._backend = backend
        self._now = now

    def show(self, path: str, queue: Iterable[Queued]) -> Shown:
        """Raises ReviewRefused for what is no note of the memory, StorageError."""
        subject = self._subject(path, rules=None)
        key = subject.locator.key
        return Shown(
            path=key,
            status=subject.status,
            queued=next((each for each in queue if each.path == key), None),
            judged_diff=self._judged_diff(subject),
            text=subject.data.decode("utf-8", "replace"),
        )

    def accept(self, path: str, rules: LoadedRules, *, dry_run: bool = False) -> Answered:
        """The judge was right: the note becomes active, and no pass judges it again.

        Raises ReviewRefused (its type is none of the rules', or it is not unfiled), StorageError.
        """
        subject = self._subject(path, rules)
        type_ = text_of(subject.frontmatter, "type")
        if type_ is None or type_ not in rules.rules.memory_types:
            raise ReviewRefused(
                f"{subject.locator} has no type that the rules know. Give it one: agentm review "
                f"retype PATH --type {'|'.join(rules.rules.memory_types)}"
            )
        if subject.status == "active":
            return Answered(subject.locator.key, "accept", False, "", None, None, None)

        def change(data: bytes) -> bytes:
            return set_key(set_key(data, "status", "active"), "enriched_by", OPERATOR)

        return self._write(subject, "accept", rules, change, dry_run)

    def reject(
        self, path: str, rules: LoadedRules, reason: str, *, dry_run: bool = False
    ) -> Answered:
        """The note is not worth keeping: it expires softly, and nothing is removed.

        Raises ReviewRefused, StorageError.
        """
        subject = self._subject(path, rules)
        try:
            done = forget(
                self._location,
                self._backend,
                path,
                reason,
                self._now(),
                dry_run=dry_run,
                pass_name=PASS,
            )
        except ForgetRefused as error:
            raise ReviewRefused(str(error)) from error
        after = forgotten(subject.data, Wanted(reason, None, self._now()))
        return Answered(
            path=done.path,
            answer="reject",
            changed=not done.already and not dry_run,
            diff=unified_diff(subject.data, after, done.path),
            moved_to=None,
            outcome=done.outcome,
            run=done.run,
            remark=done.remark,
        )

    def retype(
        self,
        path: str,
        type_: str,
        rules: LoadedRules,
        vault: Vault,
        facts: FactsReader,
        *,
        dry_run: bool = False,
    ) -> Answered:
        """The judge was wrong about the type: the operator's word stands, and no pass judges the
        note again. Its class is corrected along with it, while nothing links to it.

        Raises ReviewRefused for a type that the rules do not know, StorageError.
        """
        if type_ not in rules.rules.memory_types:
            raise ReviewRefused(
                f"the rules know no type `{type_[:80]}`. Take one of: "
                f"{', '.join(rules.rules.memory_types)}"
            )
        subject = self._subject(path, rules)

        def change(data: bytes) -> bytes:
            edited = set_key(set_key(data, "type", type_), "status", "active")
            if edited == data:
                return data
            edited = set_key(edited, "confidence", 1.0)
            edited = set_key(edited, "enriched_by", OPERATOR)
            edited = set_key(edited, "enriched_at", moment(self._now()))
            return set_key(edited, "rules_hash", rules.rules_hash)

        target = self._corrected_place(subject, rules.rules.routing[type_], vault, facts)
        return self._write(subject, "retype", rules, change, dry_run, target)

    def _corrected_place(
        self, subject: Subject, memory_class: str, vault: Vault, facts: FactsReader
    ) -> Locator | None:
        """Where the note belongs by its new type; None where it has to stay."""
        key = subject.locator.key
        *folders, name = subject.locator.parts
        if memory_class == subject.memory_class or memory_class not in OBSERVATIONAL_CLASSES:
            return None
        if NoteHistory(self._location, self._backend).corrected(key)[1]:
            return None
        if facts.backlinks(key) or fresh_links(vault, facts.manifest()).lead_to(subject):
            return None
        folders[2] = memory_class
        return free_place(self._backend, Locator("/".join([*folders, name])), subject.locator)

    def _write(
        self,
        subject: Subject,
        answer: Answer,
        rules: LoadedRules,
        change: Callable[[bytes], bytes],
        dry_run: bool,
        target: Locator | None = None,
    ) -> Answered:
        key = subject.locator.key
        try:
            after = change(subject.data)
        except EditRefused as error:
            raise ReviewRefused(
                f"{key}: {error}. Mend the properties by hand, then answer again"
            ) from error
        moved = None if target is None else target.key
        diff = unified_diff(subject.data, after, key, moved)
        if dry_run or (after == subject.data and target is None):
            return Answered(key, answer, False, diff, moved, None, None)
        name = {"accept": "Accept", "reject": "Reject", "retype": "Retype"}[answer]
        with begin(
            self._location,
            self._backend,
            pass_name=PASS,
            rules_hash=rules.rules_hash,
            subject=f"{name} {key}",
            now=self._now,
        ) as run:
            if target is None:
                run.write(subject.locator, after, expect=subject.data_hash)
            else:
                run.move(subject.locator, target, after, expect=subject.data_hash)
        return Answered(key, answer, True, diff, moved, run.outcome, run.run_id)

    def _subject(self, path: str, rules: LoadedRules | None) -> Subject:
        try:
            place = Locator(path)
        except LocatorInvalid as error:
            raise ReviewRefused(
                f"the path leads nowhere in the vault: {error}. `agentm review list` shows paths"
            ) from error
        if space_of(place.key).memory_class not in OBSERVATIONAL_CLASSES or (
            rules is not None and is_model_exempt(place.key, rules.rules)
        ):
            raise ReviewRefused(
                f"{place} is no note that a judge files: those lie in Agent/memory under "
                f"{', '.join(OBSERVATIONAL_CLASSES)}"
            )
        try:
            data = self._backend.read_bytes(place, limit=MAX_NOTE_BYTES)
        except FileNotFoundError as error:
            raise ReviewRefused(
                f"there is no note {place}. `agentm review list` shows what waits"
            ) from error
        return subject_of(place, data, "batch", is_linked=False)

    def _judged_diff(self, subject: Subject) -> str:
        """What judgments made of the file since it was captured."""
        changes = NoteHistory(self._location, self._backend).changes(subject.locator.key)
        judged = [change for change in changes if change.pass_name == ENRICH]
        before = self._before(judged[0]) if judged else None
        if before is None:
            return ""
        return unified_diff(before, subject.data, judged[0].path, subject.locator.key)

    def _before(self, change: Change) -> bytes | None:
        repository = open_repository(self._location)
        if not isinstance(repository, Repository) or change.base is None:
            return None
        return repository.content(change.base, change.path)


def unified_diff(before: bytes, after: bytes, path: str, moved_to: str | None = None) -> str:
    """The lines that differ, with three around them; "" where none do and the name stays."""
    if before == after and moved_to in (None, path):
        return ""
    old, new = (
        [line.rstrip("\r\n") for line in split_lines(data.decode("utf-8", "replace"))]
        for data in (before, after)
    )
    lines = difflib.unified_diff(old, new, f"before/{path}", f"after/{moved_to or path}", "", "")
    shown = [line.rstrip("\n") for line in lines]
    if not shown:
        shown = [f"--- before/{path}", f"+++ after/{moved_to or path}"]
    return "\n".join(shown) + "\n"
