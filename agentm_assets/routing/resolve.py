"""Which project of the store a checkout belongs to, and where that project stands.

Only the seam is used here: a store is judged by what it says of itself (`capabilities.sync`),
never by its class, and no backend plugin is imported.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentm_assets.config.directories import cache_dir
from agentm_assets.projects.declared import folded, is_folder, projects_folder
from agentm_assets.projects.names import BadSlug, slug_of
from agentm_assets.routing.repos import registered_slug
from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.seam import StorageBackend, StorageError

Layout = Literal["root", "none"]

_VAULT_MARK = Locator(".obsidian")
_PROJECTS = "projects"


@dataclass(frozen=True, slots=True)
class ProjectResolution:
    """A checkout and its project.

    `project_locator` is the project's folder in `backend`, None where the store has none of that
    name; then `layout` is "none". "root": the project stands in `projects/` at the vault's root.
    `backend` is the store that the locator belongs to, which may be a second one (see
    `resolve_project`).
    """

    slug: str
    project_locator: Locator | None
    backend: StorageBackend
    project_root: Path
    layout: Layout


def resolve_project(
    backend: StorageBackend, project_root: Path, env: Mapping[str, str]
) -> ProjectResolution:
    """The project that the checkout at `project_root` belongs to.

    Its slug is what the registry of repositories says, else the folder's name as a slug. It is
    looked for in the store's own `projects/`, then in the one beside the store's root: an older
    vault keeps its memory in a folder of its own, and `projects/` next to that. The neighbour is
    reached by a second store of the same class one level up, and only where the store is synced,
    the level above is an Obsidian vault and the root itself is none, and a folder of exactly that
    name is there: above a plain vault lies the operator's home, whose projects/ is no part of it.

    Raises StorageError when the store can't be read.
    """
    project_root = project_root.resolve()
    slug = registered_slug(backend, project_root, env) or _slug_of_folder(project_root)
    for store, space in _spaces(backend, env):
        folder = _folder_called(store, space, slug)
        if folder is not None:
            return ProjectResolution(slug, folder, store, project_root, "root")
    return ProjectResolution(slug, None, backend, project_root, "none")


def _spaces(
    backend: StorageBackend, env: Mapping[str, str]
) -> Iterator[tuple[StorageBackend, Locator]]:
    own = projects_folder(backend)
    if own is not None:
        yield backend, own
    above = _one_level_up(backend, env)
    if above is not None:
        yield above, Locator(_PROJECTS)


def _one_level_up(backend: StorageBackend, env: Mapping[str, str]) -> StorageBackend | None:
    root = Path(backend.identity)
    if not backend.capabilities.sync or not root.is_absolute() or root.parent == root:
        return None
    if backend.exists(_VAULT_MARK):
        return None
    try:
        above = type(backend).open(str(root.parent), str(cache_dir(env) / "locks"))
        if not is_folder(above, _VAULT_MARK):
            return None
        # By the listed name: a disk that ignores case would answer Projects/ for projects/.
        listed = any(place.name == _PROJECTS for place in above.list(ROOT))
        return above if listed and is_folder(above, Locator(_PROJECTS)) else None
    except StorageError:
        return None  # a folder above that may not be listed is no vault of the operator's


def _folder_called(store: StorageBackend, space: Locator, slug: str) -> Locator | None:
    alike = [place for place in store.list(space) if folded(place.name) == folded(slug)]
    exact = [place for place in alike if place.name == slug]
    found = (exact or alike)[0] if exact or len(alike) == 1 else None
    return found if found is not None and is_folder(store, found) else None


def _slug_of_folder(project_root: Path) -> str:
    try:
        return slug_of(project_root.name)
    except BadSlug:
        return unicodedata.normalize("NFC", project_root.name).casefold()
