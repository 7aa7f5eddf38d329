"""Maps of content: `Agent/memory/mocs`, a page a topic and one over all of them.

A topic is a tag of three notes or more. The pages are a function of the notes alone: their own
folder is left out of the walk that feeds them.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import duckdb

from agentm_assets.capture.slug import slugify
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.pages.page import memory_folder, moc_properties, page_change
from agentm_assets.dreaming.stage import Change, Plan
from agentm_assets.extract.aliases import fold
from agentm_assets.projects.maps import link
from agentm_assets.storage.locator import Locator

LEAST_NOTES: Final = 3
MOST_TOPICS: Final = 300
MOST_SHOWN: Final = 200
"""Bounds of pages a person can use; what is over is counted on the page."""

SECTIONS: Final = (
    ("Facts and rules", frozenset({"preference", "convention", "reference"})),
    ("How to", frozenset({"workflow"})),
    ("What broke", frozenset({"fix"})),
)
_LESSONS: Final = "Lessons"
_OTHERS: Final = "Other notes"
_PREFIX: Final = "topic-"
_ROOT: Final = "memory"
_NO_TOPIC: Final = frozenset({"stub"})

Note = tuple[str, str, str | None, str]
"""Path, title, type, class."""


class Mocs:
    name: Final = "mocs"
    version: Final = "1"
    needs_model: Final = False
    description: Final = "A map of content for each topic of the memory, and one over the topics."

    def plan(self, night: Night) -> Plan:
        with night.index() as connection:
            topics, spellings = _topics(connection, night)
            pages = _standing(connection)
        folder = memory_folder(night.backend, "mocs")
        named: dict[str, str] = {}
        for topic in sorted(topics, key=lambda each: (-len(topics[each]), each))[:MOST_TOPICS]:
            slug = slugify(topic)
            if slug and len(topics[topic]) >= LEAST_NOTES and f"{_PREFIX}{slug}" not in named:
                named[f"{_PREFIX}{slug}"] = topic
        changes: list[Change] = []
        for slug, topic in sorted(named.items()):
            lines = _topic_lines(topics[topic])
            changes.append(_page(folder, slug, _title(spellings[topic]), lines))
        for path, title in pages.items():
            slug = path.rpartition("/")[2].removesuffix(".md")
            if slug.startswith(_PREFIX) and slug not in named:
                changes.append(_page(folder, slug, title, ["No notes are filed under this now."]))
        if named or pages:
            root = [
                f"- {link(folder.child(f'{slug}.md').key, _title(spellings[topic]))}: "
                f"{len(topics[topic]):,} notes"
                for slug, topic in sorted(named.items())
            ]
            changes.append(_page(folder, _ROOT, "Topics of the memory", root or ["No topics yet."]))
        return Plan(tuple(changes), measured={"topics": len(named)})


def _page(folder: Locator, slug: str, title: str, lines: Sequence[str]) -> Change:
    return page_change(folder.child(f"{slug}.md"), moc_properties(slug, title), lines)


def _topics(
    connection: duckdb.DuckDBPyConnection, night: Night
) -> tuple[dict[str, list[Note]], Mapping[str, Counter[str]]]:
    topics: dict[str, list[Note]] = defaultdict(list)
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    veil = night.veil(connection)
    for path, written, type_, memory_class, tags in connection.execute(_NOTES).fetchall():
        if not night.is_open(path):
            continue
        title = veil.over(written)
        for key, tag in {fold(tag): tag for tag in tags}.items():
            if key not in _NO_TOPIC:
                topics[key].append((path, title, type_, memory_class))
                spellings[key][tag] += 1
    return topics, spellings


def _topic_lines(notes: Sequence[Note]) -> list[str]:
    lines: list[str] = []
    sections: dict[str, list[Note]] = defaultdict(list)
    for note in notes:
        sections[_heading(note)].append(note)
    for heading in (*(heading for heading, _ in SECTIONS), _LESSONS, _OTHERS):
        lines += _section(heading, sections[heading])
    return lines[1:]


def _heading(note: Note) -> str:
    _, _, type_, memory_class = note
    if memory_class == "crystallized":
        return _LESSONS
    return next((heading for heading, types in SECTIONS if type_ in types), _OTHERS)


def _section(heading: str, notes: Sequence[Note]) -> list[str]:
    if not notes:
        return []
    lines = ["", f"## {heading}", ""]
    lines += [f"- {link(path, title)}" for path, title, _, _ in notes[:MOST_SHOWN]]
    if len(notes) > MOST_SHOWN:
        lines.append(f"- and {len(notes) - MOST_SHOWN:,} more")
    return lines


def _title(spellings: Counter[str]) -> str:
    tag = min(spellings, key=lambda written: (-spellings[written], written))
    name = " ".join(tag.replace("-", " ").replace("_", " ").replace("/", ", ").split())
    return name[:1].upper() + name[1:] if name else tag


def _standing(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    return dict(
        connection.execute(
            "SELECT path, title FROM notes WHERE memory_class = 'mocs' ORDER BY path"
        ).fetchall()
    )


_NOTES: Final = """
SELECT path, title, type, memory_class, tags FROM notes
WHERE memory_class IN ('semantic', 'procedural', 'episodic', 'crystallized')
  AND coalesce(status, 'active') = 'active' AND len(tags) > 0
ORDER BY path
"""
