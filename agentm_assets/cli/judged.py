"""What `agentm status` says of judgments: how many are stale and why, and what waits for whom."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import RulesError, load_rules
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.storage.selection import open_backend, open_vault

if TYPE_CHECKING:
    from agentm_assets.enrichment.staleness import Staleness


@dataclass(frozen=True, slots=True)
class JudgedState:
    """`stale` None: the rules are broken, so nothing can be told stale. `for_review`: notes that
    wait for the operator."""

    stale: "Staleness | None"
    for_review: int

    @property
    def stale_text(self) -> str:
        return "not known while the rules are broken" if self.stale is None else self.stale.text

    @property
    def waiting_text(self) -> str:
        unjudged = 0 if self.stale is None else self.stale.unjudged
        parts = [f"{unjudged:,} for a judge"] if unjudged else []
        if self.for_review:
            parts.append(f"{self.for_review:,} for you (agentm review list)")
        return ", ".join(parts) or "no note waits for a judgment"

    def numbers(self) -> dict[str, object]:
        """For --json."""
        stale = self.stale
        return {
            "stale_notes": 0 if stale is None else stale.stale,
            "stale_because": []
            if stale is None
            else [
                {
                    "changed": change.cause,
                    "what": list(change.what),
                    "was": change.was,
                    "now": change.now,
                    "notes": change.notes,
                }
                for change in stale.changes
            ],
            "awaiting_model": 0 if stale is None else stale.awaiting_model,
            "unjudged": 0 if stale is None else stale.unjudged,
            "for_review": self.for_review,
        }


def judged_state(settings: Settings) -> JudgedState:
    """Read it from the serving files; no model is asked. Raises ServingUnreadable, StorageError."""
    from agentm_assets.enrichment.refusals import read_refusals
    from agentm_assets.enrichment.review import review_queue
    from agentm_assets.enrichment.staleness import Judged, staleness
    from agentm_assets.evaluation.serving_stamp import serving
    from agentm_assets.models.tiers import open_tiers

    location = settings.location
    backend = open_backend(location)
    with FactsReader.open(location.facts_file) as facts:
        queue = review_queue(facts, read_refusals(backend))
        notes = [Judged(*row) for row in facts.judgments()]
    try:
        rules = load_rules(open_vault(location), os.environ)
    except RulesError:
        return JudgedState(None, len(queue))
    judge = serving(open_tiers(settings, os.environ), backend, datetime.now(UTC))
    stale = staleness(
        notes,
        rules,
        None if judge is None else judge.stamp,
        location,
        also_current=() if judge is None else judge.also_current,
    )
    return JudgedState(stale, len(queue))
