"""First of all: is this a memory at all?"""

from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.subject import Subject


def refuse_probe(subject: Subject) -> Refusal | None:
    """A note with the `probe` property is agentm's own round-trip fixture. The marker is all that
    tells it from a memory, and a rewrite could lose it."""
    if "probe" in subject.frontmatter.fields:
        return Refusal("probe", "probe", "the note is agentm's own probe, not a memory")
    return None
