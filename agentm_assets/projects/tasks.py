"""Tasks: the folders of `Agent/desk/tasks/`, each with a progress log, and what is open in them."""

import re
from dataclasses import dataclass
from datetime import datetime

from agentm_assets.capture.moment import iso
from agentm_assets.capture.wording import MAX_TITLE
from agentm_assets.contract import properties
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.lines import split_lines
from agentm_assets.projects.declared import folded, is_folder, space_folder
from agentm_assets.projects.document import document, one_line
from agentm_assets.projects.names import BadSlug, check_slug, slug_of, title_of
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend, StorageError

LOG = "progress.md"
PLAN = "plan.md"
DONE = "done"

_CLOSED = frozenset({DONE, "expired", "superseded"})
_OPEN_ITEM = re.compile(r"[ \t]{0,12}(?:[-*+]|[0-9]{1,9}[.)])[ \t]{1,4}\[ \][ \t]+(\S.*)")
_DOCUMENT_OF = re.compile(r", (?:progress|plan)\Z")


class TaskRefused(Exception):
    """The task can't be made or changed; the text says why and what to do. Nothing was written."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task's folder. `log` is its progress log, else its plan, None when it has neither;
    `status` is the log's. `open` holds the unticked items of both."""

    slug: str
    title: str
    status: str | None
    folder: Locator
    log: Locator | None
    open: tuple[str, ...]

    @property
    def is_active(self) -> bool:
        return self.status not in _CLOSED


def tasks_folder(backend: StorageBackend) -> Locator:
    """`Agent/desk/tasks` with the name of `Agent` as it is on disk."""
    return desk(backend).child("tasks")


def desk(backend: StorageBackend) -> Locator:
    """`Agent/desk`, with the name of `Agent` as it is on disk."""
    return (space_folder(backend, "Agent") or Locator("Agent")).child("desk")


def all_tasks(backend: StorageBackend) -> tuple[Task, ...]:
    """Every task, active or not, by the name of its folder."""
    places = backend.list(tasks_folder(backend))
    return tuple(_task(backend, place) for place in places if is_folder(backend, place))


def find_task(backend: StorageBackend, slug: str) -> Task:
    """The task of that name. Raises TaskRefused when there is none."""
    place = next((p for p in backend.list(tasks_folder(backend)) if p.name == slug), None)
    if place is None or not is_folder(backend, place):
        raise TaskRefused(f"there is no task {one_line(slug)}. `agentm task list` shows them")
    return _task(backend, place)


def new_task(backend: StorageBackend, name: str) -> tuple[str, str]:
    """The slug and the title of a new task that is called `name`, which is a slug or a title.

    Raises TaskRefused for a name that gives no slug, one that is too long and one that is taken.
    """
    if len(one_line(name)) > MAX_TITLE:
        raise TaskRefused(f"the title is over {MAX_TITLE} characters. Shorten it")
    try:
        try:
            slug, title = check_slug(name), title_of(name)
        except BadSlug:
            slug, title = slug_of(name), one_line(name)
    except BadSlug as error:
        raise TaskRefused(str(error)) from error
    for place in backend.list(tasks_folder(backend)):
        if folded(place.name) == folded(slug) and (
            place.name != slug or backend.exists(place.child(LOG))
        ):
            raise TaskRefused(f"the task {place.name} is there already ({place})")
    return slug, title


def first_log(slug: str, title: str, now: datetime) -> bytes:
    """The progress log that a task starts with."""
    return document(
        {
            "kind": "brief",
            "status": "active",
            "altitude": "artifact",
            "captured": iso(now),
            "slug": LOG.removesuffix(".md"),
            "title": f"{title}, progress",
            "aliases": [slug],
        },
        f"- {now.date().isoformat()}: started\n",
    )


def _task(backend: StorageBackend, folder: Locator) -> Task:
    read = {name: _read(backend, folder.child(name)) for name in (LOG, PLAN)}
    log = next((name for name, found in read.items() if found is not None), None)
    head = read[log] if log is not None else None
    title = properties.title(head[0]) if head is not None else None
    return Task(
        slug=folder.name,
        title=_DOCUMENT_OF.sub("", title) if title else title_of(folder.name),
        status=properties.text_of(head[0], "status") if head is not None else None,
        folder=folder,
        log=folder.child(log) if log is not None else None,
        open=tuple(item for found in read.values() if found for item in _open_items(found[1])),
    )


def _read(backend: StorageBackend, place: Locator) -> tuple[Frontmatter, str] | None:
    """A document's properties and body; None when it is absent or can't be read (`agentm status
    --findings` says why)."""
    try:
        data = backend.read_bytes(place)
    except (FileNotFoundError, StorageError):
        return None
    frontmatter = read_frontmatter(data)
    return frontmatter, data[frontmatter.body_start :].decode("utf-8", "replace")


def _open_items(body: str) -> list[str]:
    items = (_OPEN_ITEM.match(line) for line in split_lines(body))
    return [one_line(item[1]) for item in items if item is not None]
