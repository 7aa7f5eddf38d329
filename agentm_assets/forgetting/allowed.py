"""Which files may be forgotten, and how a note that takes another's place is named."""

from agentm_assets.contract import properties
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.rules_block import Violation, find_block
from agentm_assets.contract.spaces import is_generated, space_of
from agentm_assets.projects.door import door
from agentm_assets.projects.ideas import IDEAS
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.personal import is_personal
from agentm_assets.storage.seam import StorageBackend

MAX_NOTE_BYTES = 16 * 1024 * 1024


class ForgetRefused(Exception):
    """The note is not forgotten and its bytes are as they were. `code` is stable."""

    def __init__(self, code: str, message: str, cure: str) -> None:
        super().__init__(f"{message}. {cure}")
        self.code = code
        self.message = message
        self.cure = cure


def forgettable(backend: StorageBackend, path: str) -> tuple[Locator, bytes]:
    """The note at `path` (relative to the vault) and its bytes.

    Raises ForgetRefused for what is no note, absent, the operator's, generated, a rules file or the
    root of a project; StorageError when it can't be read.
    """
    place = _place(path)
    if is_personal(place):
        raise ForgetRefused(
            "personal", "personal/ is the operator's alone", "Edit the note by hand"
        )
    if is_generated(place.key) and space_of(place.key).memory_class in (None, "mocs"):
        raise ForgetRefused(
            "generated", f"{place} is generated and would come back", "Forget what it lists"
        )
    if place.key.casefold() == IDEAS:
        raise ForgetRefused(
            "no-memory", f"{place} is the shared page of ideas, no memory", "Edit its lines by hand"
        )
    data = _read(backend, place)
    if _holds_rules(place, data):
        raise ForgetRefused(
            "rules", f"{place} holds storage rules, which are the operator's", "Edit it by hand"
        )
    in_projects = space_of(place.key).space == "projects"
    if in_projects and door(backend, place.key).verdict == "alignment":
        raise ForgetRefused(
            "project-root",
            f"{place} is a root document of a project, which changes only in agreement",
            "Let the operator edit its status by hand",
        )
    return place, data


def successor_name(backend: StorageBackend, path: str, of: Locator, data: bytes) -> str:
    """The slug of the note at `path`, which is to take the place of the note `of` with the bytes
    `data`.

    Raises ForgetRefused when it is absent, the same note, or itself superseded by that one.
    """
    place = _place(path)
    if place == of:
        raise ForgetRefused("same-note", "a note can't take its own place", "Name another note")
    frontmatter = read_frontmatter(_read(backend, place))
    slug = properties.text_of(read_frontmatter(data), "slug")
    own = (slug, of.name.removesuffix(".md"), of.key.removesuffix(".md"), of.key)
    successor = properties.text_of(frontmatter, "superseded_by")
    if successor is not None and successor in own:
        raise ForgetRefused(
            "circle", f"{place} is itself superseded by {of}", "Name the note that is valid now"
        )
    return properties.text_of(frontmatter, "slug") or place.name.removesuffix(".md")


def _place(path: str) -> Locator:
    try:
        place = Locator(path)
    except LocatorInvalid as error:
        raise ForgetRefused(
            "outside-vault",
            f"the path leads nowhere in the vault: {error}",
            "Give it as `agentm recall` shows it",
        ) from error
    if not place.name.lower().endswith(".md") or any(p.startswith(".") for p in place.parts):
        raise ForgetRefused(
            "no-note", "that is no note", "Name a .md file of the vault, as recall shows it"
        )
    return place


def _read(backend: StorageBackend, place: Locator) -> bytes:
    try:
        return backend.read_bytes(place, limit=MAX_NOTE_BYTES)
    except FileNotFoundError as error:
        raise ForgetRefused(
            "absent", f"there is no note {place}", "`agentm recall` shows the paths of notes"
        ) from error


def _holds_rules(place: Locator, data: bytes) -> bool:
    """Is it the rules file, or another one in standards/ that could be chosen as such?"""
    if space_of(place.key).space != "standards":
        return False
    if place.name.casefold() == "storage-rules.md":
        return True
    found = find_block(data.decode("utf-8-sig", "replace"))
    return not isinstance(found, Violation) or found.code != "block-missing"
