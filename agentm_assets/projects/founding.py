"""The documents that a new project starts with."""

from collections.abc import Mapping
from datetime import datetime

from agentm_assets.capture.moment import iso
from agentm_assets.contract.yaml_text import write_text
from agentm_assets.projects.declared import DECLARATION, folded, projects_folder
from agentm_assets.projects.document import document, one_line
from agentm_assets.projects.maps import link
from agentm_assets.projects.names import BadSlug, check_slug
from agentm_assets.projects.tasks import Task
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend


class FoundingRefused(Exception):
    """The project can't be made; the text says why and what to do. Nothing was written."""


def project_folder(backend: StorageBackend, slug: str) -> Locator:
    """Where the new project will be. A folder that is there without a declaration may become one.

    Raises FoundingRefused for a bad slug, a project that is there, and a file or a folder whose
    name some disks can't tell from this one.
    """
    try:
        check_slug(slug)
    except BadSlug as error:
        raise FoundingRefused(str(error)) from error
    space = projects_folder(backend) or Locator("projects")
    folder = space.child(slug)
    for place in backend.list(space):
        if folded(place.name) != folded(slug):
            continue
        if place.name != slug:
            raise FoundingRefused(f"{place} is there, which some disks can't tell from {slug}")
        if not backend.info(place).is_dir:
            raise FoundingRefused(f"{place} is a file. Move it away, or choose another slug")
        if backend.exists(folder.child(DECLARATION)):
            raise FoundingRefused(f"the project {slug} is there already ({folder})")
    return folder


def documents(slug: str, title: str, now: datetime, task: Task | None) -> Mapping[str, bytes]:
    """The root documents by name, the declaration last: with it the folder becomes a project.

    They are written fresh; a task that they grow out of is only linked.
    """
    title = one_line(title)
    origin = [task.log.key] if task is not None and task.log is not None else []
    grown = f"Grew out of {link(origin[0], task.title)}.\n\n" if task and origin else ""
    day = now.date().isoformat()
    head = {"status": "active", "captured": iso(now)}
    charter = document(
        {
            **head,
            "kind": "project",
            "altitude": "canonical",
            "slug": "charter",
            "title": f"{title}, charter",
            "aliases": [slug],
            "derived_from": origin,
        },
        f"{grown}## Aim\n\n## In scope\n\n## Out of scope\n\n## Done when\n",
    )
    blueprint = document(
        {
            **head,
            "kind": "design",
            "altitude": "canonical",
            "slug": "blueprint",
            "title": f"{title}, blueprint",
        },
        "## How it works\n\n## What could go wrong\n",
    )
    tracker = document(
        {
            **head,
            "kind": "brief",
            "altitude": "artifact",
            "slug": "tracker",
            "title": f"{title}, tracker",
        },
        "- [ ] Write the charter\n",
    )
    declaration = (
        f"slug: {write_text('slug', slug)}\ntitle: {write_text('title', title)}\n"
        f"started: {day}\nrepositories: []\n"
    )
    return {
        "charter.md": charter,
        "blueprint.md": blueprint,
        "tracker.md": tracker,
        DECLARATION: declaration.encode("utf-8"),
    }
