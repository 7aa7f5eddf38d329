"""How much of a note a judge is given at once."""

from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.subject import Subject


def refuse_oversized(subject: Subject, rules: LoadedRules) -> Refusal | None:
    """A note over `enrichment_input_chars` is split first (`split_source`), and its fragments are
    judged. Blanks around the text do not count."""
    limit = rules.rules.thresholds.enrichment_input_chars
    size = len(subject.source.strip())
    if size <= limit:
        return None
    return Refusal("size", "size-over-limit", f"{size:,} characters; {limit:,} are judged at once")
