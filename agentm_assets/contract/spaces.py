"""Which space of the vault a path lies in, and what follows from that.

Paths are relative to the vault, POSIX. The names of spaces are matched on the first segment,
whatever the case or the width of its letters; below that a path is taken as it is on disk.
"""

import posixpath
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from agentm_assets.contract.vocabulary import CLASSES, DERIVED_CLASSES, MemoryClass

Space = Literal["memory", "calendar", "projects", "desk", "standards", "personal", "other"]

SPACES: Final[tuple[Space, ...]] = (
    "memory",
    "calendar",
    "projects",
    "desk",
    "standards",
    "personal",
    "other",
)
"""`other` is what lies outside the declared spaces, as all of an adopted folder does."""

RULES_FILE: Final = "standards/storage-rules.md"

_TOP: Final[dict[str, Space]] = {
    "calendar": "calendar",
    "projects": "projects",
    "standards": "standards",
    "personal": "personal",
}
_MACHINE_FOLDERS: Final = ("_dream", "_meta", "diagnostics")
_CLOSED_TO_MODELS: Final = frozenset({"personal"})


class SpaceRules(Protocol):
    """What of the rules file the questions about spaces need."""

    @property
    def contract_exempt_spaces(self) -> Collection[str]: ...
    @property
    def model_exempt_spaces(self) -> Collection[str]: ...
    @property
    def dampened_spaces(self) -> Collection[str]: ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path lies. `memory_class` is its class under Agent/memory, None elsewhere."""

    space: Space
    memory_class: MemoryClass | None


def space_of(path: str) -> Place:
    """The space of a note or folder."""
    segments = _segments(path)
    top = segments[0].casefold()
    if top == "agent":
        if segments[1:2] == ["memory"]:
            return Place("memory", next((c for c in CLASSES if segments[2:3] == [c]), None))
        if segments[1:2] == ["desk"]:
            return Place("desk", None)
        return Place("other", None)
    return Place(_TOP.get(_folded(top), "other"), None)


def is_generated(path: str) -> bool:
    """Does a pass write this page? Such pages are recalled, and never set a pass off."""
    segments = _segments(path)
    top, below = segments[0].casefold(), segments[1:]
    if top == "agent" and len(below) > 1:
        return (
            below[0] in _MACHINE_FOLDERS
            or (below[0] == "memory" and below[1] in DERIVED_CLASSES)
            or below == ["desk", "moc-tasks.md"]
        )
    if top == "projects" and len(below) == 2:
        return below[1] == f"moc-{below[0]}.md"
    return segments == ["index.md"]


def is_rules_file(path: str) -> bool:
    """Is it the vault's own rules file, in whatever spelling? It speaks of filing, of nothing that
    a question is about."""
    return path.casefold() == RULES_FILE


def is_in_space(path: str, names: Collection[str]) -> bool:
    """Is the path in one of the named spaces? Names are lower-case; one stands for a space (`desk`)
    or for a folder at the root of the vault (`journal`)."""
    return space_of(path).space in names or _folded(_segments(path)[0]) in names


def is_contract_exempt(path: str, rules: SpaceRules) -> bool:
    """Is the path in a space where a missing or odd frontmatter is never an error?"""
    return is_in_space(path, rules.contract_exempt_spaces)


def is_model_exempt(path: str, rules: SpaceRules) -> bool:
    """Is the path closed to every model that runs unattended? `personal/` always is."""
    return is_in_space(path, _CLOSED_TO_MODELS) or is_in_space(path, rules.model_exempt_spaces)


def is_dampened(path: str, rules: SpaceRules) -> bool:
    """Does recall rank the path's space lower on an ordinary question?"""
    return is_in_space(path, rules.dampened_spaces)


def _folded(name: str) -> str:
    """As a reader takes the name: a folder `\uff50ersonal` is as private as `personal`."""
    return name.casefold() if name.isascii() else unicodedata.normalize("NFKC", name).casefold()


def _segments(path: str) -> list[str]:
    segments = path.split("/")
    if "" in segments or "." in segments or ".." in segments:
        segments = posixpath.normpath(path).lstrip("/").split("/")
    return segments
