"""Which space of the vault a path lies in, and whether a pass of agentm writes the page there.

Paths are relative to the vault, POSIX. The names of spaces are matched on the first segment,
whatever the case; below that a path is taken as it is on disk.
"""

from dataclasses import dataclass
from typing import Literal

Space = Literal["memory", "calendar", "projects", "desk", "standards", "personal", "other"]

SPACES: tuple[Space, ...] = (
    "memory",
    "calendar",
    "projects",
    "desk",
    "standards",
    "personal",
    "other",
)
"""`other` is what lies outside the declared spaces, as all of an adopted folder does."""

OBSERVATIONAL_CLASSES = ("semantic", "procedural", "episodic")
DERIVED_CLASSES = ("entities", "crystallized", "mocs")

_TOP: dict[str, Space] = {
    "calendar": "calendar",
    "projects": "projects",
    "standards": "standards",
    "personal": "personal",
}
_MACHINE_FOLDERS = ("_dream", "_meta", "diagnostics")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path lies. `memory_class` is the folder under Agent/memory, None elsewhere."""

    space: Space
    memory_class: str | None


def space_of(path: str) -> Place:
    """The space of a note or folder."""
    segments = path.split("/")
    top = segments[0].casefold()
    if top == "agent" and len(segments) > 1:
        if segments[1] == "memory":
            return Place("memory", segments[2] if len(segments) > 3 else None)
        if segments[1] == "desk":
            return Place("desk", None)
        return Place("other", None)
    # A file at the root is no space of its own, whatever its name.
    return Place(_TOP.get(top, "other") if len(segments) > 1 else "other", None)


def is_generated(path: str) -> bool:
    """Does a pass write this page? Such pages are recalled, and never set a pass off."""
    segments = path.split("/")
    if path == "index.md":
        return True
    if segments[0].casefold() == "agent" and len(segments) > 2:
        if segments[1] in _MACHINE_FOLDERS:
            return True
        if segments[1] == "memory" and segments[2] in DERIVED_CLASSES:
            return True
        if segments[1:] == ["desk", "moc-tasks.md"]:
            return True
    return (
        segments[0].casefold() == "projects"
        and len(segments) == 3
        and segments[2] == f"moc-{segments[1]}.md"
    )
