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
    from agentm_assets.evaluation.qualification import Standing
    from agentm_assets.models.spend import TodaysSpend


@dataclass(frozen=True, slots=True)
class JudgedState:
    """`stale` None: the rules are broken, so nothing can be told stale. `for_review`: notes that
    wait for the operator. `past_judging`: notes without a judgment that wait for the operator, or
    that no judge can read, so that a judge has nothing to do with them. `spent`: today by the
    tiers, empty where no model is configured; `serving`: which of them judges notes."""

    stale: "Staleness | None"
    for_review: int
    past_judging: int
    spent: "tuple[TodaysSpend, ...]"
    serving: "Standing | None"

    @property
    def stale_text(self) -> str:
        return "not known while the rules are broken" if self.stale is None else self.stale.text

    @property
    def for_judge(self) -> int:
        """Notes that nobody has judged and no gate has stopped."""
        return 0 if self.stale is None else max(0, self.stale.unjudged - self.past_judging)

    @property
    def waiting_text(self) -> str:
        parts = [f"{self.for_judge:,} for a judge"] if self.for_judge else []
        if self.for_review:
            parts.append(f"{self.for_review:,} for you (agentm review list)")
        return ", ".join(parts) or "no note waits for a judgment"

    @property
    def models_text(self) -> str:
        if self.serving is None:
            return "none configured; the built-in judge files notes"
        return "; ".join((self.serving.text, *(f"{spent.text} today" for spent in self.spent)))

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
            "for_judge": self.for_judge,
            "for_review": self.for_review,
            "serving": None if self.serving is None else self.serving.serves,
            "spent_today": [
                {
                    "tier": each.tier,
                    "calls": each.spent.calls,
                    "tokens": each.spent.tokens,
                    "cost_usd": round(each.spent.cost, 6),
                    "unpriced_calls": each.spent.unpriced,
                    "daily_tokens": each.line.tokens,
                    "daily_usd": each.line.usd,
                }
                for each in self.spent
            ],
        }


def judged_state(settings: Settings) -> JudgedState:
    """Read it from the serving files and the logs; no model is asked. Raises ServingUnreadable,
    StorageError, OSError when the spend log can't be read."""
    from agentm_assets.enrichment.refusals import read_refusals
    from agentm_assets.enrichment.review import review_queue
    from agentm_assets.enrichment.staleness import Judged, staleness
    from agentm_assets.evaluation.judging import JOB
    from agentm_assets.evaluation.serving_stamp import serving, standings
    from agentm_assets.history.revert_log import read_log
    from agentm_assets.models.tiers import open_tiers

    location = settings.location
    backend = open_backend(location)
    with FactsReader.open(location.facts_file) as facts:
        queue = review_queue(facts, read_refusals(backend), read_log(backend)[0])
        notes = [Judged(*row) for row in facts.judgments()]
        unreadable = {each.path for each in facts.findings() if each.code == "invalid-utf8"}
    tiers, now = open_tiers(settings, os.environ), datetime.now(UTC)
    stopped = unreadable | {each.path for each in queue if each.why != "unsure"}
    past_judging = sum(each.enriched_by is None and each.path in stopped for each in notes)
    spent = tiers.spend_log(settings).today(now)
    jobs = {standing.job: standing for standing in standings(tiers, backend, now)}
    try:
        rules = load_rules(open_vault(location), os.environ)
    except RulesError:
        return JudgedState(None, len(queue), past_judging, spent, jobs.get(JOB))
    judge = serving(tiers, backend, now)
    stale = staleness(
        notes,
        rules,
        None if judge is None else judge.stamp,
        location,
        also_current=() if judge is None else judge.also_current,
    )
    return JudgedState(stale, len(queue), past_judging, spent, jobs.get(JOB))
