"""Whether a pass may put its own words in the place of a note's."""

from agentm_assets.contract.properties import text_of
from agentm_assets.enrichment.subject import Subject


def is_rewritable(subject: Subject) -> bool:
    """Not where a human has edited the body since, nor where the operator captured the note as
    settled (`active`, and no pass has judged it): those get judgment fields and aliases alone, and
    body, title and slug stay."""
    if subject.human_edited:
        return False
    return subject.status == "unfiled" or bool(text_of(subject.frontmatter, "enriched_by"))


def is_renamable(subject: Subject) -> bool:
    """Title and slug change only while nothing links to the note: then they are an address."""
    return is_rewritable(subject) and not subject.is_linked
