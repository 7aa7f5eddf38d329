"""Which projects the operator has declared: a folder of `projects/` that holds a `project.yaml`."""

import unicodedata
from dataclasses import dataclass

from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.seam import StorageBackend

DECLARATION = "project.yaml"


@dataclass(frozen=True, slots=True)
class Project:
    """A declared project. `slug` is the folder's name as it is on disk."""

    slug: str
    folder: Locator


def space_folder(backend: StorageBackend, name: str) -> Locator | None:
    """The folder of a space under its name on disk, whatever the case; None where there is none.

    The exact spelling wins over another one, and those are taken in the order of their names.
    """
    found = [place for place in backend.list(ROOT) if folded(place.name) == folded(name)]
    found.sort(key=lambda place: place.name != name)
    return next((place for place in found if is_folder(backend, place)), None)


def projects_folder(backend: StorageBackend) -> Locator | None:
    """`projects/` as it is spelt on disk; None where the vault has none."""
    return space_folder(backend, "projects")


def declared_projects(backend: StorageBackend) -> tuple[Project, ...]:
    """Every declared project, by name."""
    folder = projects_folder(backend)
    if folder is None:
        return ()
    return tuple(
        Project(place.name, place) for place in backend.list(folder) if is_declared(backend, place)
    )


def find_project(backend: StorageBackend, slug: str) -> Project | None:
    """The declared project of that name. Another case or accents' spelling finds it too, where
    only one project can be meant."""
    projects = declared_projects(backend)
    exact = [project for project in projects if project.slug == slug]
    alike = exact or [project for project in projects if folded(project.slug) == folded(slug)]
    return alike[0] if len(alike) == 1 else None


def is_declared(backend: StorageBackend, folder: Locator) -> bool:
    """Does the folder hold a `project.yaml`, spelt just so?"""
    names = (place for place in backend.list(folder) if place.name == DECLARATION)
    return any(not is_folder(backend, place) for place in names)


def is_folder(backend: StorageBackend, locator: Locator) -> bool:
    """False also for what is not there."""
    try:
        return backend.info(locator).is_dir
    except FileNotFoundError:
        return False


def folded(name: str) -> str:
    """The form in which disks that ignore case and accents' spelling compare names."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
