"""The door: where an agent may write without asking.

Standing permission: below the root of a declared project, and in the folders of tasks. The root of
a project changes only in agreement with the operator, and only the operator makes a project. All
else is outside: notes get there through `agentm capture` and the passes, or by the operator's hand.
"""

from dataclasses import dataclass
from typing import Literal

from agentm_assets.projects.declared import (
    DECLARATION,
    folded,
    is_declared,
    is_folder,
    projects_folder,
)
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.seam import StorageBackend

Verdict = Literal["standing", "alignment", "outside"]

_ROOT = "the root of a project changes only in agreement with the operator"


@dataclass(frozen=True, slots=True)
class Door:
    """The door's answer. `reason` is a sentence for whoever asked."""

    verdict: Verdict
    reason: str


def door(backend: StorageBackend, path: str) -> Door:
    """May an agent write at `path` (relative to the vault, POSIX)? Nothing is read but names.

    The first segment is matched whatever its case, the rest as it is on disk: a disk that ignores
    case would answer `Charter.md` with `charter.md`, so a spelling that only looks like one that
    is there is outside. Raises StorageError when the store can't be listed.
    """
    try:
        locator = Locator(path.removesuffix("/"))
    except LocatorInvalid as error:
        return Door("outside", f"this is no path inside the vault: {error}")
    parts = locator.parts
    if not parts:
        return Door("outside", "this is the vault itself; name a file below it")
    if any(part.startswith(".") for part in parts):
        return Door("outside", "names that begin with a dot belong to other programs")
    if any(part != part.strip() or part.endswith(".") for part in parts):
        return Door("outside", "a name here has blanks or a dot at its end, which some disks drop")
    top = parts[0].casefold()
    if top == "projects":
        return _at_projects(backend, parts)
    if top == "agent" and parts[1:3] == ("desk", "tasks") and len(parts) > 3:
        return Door("standing", "the folders of tasks are the agent's workbench")
    if top == "personal":
        return Door("outside", "personal/ is the operator's; no program writes there")
    if top == "standards":
        return Door("outside", "standards/ is written by the operator alone")
    return Door(
        "outside", "this is neither below a declared project nor in a task; use agentm capture"
    )


def _at_projects(backend: StorageBackend, parts: tuple[str, ...]) -> Door:
    if len(parts) == 1:
        return Door("outside", "this is the folder of all projects; name a project in it")
    slug, below = parts[1], parts[2:]
    space = projects_folder(backend)
    folders = backend.list(space) if space is not None else []
    folder = next((place for place in folders if place.name == slug), None)
    if folder is None:
        twin = next((place for place in folders if folded(place.name) == folded(slug)), None)
        if twin is not None:
            return Door("outside", f"the folder is spelt {twin.name} on disk; use that spelling")
        return _undeclared(below, "there is no such project")
    if not is_declared(backend, folder):
        return _undeclared(below, f"the folder holds no {DECLARATION}, so it is no project")
    if below:
        return _in_project(backend, folder, below)
    return Door("alignment", _ROOT)


def _in_project(backend: StorageBackend, folder: Locator, below: tuple[str, ...]) -> Door:
    first = folder.child(below[0])
    listed = backend.list(folder)
    if first not in listed:
        twin = next((place for place in listed if folded(place.name) == folded(below[0])), None)
        if twin is not None:
            return Door("outside", f"{twin.name} is spelt so on disk; use that spelling")
        if backend.exists(first):
            return Door("outside", f"{first} is a link or a device; nothing is written there")
    is_below = first in listed and is_folder(backend, first)
    if len(below) == 1 and not is_below:
        return Door("alignment", _ROOT)
    if first in listed and not is_below:
        return Door("outside", f"{first} is a file; nothing can be put below it")
    return Door("standing", "below the root of a declared project the agent writes freely")


def _undeclared(below: tuple[str, ...], why: str) -> Door:
    if below in ((), (DECLARATION,)):
        return Door(
            "alignment", "only the operator makes a project; the cure: agentm project new SLUG"
        )
    return Door("outside", f"{why}; the operator declares one with agentm project new SLUG")
