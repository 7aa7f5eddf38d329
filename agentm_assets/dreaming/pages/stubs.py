"""Stubs: a page for what two notes or more link to and nobody has written about."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

import duckdb

from agentm_assets.capture.slug import slugify
from agentm_assets.dreaming.derived_page import written_page
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.pages.page import memory_folder
from agentm_assets.dreaming.plain_text import quotable
from agentm_assets.dreaming.stage import Change, Leave, Plan
from agentm_assets.dreaming.veil import closed_names
from agentm_assets.extract.aliases import fold
from agentm_assets.extract.links import is_external
from agentm_assets.privacy.scrub import scrub
from agentm_assets.projects.maps import link
from agentm_assets.storage.locator import Locator

LEAST_NOTES: Final = 2
"""Notes that must name a target (design: stubs for targets missing in two notes or more)."""

TAG: Final = "stub"
"""Marks a page that still is a stub. Whoever takes the tag away has made it a page of their own."""

MOST_SHOWN: Final = 30
_MOST_CHARACTERS: Final = 120
_PATH: Final = re.compile(r"[/\\%]")
"""Of a path, in whatever spelling."""


@dataclass
class _Missing:
    """`spellings` counts how the target is written; `notes` are those that name it."""

    spellings: Counter[str] = field(default_factory=Counter)
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return min(self.spellings, key=lambda written: (-self.spellings[written], written))


class Stubs:
    """Fills a template from the links that demand the page. Substance is the rollups' job."""

    name: Final = "stubs"
    version: Final = "1"
    needs_model: Final = False
    description: Final = (
        "A page from a template for each link target that two notes or more name and nobody wrote."
    )

    def plan(self, night: Night) -> Plan:
        with night.index() as connection:
            missing, skipped = _missing(connection, night)
            standing = _standing(connection, night)
            taken = {path for (path,) in connection.execute("SELECT path FROM notes").fetchall()}
        folder = memory_folder(night.backend, "entities")
        changes: list[Change] = []
        for target in sorted(missing):
            found = missing[target]
            if len(found.notes) < LEAST_NOTES:
                continue
            slug = slugify(found.name)
            place = folder.child(f"{slug}.md") if slug else None
            if place is None or place.key in taken:
                skipped["name-taken"] += 1
                continue
            taken.add(place.key)
            changes.append(_change(place, found.name, found.notes, new=True))
        for path, (title, notes) in standing.items():
            changes.append(_change(Locator(path), title, notes, new=False))
        return Plan(tuple(changes), skipped=skipped, measured={"stubs": len(standing)})


def _change(place: Locator, name: str, notes: dict[str, str], *, new: bool) -> Change:
    owned = {
        "status": "active",
        "slug": place.name.removesuffix(".md"),
        "title": name,
        "aliases": [name],
        "tags": [TAG],
    }
    shown = sorted(notes.items())
    lines = ["Nobody has written about this yet. It is named in:", ""]
    lines += [f"- {link(path, title)}" for path, title in shown[:MOST_SHOWN]]
    if len(shown) > MOST_SHOWN:
        lines.append(f"- and {len(shown) - MOST_SHOWN:,} more")

    def build(held: bytes | None) -> bytes:
        if held is None and not new:
            raise Leave("gone-meanwhile")
        return written_page(held, owned, lines)

    return Change(place, "rewrite", build)


def _missing(
    connection: duckdb.DuckDBPyConnection, night: Night
) -> tuple[dict[str, _Missing], Counter[str]]:
    found: dict[str, _Missing] = defaultdict(_Missing)
    skipped: Counter[str] = Counter()
    closed = closed_names(connection, night.is_closed)
    veil = night.veil(connection)
    for path, title, target in connection.execute(_UNRESOLVED).fetchall():
        if not night.is_open(path):
            continue
        name = " ".join(target.removesuffix(".md").split())
        if not _is_name(name):
            continue
        if fold(name) in closed:
            skipped["names-a-closed-note"] += 1
            continue
        if quotable(name) != name:
            skipped["no-name-for-a-page"] += 1
            continue
        if scrub(name).text != name:
            skipped["looks-like-a-secret"] += 1
            continue
        each = found[fold(name)]
        each.spellings[name] += 1
        each.notes[path] = veil.over(title)
    return found, skipped


def _is_name(name: str) -> bool:
    """May a page have this name? No path, no address, no file of another kind."""
    if (
        not name
        or len(name) > _MOST_CHARACTERS
        or _PATH.search(name)
        or is_external(name, wikilink=True)
    ):
        return False
    stem, dot, ending = name.rpartition(".")
    return not (dot and stem and ending.isalnum() and 2 <= len(ending) <= 5 and ending.isascii())


def _standing(
    connection: duckdb.DuckDBPyConnection, night: Night
) -> dict[str, tuple[str, dict[str, str]]]:
    """The stubs that are there: title, and the notes that link to each."""
    found: dict[str, tuple[str, dict[str, str]]] = {
        path: (title, {}) for path, title in connection.execute(_STUBS, [TAG]).fetchall()
    }
    veil = night.veil(connection)
    for target, path, title in connection.execute(_NAMING).fetchall():
        if target in found and night.is_open(path):
            found[target][1][path] = veil.over(title)
    return found


def stub_paths(connection: duckdb.DuckDBPyConnection) -> Collection[str]:
    """The pages that still are stubs: what makes an entity's page may take them over."""
    return {path for path, _ in connection.execute(_STUBS, [TAG]).fetchall()}


_UNRESOLVED: Final = """
SELECT l.path, n.title, l.target FROM links l JOIN notes n ON n.path = l.path
WHERE l.resolved_path IS NULL AND l.kind <> 'embed' AND NOT n.generated
  AND coalesce(n.status, 'active') NOT IN ('expired', 'superseded')
ORDER BY l.path, l.ordinal
"""
_STUBS: Final = """
SELECT path, title FROM notes
WHERE memory_class = 'entities' AND list_contains(tags, ?) ORDER BY path
"""
_NAMING: Final = """
SELECT DISTINCT l.resolved_path, n.path, n.title FROM links l JOIN notes n ON n.path = l.path
WHERE l.resolved_path IS NOT NULL AND NOT n.generated
  AND coalesce(n.status, 'active') NOT IN ('expired', 'superseded')
ORDER BY 1, 2
"""
