"""Never pay twice for one judgment."""

from collections.abc import Collection

from agentm_assets.contract.properties import text_of
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.subject import Subject


def refuse_current(
    subject: Subject,
    stamp: str,
    rules_hash: str,
    judged_fingerprint: str | None,
    also_current: Collection[str] = (),
) -> Refusal | None:
    """The note was judged by this version of the pass, under these rules, with this body.

    `judged_fingerprint` is that of the body when the judgment was written; None when nobody knows
    any more (the ledger is a cache): then the stamp in the note is believed. `also_current`: other
    stamps whose judgments are as good as this version's.
    """
    judged_by = text_of(subject.frontmatter, "enriched_by")
    is_current = (
        (judged_by == stamp or judged_by in also_current)
        and text_of(subject.frontmatter, "rules_hash") == rules_hash
        and judged_fingerprint in (None, subject.fingerprint)
    )
    return Refusal("current", "current", "judged already, at this version") if is_current else None
