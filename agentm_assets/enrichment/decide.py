"""One note through the gates in their order, before the judge and behind it. Nothing is written."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agentm_assets.contract.properties import text_of
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.gates.aliases import refuse_foreign_aliases
from agentm_assets.enrichment.gates.budget import Budget
from agentm_assets.enrichment.gates.current import refuse_current
from agentm_assets.enrichment.gates.eligibility import refuse_ineligible
from agentm_assets.enrichment.gates.grounding import refuse_ungrounded_mechanically
from agentm_assets.enrichment.gates.membership import refuse_wrong_class
from agentm_assets.enrichment.gates.privacy import ScrubbedSubject, scrub_subject
from agentm_assets.enrichment.gates.probe import refuse_probe
from agentm_assets.enrichment.gates.refused import KnownRefusals, refuse_known
from agentm_assets.enrichment.gates.size import refuse_oversized
from agentm_assets.enrichment.gates.tokens import refuse_lost_tokens
from agentm_assets.enrichment.judges import Judge
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.population import Waiting
from agentm_assets.enrichment.reading import subject_of, was_judged
from agentm_assets.enrichment.reenrichment import UNTOUCHED, NoteHistory, body_print
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.rename import destination
from agentm_assets.enrichment.split import Fragment, split_source
from agentm_assets.enrichment.staleness import OPERATOR
from agentm_assets.enrichment.subject import Subject, Trigger
from agentm_assets.enrichment.version import GATE_VERSION
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import NoteUnreadable, StorageBackend
from agentm_assets.storage.vault import MAX_NOTE_BYTES

MOST_TRIES = 3
"""Paid answers in a row of which none could be used, after which a note is asked about no more
until it, the prompt or the rules change."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What every note of a run is judged with."""

    backend: StorageBackend
    rules: LoadedRules
    judge: Judge
    budget: Budget
    refusals: KnownRefusals
    history: NoteHistory
    trigger: Trigger
    asked_with: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Stopped:
    """A note that a gate stopped. `fingerprint` None: it could not be read."""

    waiting: Waiting
    refusal: Refusal
    fingerprint: str | None = None
    scrubbed: ScrubbedSubject | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgment that came through all gates but the last one, the write. `place`: where it wants
    the note."""

    waiting: Waiting
    subject: Subject
    scrubbed: ScrubbedSubject
    judgment: Judgment
    place: Locator


@dataclass(frozen=True, slots=True)
class TooLong:
    """A note that becomes several before anything of it is judged."""

    waiting: Waiting
    subject: Subject
    fragments: tuple[Fragment, ...]


Decided = Stopped | Judged | TooLong


def decide(waiting: Waiting, desk: Desk) -> Decided:
    """Raises StorageError when the store as a whole fails."""
    locator = Locator(waiting.path)
    try:
        data = desk.backend.read_bytes(locator, limit=MAX_NOTE_BYTES)
    except FileNotFoundError:
        gone = "the note is gone since it was indexed"
        return Stopped(waiting, Refusal("eligibility", "eligibility-gone", gone))
    except NoteUnreadable as error:
        return Stopped(waiting, Refusal("eligibility", "eligibility-unreadable", error.message))
    if not _is_utf8(data):
        odd = "the note is not valid UTF-8, and no edit would keep its bytes"
        not_text = Refusal("eligibility", "eligibility-not-utf8", odd)
        return Stopped(waiting, not_text, body_print(data))
    subject = subject_of(locator, data, desk.trigger, is_linked=waiting.is_linked)
    refusal = _before_scrubbing(subject, desk)
    if refusal is not None:
        return Stopped(waiting, refusal, subject.fingerprint)
    if was_judged(subject):
        past = desk.history.past(waiting.path, data)
        if past is not UNTOUCHED:
            subject = subject_of(
                locator, data, desk.trigger, is_linked=waiting.is_linked, past=past
            )
    scrubbed = scrub_subject(subject)
    if isinstance(scrubbed, Refusal):
        return Stopped(waiting, scrubbed, subject.fingerprint)
    if refuse_oversized(subject, desk.rules) is not None:
        limit = desk.rules.rules.thresholds.enrichment_input_chars
        fragments = split_source(subject, limit)
        if subject.status == "unfiled" and not subject.human_edited:
            undone = _taken_back(subject, waiting, desk)
            if undone is not None:
                return Stopped(waiting, undone, subject.fingerprint)
            return TooLong(waiting, subject, fragments)
        # Its body stays in any case, so its first part speaks for it.
        subject = replace(subject, source=fragments[0].text, human_edited=True)
        scrubbed = scrub_subject(subject)
        if isinstance(scrubbed, Refusal):
            return Stopped(waiting, scrubbed, subject.fingerprint)
    refusal = _known(subject, waiting, desk)
    if refusal is not None:
        return Stopped(waiting, refusal, subject.fingerprint)
    return _judged(waiting, scrubbed, desk)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _before_scrubbing(subject: Subject, desk: Desk) -> Refusal | None:
    refusal = refuse_probe(subject)
    if refusal is None and text_of(subject.frontmatter, "enriched_by") == OPERATOR:
        reviewed = "the operator has said what the note is"
        refusal = Refusal("eligibility", "eligibility-reviewed", reviewed)
    return refusal or refuse_ineligible(subject, desk.rules, desk.judge.stamp)


def _known(subject: Subject, waiting: Waiting, desk: Desk) -> Refusal | None:
    stamp, rules_hash = desk.judge.stamp, desk.rules.rules_hash
    refusal = refuse_current(
        subject, stamp, rules_hash, waiting.judged_fingerprint, desk.judge.also_current
    ) or refuse_known(subject, stamp, rules_hash, GATE_VERSION, desk.refusals)
    if refusal is not None:
        return refusal
    if waiting.tries >= MOST_TRIES:
        parked = f"{waiting.tries} answers about the note could not be used"
        return Refusal("refused-before", "refused-parked", parked)
    return _taken_back(subject, waiting, desk)


def _taken_back(subject: Subject, waiting: Waiting, desk: Desk) -> Refusal | None:
    stamp, rules_hash = desk.judge.stamp, desk.rules.rules_hash
    if not desk.history.taken_back(waiting.path, subject.data_hash, stamp, rules_hash):
        return None
    undone = "the operator took back what this version of the pass had written"
    return Refusal("refused-before", "refused-reverted", undone)


def _judged(waiting: Waiting, scrubbed: ScrubbedSubject, desk: Desk) -> Decided:
    subject = scrubbed.subject
    judgment = desk.judge.judge(scrubbed, desk.rules, desk.budget)
    if isinstance(judgment, Refusal):
        return Stopped(waiting, judgment, subject.fingerprint, scrubbed)
    place = destination(subject, judgment, desk.rules, desk.history)
    refusal = (
        refuse_lost_tokens(subject, judgment)
        or refuse_ungrounded_mechanically(subject, judgment)
        or desk.judge.ground(scrubbed, judgment, desk.rules, desk.budget)
        or refuse_foreign_aliases(subject, judgment, desk.asked_with.get(waiting.path, ()))
        or refuse_wrong_class(place, desk.rules)
    )
    if refusal is not None:
        return Stopped(waiting, refusal, subject.fingerprint, scrubbed)
    return Judged(waiting, subject, scrubbed, judgment, place)
