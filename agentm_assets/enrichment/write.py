"""Writing what was judged: one commit for many notes, each against the very bytes that were judged.

The last gate. Whoever edited a note meanwhile wins, and nothing of the judgment is written.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from agentm_assets.capture.render import render
from agentm_assets.capture.slug import NAMELESS, slugify
from agentm_assets.contract import properties
from agentm_assets.contract.edit import EditRefused, set_key
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.apply import applied, is_sure
from agentm_assets.enrichment.decide import Judged, TooLong
from agentm_assets.enrichment.gates.aliases import refuse_lost_aliases
from agentm_assets.enrichment.gates.membership import refuse_wrong_class
from agentm_assets.enrichment.reenrichment import body_print
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.rename import free_place, names_like
from agentm_assets.enrichment.rewritable import is_renamable
from agentm_assets.enrichment.split import Fragment
from agentm_assets.enrichment.subject import Subject
from agentm_assets.history.revert_log import stamp as moment
from agentm_assets.history.run import Run
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import (
    ABSENT,
    ConcurrentModificationError,
    StorageBackend,
    StorageError,
    content_hash,
)

IsLinked = Callable[[Subject], bool]
"""Whether a note links to this one now, by the index and by the files that it has not seen."""


@dataclass(frozen=True, slots=True)
class Wrote:
    """A note that carries its judgment. `place`: its name now."""

    place: Locator
    activated: bool
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Split:
    """A note that became several, which wait for a judgment of their own."""

    fragments: tuple[Locator, ...]


def write_judged(
    run: Run,
    backend: StorageBackend,
    judged: Judged,
    rules: LoadedRules,
    stamp: str,
    now: datetime,
    is_linked: IsLinked,
) -> Wrote | Refusal:
    """Write the judgment, and correct class and name where that may still be done."""
    subject, judgment = judged.subject, judged.judgment
    own = subject.locator
    changes_name = judged.place != own or judgment.title != subject.title
    if changes_name and is_renamable(subject) and is_linked(subject):
        subject = replace(subject, is_linked=True)
    place = own
    if judged.place != own and is_renamable(subject):
        place = free_place(backend, judged.place, own) or own
        if refuse_wrong_class(place, rules) is not None:
            place = own
    try:
        data = applied(
            subject.data, subject, judgment, stamp, rules, now, slug=_new_slug(place, own)
        )
        kept = properties.aliases(read_frontmatter(data))
        refused = refuse_lost_aliases(subject.aliases, kept)
        if refused is not None:
            return refused
        if place != own:
            try:
                run.move(own, place, data, expect=subject.data_hash)
            except FileExistsError:  # taken in this moment: it keeps the name it has
                place = own
                data = applied(subject.data, subject, judgment, stamp, rules, now)
        if place == own:
            run.write(own, data, expect=subject.data_hash)
    except EditRefused as error:
        why = f"a property of the note can't be edited: {error}"
        return Refusal("journal", "journal-uneditable", why, remembered=True)
    except (ConcurrentModificationError, FileNotFoundError):
        return _changed()
    except StorageError as error:
        return Refusal("journal", "journal-not-written", str(error))
    activated = subject.status == "unfiled" and is_sure(judgment, rules)
    return Wrote(place, activated, body_print(data))


def write_split(
    run: Run, backend: StorageBackend, split: TooLong, rules: LoadedRules, now: datetime
) -> Split | Refusal:
    """Put each fragment into a note of its own, then mark the original as superseded by them.

    Fragments that are there already, from a run that was killed in between, are not made again.
    """
    subject = split.subject
    made: list[Locator] = []
    try:
        if content_hash(backend.read_bytes(subject.locator)) != subject.data_hash:
            return _changed()
        for fragment in split.fragments:
            made.append(_put_fragment(run, backend, subject, fragment, rules))
        data = set_key(subject.data, "status", "superseded")
        data = set_key(data, "superseded_by", made[0].name.removesuffix(".md"))
        data = set_key(data, "superseded_at", moment(now))
        run.write(subject.locator, data, expect=subject.data_hash)
    except EditRefused as error:
        why = f"a property of the note can't be edited: {error}"
        return Refusal("journal", "journal-uneditable", why, remembered=True)
    except (ConcurrentModificationError, FileNotFoundError):
        return _changed()
    except (StorageError, FileExistsError) as error:
        return Refusal("journal", "journal-not-written", str(error))
    return Split(tuple(made))


def _changed() -> Refusal:
    why = "the note was changed while it was judged; what was changed stands"
    return Refusal("journal", "journal-changed-meanwhile", why)


def _new_slug(place: Locator, own: Locator) -> str | None:
    return place.name.removesuffix(".md") if place.name != own.name else None


def _put_fragment(
    run: Run,
    backend: StorageBackend,
    subject: Subject,
    fragment: Fragment,
    rules: LoadedRules,
) -> Locator:
    wanted = subject.locator.parent.child(f"{slugify(fragment.title) or NAMELESS}.md")
    origin = properties.text_of(subject.frontmatter, "slug") or subject.locator.name[:-3]
    for place in names_like(wanted):
        data = _rendered(subject, fragment, place.name[:-3], origin, rules)
        if not backend.exists(place):
            run.write(place, data, expect=ABSENT)
            return place
        if _is_fragment(backend.read_bytes(place), origin, data):
            return place
    raise StorageError(f"{wanted}: every name for a part of the note is taken; rename some")


def _is_fragment(held: bytes, origin: str, data: bytes) -> bool:
    """Is that part in the vault already, judged since or not? One that was taken back is none: the
    note would be superseded by what nobody recalls."""
    frontmatter = read_frontmatter(held)
    if properties.text_of(frontmatter, "status") == "expired":
        return False
    written = properties.text_of(frontmatter, "derived_from")
    return written == origin and body_print(held) == body_print(data)


def _rendered(
    subject: Subject, fragment: Fragment, slug: str, origin: str, rules: LoadedRules
) -> bytes:
    text = fragment.text
    return render(
        {
            "type": properties.text_of(subject.frontmatter, "type") or rules.rules.default_type,
            "status": "unfiled",
            "captured": subject.captured,
            "slug": slug,
            "title": fragment.title,
            "tags": subject.tags,
            "source": properties.text_of(subject.frontmatter, "source"),
            "derived_from": origin,
        },
        (text if text.endswith("\n") else f"{text}\n").encode("utf-8", "replace"),
    )
