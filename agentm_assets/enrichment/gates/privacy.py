"""What every later stage sees of a note: its text without secrets and contacts."""

from dataclasses import dataclass

from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.subject import Subject
from agentm_assets.privacy.scrub import Scrubbed, left, scrub_together


@dataclass(frozen=True, slots=True)
class ScrubbedSubject:
    """A note as a model may see it, under one numbering of placeholders. `subject` is the note
    itself, which no prompt may be made from."""

    subject: Subject
    source: Scrubbed
    title: Scrubbed
    aliases: tuple[str, ...]
    tags: tuple[str, ...]


def scrub_subject(subject: Subject) -> ScrubbedSubject | Refusal:
    """Refuses a note that holds what can't be cut out. The refusal names the kind alone."""
    texts = (subject.source, subject.title, *subject.aliases, *subject.tags)
    broken = [kind for text in texts for kind in left(text)]
    if broken:
        return Refusal(
            "privacy",
            "privacy-unscrubbable",
            f"the note holds a {broken[0]} whose end can't be told, so nothing of it is sent; "
            "complete it or take it out",
        )
    source, title, *rest = scrub_together(*texts)
    names = len(subject.aliases)
    return ScrubbedSubject(
        subject=subject,
        source=source,
        title=title,
        aliases=tuple(each.text for each in rest[:names]),
        tags=tuple(each.text for each in rest[names:]),
    )
