"""Calendar consolidation: a card a month over its traces, once they are old.

A trace is never rewritten: the card is a page of its own under `crystallized/` and names the traces
that it was made from.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

import duckdb

from agentm_assets.dreaming.inputs import Input, Names, settled_inputs
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.pages.page import memory_folder, page_change
from agentm_assets.dreaming.stage import Plan
from agentm_assets.projects.maps import link

OLD_AFTER_DAYS: Final = 60
"""Days after its end from which on a month is consolidated: its sessions are over by then."""

LEAST_TRACES: Final = 3
MOST_ENTITIES: Final = 20
_MOST_SUMMARY: Final = 240


class CalendarCards:
    name: Final = "calendar-cards"
    version: Final = "1"
    needs_model: Final = False
    description: Final = "A card for each month of old calendar traces; the traces stay."

    def plan(self, night: Night) -> Plan:
        with night.index() as connection:
            traces = settled_inputs(connection, night.rules, "space = 'calendar'")
            names = Names(connection)
            touched = _entities(connection)
        months: dict[str, list[Input]] = defaultdict(list)
        for each in traces.values():
            if each.day is not None and night.is_open(each.path):
                months[each.day[:7]].append(each)
        folder = memory_folder(night.backend, "crystallized")
        changes = []
        for month, of in sorted(months.items()):
            if len(of) >= LEAST_TRACES and _is_old(month, night.now.date()):
                slug = f"calendar-{month}"
                owned = {
                    "kind": "crystallized",
                    "status": "active",
                    "slug": slug,
                    "title": f"Calendar of {month}",
                    "consolidated_from": names.of_all(of),
                }
                changes.append(page_change(folder.child(f"{slug}.md"), owned, _lines(of, touched)))
        return Plan(tuple(changes), measured={"months": len(changes)})


def _is_old(month: str, today: date) -> bool:
    try:
        first = date.fromisoformat(f"{month}-01")
    except ValueError:
        return False
    following = (first + timedelta(days=32)).replace(day=1)
    return following + timedelta(days=OLD_AFTER_DAYS) <= today


def _lines(traces: Sequence[Input], touched: dict[str, list[str]]) -> list[str]:
    ordered = sorted(traces, key=lambda each: (each.captured or "", each.path))
    lines = []
    for each in ordered:
        summary = " ".join((each.summary or "").split())[:_MOST_SUMMARY]
        said = f": {summary}" if summary else ""
        lines.append(f"- {each.day} {link(each.path, each.title)}{said}")
    counts = Counter(key for each in ordered for key in touched.get(each.path, []))
    if counts:
        lines += ["", "## What was touched", ""]
        most = sorted(counts, key=lambda key: (-counts[key], key))[:MOST_ENTITIES]
        # In code, so that the card does not count as a mention itself.
        lines += [f"- `{key}`: in {counts[key]:,} of {len(ordered):,}" for key in most]
    return lines


def _entities(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path, key in connection.execute(_ENTITIES).fetchall():
        if "`" not in key:
            found[path].append(key)
    return found


_ENTITIES: Final = """
SELECT DISTINCT e.path, e.key FROM entities e JOIN notes n ON n.path = e.path
WHERE n.space = 'calendar' ORDER BY 1, 2
"""
