"""The slop detector: notes that fill a template and say nothing.

It reads content and ignores shape. Two bands: one that the operator looks at, and a narrow one, the
unfilled skeleton that is a near copy as well, which expires once the operator has confirmed its
first pass. Length never counts alone: the best notes are often the shortest.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from agentm_assets.contract.edit import EditRefused
from agentm_assets.contract.rules_model import Thresholds
from agentm_assets.dreaming.asking import asking_of
from agentm_assets.dreaming.meters.corpus import WORD, Document, Vector, note_vectors, read_corpus
from agentm_assets.dreaming.meters.generic_words import says_something
from agentm_assets.dreaming.meters.shingles import Copy, near_copies
from agentm_assets.dreaming.meters.slop_model import judge_borderline
from agentm_assets.dreaming.meters.slop_records import read_answers
from agentm_assets.dreaming.meters.template import (
    common_lines,
    filler_words,
    rare_words,
    residual,
)
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.stage import Change, Leave, Plan
from agentm_assets.enrichment.gates.distinctive import distinctive_tokens
from agentm_assets.forgetting.edit import Wanted, faded_status, forgotten
from agentm_assets.storage.locator import Locator

Band = Literal["review", "expire"]

SHORT: Final = 60
"""Words under which a note may expire; only together with everything else."""

LEAST_RARE: Final = 3
"""Different words that few other notes have. A note with fewer, and without a name, a number or an
identifier of its own, is about nothing."""

LEAST_FILLER: Final = 3
"""Words that any note may have, from which on a note without substance is filler. A terse one has
none of them."""

MOST_NEW: Final = 1
"""Telling words that a near copy may have beside those of the older note."""

MOST_LISTED: Final = 30


@dataclass(frozen=True, slots=True)
class Scored:
    """A note in a band. `residual`: the share of it beyond its template. `why`: which signals.
    `is_borderline`: it has a telling word, and is no copy, so a model may know better."""

    path: str
    band: Band
    residual: float
    copy: Copy | None
    why: tuple[str, ...]
    is_borderline: bool = False

    @property
    def line(self) -> str:
        """For the operator; nothing of the note's text."""
        of = f", near copy of {self.copy.of}" if self.copy is not None else ""
        return f"{self.path}: {', '.join(self.why)}{of}"


def score(
    documents: Sequence[Document],
    vectors: Mapping[str, Vector],
    lines: Thresholds,
    kept: frozenset[str] = frozenset(),
) -> list[Scored]:
    """The notes of both bands, by path. `kept`: fingerprints that the operator wants to keep."""
    common = common_lines([each.body for each in documents])
    residuals = {each.path: residual(each.body, common) for each in documents}
    spread = Counter(word for each in residuals.values() for word in set(each.own))
    copies = near_copies(documents, vectors)
    bodies = {each.path: each.body for each in documents}
    found: list[Scored] = []
    for each in documents:
        if each.fingerprint in kept:
            continue
        left = residuals[each.path]
        rare = rare_words(left.own, spread, len(documents))
        is_bare = left.ratio < lines.slop_review
        is_empty = rare < LEAST_RARE and not _has_tokens(left.own, each.body)
        is_filler = is_empty and filler_words(left.own) >= LEAST_FILLER
        copy = copies.get(each.path)
        repeats = copy is not None and copy.is_sure and _adds_nothing(each.body, bodies[copy.of])
        why = [
            name
            for name, holds in (
                ("mostly template", is_bare),
                ("says nothing of its own", is_empty),
                ("near copy", repeats),
            )
            if holds
        ]
        # A filled template is bare in words and rich in substance: neither signal counts alone.
        if not ((is_bare and is_empty) or is_filler or repeats):
            continue
        expires = (
            left.ratio < lines.slop_expire
            and is_empty
            and copy is not None
            and copy.is_sure
            and left.words < SHORT
            and not each.linked
        )
        found.append(
            Scored(
                each.path,
                "expire" if expires else "review",
                round(left.ratio, 3),
                copy,
                tuple(why),
                is_borderline=not expires and not repeats and rare > 0,
            )
        )
    return found


def _adds_nothing(body: str, older: str) -> bool:
    """Does the note say nothing that the older one does not say already?"""
    known = {word.casefold() for word in WORD.findall(older)}
    new = {word.casefold() for word in WORD.findall(body)} - known
    if any(word.isdigit() for word in new) or sum(map(says_something, new)) > MOST_NEW:
        return False
    held = {token.text for token in distinctive_tokens(older)}
    return all(
        token.text in held or token.text.casefold() in known for token in distinctive_tokens(body)
    )


def _has_tokens(own: Sequence[str], body: str) -> bool:
    """A number, a name, an identifier, an address or code beyond the template."""
    said = set(own)
    for token in distinctive_tokens(body):
        words = [word.casefold() for word in token.text.replace("_", " ").split()]
        if any(word.strip(".,:;()`") in said for word in words) or token.kind in ("code", "url"):
            return True
    return False


class SlopScores:
    name: Final = "slop-scores"
    version: Final = "1"
    needs_model: Final = True
    description: Final = (
        "Notes that fill a template and say nothing: some to look at, bare near copies expire once "
        "the operator has confirmed the first of them."
    )

    def plan(self, night: Night) -> Plan:
        documents, found = scored(night)
        answers = read_answers(night.backend)
        asking = asking_of(night, self.name)
        unsure = {each.path for each in found if each.is_borderline}
        verdict = judge_borderline(asking, [each for each in documents if each.path in unsure])
        handed = asking.finish()
        found = [each for each in found if each.path not in verdict.telling]
        expiring = [each for each in found if each.band == "expire"]
        review = [each for each in found if each.band == "review"]
        notes = [f"to look at: {each.line}" for each in review[:MOST_LISTED]]
        if expiring and not answers.confirmed:
            notes.append(
                f"{len(expiring):,} bare near copies would expire. agentm slop list shows them; "
                "agentm slop confirm lets this band expire notes from now on"
            )
            notes += [f"would expire: {each.line}" for each in expiring[:MOST_LISTED]]
        changes = tuple(_expire(each, night) for each in expiring) if answers.confirmed else ()
        waiting = 0 if answers.confirmed else len(expiring)
        notes += [*asking.remarks(), *([handed.because] if handed.because else [])]
        return Plan(
            changes,
            waiting_for_model=verdict.waiting,
            spent=asking.spent,
            skipped={"awaits-confirmation": waiting} if waiting else {},
            notes=tuple(notes),
            measured={
                "notes": len(documents),
                "review": len(review),
                "expire": len(expiring),
                "kept": len(answers.kept),
                "cleared_by_model": len(verdict.telling),
                "share": round(len(found) / len(documents), 4) if documents else 0.0,
            },
        )


def scored(night: Night) -> tuple[list[Document], list[Scored]]:
    """The memories, and those of them in a band, what the operator keeps left out."""
    documents = read_corpus(night)
    with night.index() as connection:
        vectors = note_vectors(connection, [each.path for each in documents])
    kept = read_answers(night.backend).kept
    return documents, score(documents, vectors, night.rules.rules.thresholds, kept)


def _expire(each: Scored, night: Night) -> Change:
    wanted = Wanted("an unfilled template and a near copy", None, night.now)

    def build(held: bytes | None) -> bytes:
        if held is None:
            raise Leave("gone-meanwhile")
        if faded_status(held) is not None:
            return held
        try:
            return forgotten(held, wanted)
        except EditRefused as error:
            raise Leave("uneditable") from error

    return Change(Locator(each.path), "rewrite", build)
