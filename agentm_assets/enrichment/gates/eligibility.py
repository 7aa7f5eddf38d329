"""Which notes a pass may judge at all: by where they lie and what they are."""

from typing import Final

from agentm_assets.contract.excludes import is_excluded
from agentm_assets.contract.properties import text_of
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.contract.spaces import is_model_exempt, space_of
from agentm_assets.contract.vocabulary import DERIVED_CLASSES, OBSERVATIONAL_CLASSES
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.subject import Subject

EXTRACTIVE: Final = "extractive-"
"""How the stamps of the extractive judge begin."""

_JUDGED_STATUSES: Final = ("unfiled", "active")


def refuse_ineligible(subject: Subject, rules: LoadedRules, stamp: str) -> Refusal | None:
    """Decided on the path that the note really has, in whatever case it is written.

    `stamp` is that of the judge who would be asked: what a model has judged is not judged again by
    the extractive judge, and waits for a model.
    """
    path = subject.locator.key
    if is_model_exempt(path, rules.rules) or is_model_exempt(path.casefold(), rules.rules):
        return _refusal("model-exempt", "the space is closed to models that run unattended")
    if is_excluded(path, rules.rules.excludes):
        return _refusal("excluded", "a pattern of the rules hides the note")
    memory_class = space_of(path.casefold()).memory_class
    if memory_class in DERIVED_CLASSES:
        return _refusal("derived", "the class is built from other notes and never judged")
    if space_of(path).memory_class not in OBSERVATIONAL_CLASSES:
        return _refusal("not-memory", "the note lies in none of the classes that are judged")
    if subject.frontmatter.error is not None or subject.frontmatter.duplicates:
        return _refusal("unreadable", "the note's properties can't be read, so not edited either")
    if text_of(subject.frontmatter, "kind"):
        return _refusal("record", "the note is a record: it has a kind, and no type to be judged")
    if subject.status not in _JUDGED_STATUSES:
        return _refusal("status", "only unfiled and active notes are judged")
    if not subject.source.strip():
        return _refusal("empty", "the note has no text")
    judged_by = text_of(subject.frontmatter, "enriched_by")
    if judged_by and not judged_by.startswith(EXTRACTIVE) and stamp.startswith(EXTRACTIVE):
        return _refusal("awaits-model", "a model has judged the note; it waits for one")
    return None


def _refusal(code: str, detail: str) -> Refusal:
    return Refusal("eligibility", f"eligibility-{code}", detail)
