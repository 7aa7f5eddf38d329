"""Where a note goes that belongs to a project: the docs for what is looked up, else the desk."""

from agentm_assets.projects.declared import declared_projects, find_project
from agentm_assets.projects.door import door
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.seam import StorageBackend

_FOLDERS = {"reference": "docs"}
_DESK = "desk"


class ProjectRefused(Exception):
    """The note can't go to that project. `code` is stable, `cure` tells what to do."""

    def __init__(self, code: str, message: str, cure: str) -> None:
        super().__init__(f"{message}. {cure}")
        self.code = code
        self.message = message
        self.cure = cure


def routed_folder(backend: StorageBackend, project: str, memory_type: str | None) -> Locator:
    """The project's folder for notes of `memory_type`: `docs/` for a reference, `desk/` for ideas
    and all others. It need not be there yet.

    Raises ProjectRefused for a project that is not declared.
    """
    found = find_project(backend, project)
    if found is None:
        names = ", ".join(each.slug for each in declared_projects(backend)) or "none yet"
        raise ProjectRefused(
            "unknown-project",
            "there is no declared project of that name",
            f"Name one of these: {names}. The operator makes one with `agentm project new SLUG`",
        )
    return found.folder.child(_FOLDERS.get(memory_type or "", _DESK))


def routed_path(
    backend: StorageBackend, project: str, memory_type: str | None, slug: str
) -> Locator:
    """The place of a new note `slug` in the project, as the door allows it.

    Whether it is free is the writer's to find out (`expect=ABSENT`). Raises ProjectRefused.
    """
    try:
        place = routed_folder(backend, project, memory_type).child(f"{slug}.md")
    except LocatorInvalid as error:
        raise ProjectRefused("bad-slug", f"{error}", "Give the note another slug") from error
    answer = door(backend, place.key)
    if answer.verdict != "standing":
        raise ProjectRefused("outside-door", answer.reason, "`agentm door PATH` explains")
    return place
