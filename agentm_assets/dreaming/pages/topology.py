"""`index.md`: the tree and the rules as they are. Generated; it has no authority over either."""

from collections import Counter
from typing import Final

import duckdb

from agentm_assets.contract.spaces import is_generated, space_of
from agentm_assets.dreaming.derived_page import written_page
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.pages.page import memory_folder
from agentm_assets.dreaming.stage import Change, Plan
from agentm_assets.projects.declared import declared_projects, space_folder
from agentm_assets.projects.maps import link, project_map_name
from agentm_assets.projects.names import title_of
from agentm_assets.storage.locator import Locator

PAGE: Final = Locator("index.md")

MEANING: Final = {
    "Agent/memory/semantic": "what is so: facts, preferences, conventions",
    "Agent/memory/procedural": "how things are done, and what was mended",
    "Agent/memory/episodic": "what happened",
    "Agent/memory/entities": "a page for each person, repository or thing; derived",
    "Agent/memory/crystallized": "lessons from what was repeated; derived",
    "Agent/memory/mocs": "maps of content; derived",
    "Agent/desk": "work that is under way, and ideas",
    "Agent/diagnostics": "reports of the night",
    "calendar": "traces of days and sessions",
    "projects": "what the operator declared a project",
    "standards": "the operator's rules",
}
_CLOSED: Final = "`personal/`: the operator's own; no page is made of it"


class TopologyPage:
    name: Final = "topology-page"
    version: Final = "1"
    needs_model: Final = False
    description: Final = "index.md: what lies where, by which rules, and where to start."

    def plan(self, night: Night) -> Plan:
        with night.index() as connection:
            counts = _counts(connection, night)
        lines = [
            "This page describes the vault; it is written anew by a pass and rules nothing.",
            "",
            "## Where things lie",
            "",
            *_places(counts),
            f"- {_CLOSED}",
            "",
            *_starts(night),
            "## Rules in force",
            "",
            *_rules(night),
        ]
        owned = {"title": "Index"}
        return Plan((Change(PAGE, "rewrite", lambda held: written_page(held, owned, lines)),))


def _counts(connection: duckdb.DuckDBPyConnection, night: Night) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (path,) in connection.execute("SELECT path FROM notes ORDER BY path").fetchall():
        if night.is_open(path):
            counts[_place_of(path)] += 1
    return counts


def _place_of(path: str) -> str:
    """The folder that the page lists the note under."""
    top, *below = path.split("/")
    if not below:
        return ""
    if top.casefold() != "agent":
        place = space_of(path).space
        return place if place in MEANING else f"{top}"
    if below[0] == "memory" and len(below) > 2:
        return f"Agent/memory/{below[1]}"
    return f"Agent/{below[0]}" if len(below) > 1 else "Agent"


def _places(counts: Counter[str]) -> list[str]:
    """The folders with how many notes they hold. Reports and machine records are not counted: they
    grow by the night's own doing."""
    lines = []
    for place in sorted({*counts, *MEANING} - {""}):
        if place.startswith("Agent/_") or (place not in MEANING and not counts[place]):
            continue
        meaning = f": {MEANING[place]}" if place in MEANING else ""
        count = counts[place]
        counted = not is_generated(f"{place}/x/y.md") and place != "Agent/diagnostics"
        notes = f" ({count:,} {'note' if count == 1 else 'notes'})" if counted else ""
        lines.append(f"- `{place}/`{meaning}{notes}")
    return lines


def _starts(night: Night) -> list[str]:
    found: list[tuple[str, str]] = []
    root = memory_folder(night.backend, "mocs").child("memory.md")
    agent = space_folder(night.backend, "Agent") or Locator("Agent")
    for place, title in (
        (root, "Topics of the memory"),
        (agent.child("desk").child("moc-tasks.md"), "Tasks"),
        (Locator("ideas.md"), "Ideas"),
    ):
        if night.backend.exists(place):
            found.append((place.key, title))
    for project in declared_projects(night.backend):
        place = project.folder.child(project_map_name(project.slug))
        if night.backend.exists(place):
            found.append((place.key, title_of(project.slug)))
    if not found:
        return []
    return ["## Where to start", "", *(f"- {link(*each)}" for each in found), ""]


def _rules(night: Night) -> list[str]:
    rules = night.rules.rules
    lines = [
        f"- Types of memory: {', '.join(rules.memory_types)}; without one: {rules.default_type}"
    ]
    by_class: dict[str, list[str]] = {}
    for type_, memory_class in sorted(rules.routing.items()):
        by_class.setdefault(memory_class, []).append(type_)
    lines += [
        f"- Filed under `{memory_class}`: {', '.join(types)}"
        for memory_class, types in sorted(by_class.items())
    ]
    lines.append(f"- Kinds of record: {', '.join(sorted(rules.record_kinds))}")
    return lines
