"""The floor of completeness: no rewrite loses what a note is looked for by."""

from itertools import islice
from typing import Final

from agentm_assets.enrichment.gates.distinctive import distinctive_tokens
from agentm_assets.enrichment.gates.haystack import Haystack
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.subject import Subject
from agentm_assets.privacy.scrub import PLACEHOLDER, scrub_together

MOST_NAMED: Final = 6
_LONGEST_NAMED: Final = 60

_REPLACED: Final = frozenset(
    {"type", "status", "altitude", "slug", "title", "confidence", "summary", "updated"}
    | {"enriched_by", "enriched_at", "rules_hash"}
)
"""Properties that a pass writes anew; all others stay in the note as they are."""


def refuse_lost_tokens(subject: Subject, judgment: Judgment) -> Refusal | None:
    """Every distinctive token of the source is in the body or the properties that would be written.

    Up to six that are not are named; a secret by its placeholder.
    """
    if judgment.body is None:
        return None  # the body stays, and with it what it holds
    written = written_text(subject, judgment)
    before, after = scrub_together(subject.source, written)
    # A name inside an address that stays is no mention of the name.
    kept, whole = Haystack(PLACEHOLDER.sub(" ", after.text)), Haystack(written)
    secrets = dict.fromkeys(found[0] for found in PLACEHOLDER.finditer(before.text))
    lost = [name for name in secrets if not whole.holds_whole(_one_line(before.originals[name]))]
    bare = PLACEHOLDER.sub(" ", before.text)
    lost += islice(
        (_shown(token.text) for token in distinctive_tokens(bare) if not kept.holds(token)),
        MOST_NAMED,
    )
    if not lost:
        return None
    return Refusal(
        "tokens",
        "tokens-lost",
        f"the answer loses {', '.join(lost[:MOST_NAMED])}"
        f"{' and more' if len(lost) > MOST_NAMED else ''}.",
        remembered=True,
    )


def written_text(subject: Subject, judgment: Judgment) -> str:
    """All that the note would hold after the answer: its properties, then its body."""
    stays = [
        part
        for key, field in subject.frontmatter.fields.items()
        if key not in _REPLACED
        for part in (field.text, *field.items)
    ]
    named = (judgment.title, judgment.summary or "", *judgment.tags, *judgment.aliases)
    return "\n".join((*stays, *named, judgment.body or subject.body))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shown(token: str) -> str:
    return token if len(token) <= _LONGEST_NAMED else f"{token[:_LONGEST_NAMED]}\u2026"
