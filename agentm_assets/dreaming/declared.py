"""What a change of the storage rules brings with it.

The stage says what changed and how many notes were judged under other rules: these are judged anew
by the drain of unfiled notes, the oldest judgment first, within its budget. Where the rules have a
new type of entity, the things of that type that notes name already are entered in the queue of the
entity pages. It writes nothing itself.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Final

import duckdb

from agentm_assets.contract.rules import LoadedRules
from agentm_assets.dreaming.entities.facts import (
    DECLARED,
    LEAST_NOTES,
    kinds_with_pages,
    read_mentions,
)
from agentm_assets.dreaming.entities.pages import read_pages
from agentm_assets.dreaming.entities.stage import NAME as ROLLUPS
from agentm_assets.dreaming.entities.stage import find_targets
from agentm_assets.dreaming.inputs import is_open
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.stage import Plan
from agentm_assets.enrichment.rules_seen import what_changed
from agentm_assets.ledger import queue

NAME: Final = "rules-changes"


@dataclass(frozen=True, slots=True)
class JudgedUnder:
    """Notes that carry a judgment, by the hash of the rules that it was made under."""

    by_hash: dict[str, int]
    now: str

    @property
    def current(self) -> int:
        return self.by_hash.get(self.now, 0)

    @property
    def population(self) -> int:
        return sum(self.by_hash.values())

    @property
    def share(self) -> float:
        """Coverage, 0 to 1."""
        return self.current / self.population if self.population else 1.0

    @property
    def before(self) -> str | None:
        """The rules that most of the others were judged under."""
        others = {key: count for key, count in self.by_hash.items() if key != self.now}
        return max(others, key=lambda key: (others[key], key), default=None)


def judged_under(connection: duckdb.DuckDBPyConnection, rules: LoadedRules) -> JudgedUnder:
    """Asked of the stamps in the notes. A note without one was never judged, and is not counted."""
    rows = connection.execute(
        "SELECT path, rules_hash FROM notes WHERE rules_hash IS NOT NULL AND kind IS NULL "
        "AND NOT generated AND memory_class IN ('semantic', 'procedural', 'episodic') "
        "AND status IN ('unfiled', 'active')"
    ).fetchall()
    counts = Counter(str(stamp) for path, stamp in rows if is_open(path, rules))
    return JudgedUnder(dict(counts), rules.rules_hash)


class RulesChanges:
    """Tells what an edit of the rules made stale, and queues what a new type of entity needs."""

    name: Final = NAME
    version: Final = "1"
    needs_model: Final = False
    description: Final = (
        "Says what changed in the storage rules and how many judgments that made stale; queues "
        "the pages of a newly declared type of entity."
    )

    def plan(self, night: Night) -> Plan:
        pages = read_pages(night.backend)
        kinds = [kind for kind in kinds_with_pages(night.rules) if kind in DECLARED]
        with night.index() as connection:
            judged = judged_under(connection, night.rules)
            mentions = read_mentions(connection, night.rules, kinds)
        targets, _ = find_targets(mentions, pages, kinds)
        missing = [
            (target.name, f"{DECLARED[target.entity.kind]}-declared")
            for target in targets
            if target.page is None and len(target.notes) >= LEAST_NOTES
        ]
        notes = []
        if judged.before is not None:
            changed = what_changed(night.location, judged.before, night.rules)
            named = ", ".join(changed) or "this machine does not know the rules before"
            stale = judged.population - judged.current
            notes.append(f"the storage rules changed ({named}): {stale:,} notes are judged anew")
        with night.index() as connection:
            new = queue.enqueue(connection, ROLLUPS, missing, night.now)
        if new:
            notes.append(f"{new:,} people or organisations are named and have no page: queued")
        return Plan(
            notes=tuple(notes),
            measured={
                "judged": judged.population,
                "current": judged.current,
                "share": round(judged.share, 4),
                "entities_queued": new,
            },
        )
