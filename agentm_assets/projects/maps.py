"""Maps over a project and over the active tasks: what their generated part lists.

A map follows from the files alone, so that writing it twice gives the same bytes; it has no
authority, and what the operator writes around its generated part stays.
"""

from collections.abc import Callable
from datetime import datetime
from urllib.parse import quote

from agentm_assets.capture.moment import iso
from agentm_assets.contract import properties
from agentm_assets.contract.edit import set_key
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.projects.document import document, one_line
from agentm_assets.projects.region import with_region
from agentm_assets.projects.tasks import all_tasks
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend, StorageError

TASK_MAP = "moc-tasks.md"
_FADED = frozenset({"expired", "superseded"})
_NO_WIKILINK = frozenset("[]|#^\\%`<>")
_SHOWN_ITEMS = 3
_LONGEST_LABEL = 200


def project_map_name(slug: str) -> str:
    return f"moc-{slug}.md"


def project_map_lines(
    backend: StorageBackend, folder: Locator, told: Callable[[str], str] = str
) -> list[str]:
    """A list item for each note of the project: its root first, then its folders, by path. Notes
    that are expired or superseded, machine folders (`_harness`) and the map itself are left out.
    `told`: how words of a note are passed on."""
    own = folder.child(project_map_name(folder.name)).key
    notes = []
    for entry in backend.walk(folder):
        below = entry.path.removeprefix(f"{folder.key}/").split("/")
        if entry.kind != "file" or entry.path == own or not entry.path.lower().endswith(".md"):
            continue
        if not any(part.startswith("_") for part in below[:-1]):
            notes.append((len(below) > 1, below, entry.path))
    lines = []
    for _, below, path in sorted(notes):
        title, status = _head(backend, Locator(path))
        if status not in _FADED:
            where = f" ({'/'.join(below[:-1])})" if len(below) > 1 else ""
            name = told(title) if title else below[-1].removesuffix(".md")
            lines.append(f"- {link(path, name)}{where}")
    return lines or ["Nothing here yet."]


def task_map_lines(backend: StorageBackend, told: Callable[[str], str] = str) -> list[str]:
    """A table of the active tasks: title, progress log, what is open. `told`: how words of a note
    are passed on."""
    rows = []
    for task in all_tasks(backend):
        if not task.is_active:
            continue
        log = (
            link(task.log.key, task.log.name.removesuffix(".md"), in_table=True) if task.log else ""
        )
        shown = "; ".join(task.open[:_SHOWN_ITEMS])
        more = len(task.open) - _SHOWN_ITEMS
        pending = f"{shown}; {more} more" if more > 0 else shown
        rows.append(f"| {_cell(told(task.title))} | {log} | {_cell(told(pending))} |")
    return ["| task | log | open |", "|---|---|---|", *rows] if rows else ["No active tasks."]


def new_map(slug: str, title: str, lines: list[str], now: datetime) -> bytes:
    """A map page that is all generated but for its properties."""
    head = document(
        {
            "kind": "moc",
            "status": "active",
            "captured": iso(now),
            "slug": slug,
            "title": title,
        },
        "",
    )
    return with_region(head, lines)


def renewed_map(page: bytes, lines: list[str], now: datetime) -> bytes:
    """The page with its generated part anew; the same bytes when nothing changed in it, else
    with `updated`. Raises RegionDamaged and EditRefused."""
    fresh = with_region(page, lines)
    return page if fresh == page else set_key(fresh, "updated", iso(now))


def link(path: str, label: str, *, in_table: bool = False) -> str:
    """A link to the note at `path`, by its whole path, so that no other note can be meant."""
    stem = path.rpartition("/")[2].removesuffix(".md")
    label = _label(label) or _label(stem)
    if _NO_WIKILINK.isdisjoint(path) and path.isprintable():
        bar = "\\|" if in_table else "|"
        return f"[[{path.removesuffix('.md')}{bar}{label}]]"
    return f"[{label}](/{quote(path)})"


def _label(text: str) -> str:
    plain = one_line(text).translate({ord(mark): " " for mark in "[]|\\`"})
    label = " ".join(plain.replace("<", "&lt;").split())
    if len(label) <= _LONGEST_LABEL:
        return label
    return label[: _LONGEST_LABEL - 1].rstrip() + "\u2026"


def _head(backend: StorageBackend, place: Locator) -> tuple[str | None, str | None]:
    try:
        frontmatter = read_frontmatter(backend.read_bytes(place))
    except (FileNotFoundError, StorageError):
        return None, None
    return properties.title(frontmatter), properties.text_of(frontmatter, "status")


def _cell(text: str) -> str:
    return one_line(text).replace("<", "&lt;").replace("|", "\\|")
