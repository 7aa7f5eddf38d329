"""Where a new note goes, and putting it there under a name that is free."""

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from agentm_assets.capture.request import CaptureFailed, CaptureRefused, CaptureRequest
from agentm_assets.capture.slug import NAMELESS, slugify, with_suffix
from agentm_assets.capture.wording import Wording
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.seam import (
    ABSENT,
    PersonalAuthorization,
    StorageBackend,
    StorageError,
    WriteRefused,
)

LAST_NUMBER = 20
"""Names taken by numbers, `-2` to this; then a random suffix, so that a thousand notes of one title
do not each try a thousand names."""

_RANDOM_TRIES = 8


class Placed(NamedTuple):
    """A note that is on the disk. `slug` is its file's stem."""

    path: str
    slug: str
    content_hash: str


class Target(NamedTuple):
    """The folder of a new note; with `authorization`, below `personal/`."""

    folder: Locator
    authorization: PersonalAuthorization | None = None


def target(
    request: CaptureRequest,
    backend: StorageBackend,
    *,
    memory_class: str,
    memory_type: str | None,
    captured: datetime,
    authorization: PersonalAuthorization | None,
) -> Target:
    """The folder that a request asks for. Raises CaptureRefused, StorageError."""
    if request.project is not None:
        return Target(_project_folder(backend, request.project, memory_type))
    space = (request.space or "memory").casefold()
    if space == "memory":
        root = _space(backend, "Agent")
        return Target(
            root.child("memory")
            .child(memory_class)
            .child(f"{captured.year:04d}")
            .child(f"{captured.month:02d}")
        )
    if space == "personal":
        return Target(_space(backend, "personal"), authorization)
    return Target(_space(backend, "standards"))


def check_space(request: CaptureRequest, authorization: PersonalAuthorization | None) -> None:
    """Refuse a space that a capture can't go to, or not on this asker's word."""
    space = (request.space or "memory").casefold()
    if space not in ("memory", "standards", "personal"):
        raise CaptureRefused(
            "unknown-space",
            "a capture can't be directed to that space",
            "Give memory, standards or personal, or leave it out",
        )
    if request.project is not None and request.space is not None:
        raise CaptureRefused(
            "space-and-project", "a space and a project were given", "Give one of the two"
        )
    if space == "personal" and authorization is None:
        raise CaptureRefused(
            "personal-needs-operator",
            "personal/ is the operator's and is written on their word alone",
            "Give --personal instead of the space"
            if request.captured_by == "operator"
            else "Let the operator run `agentm capture --personal`, or leave the space out",
        )
    if space == "standards" and request.captured_by != "operator":
        raise CaptureRefused(
            "standards-needs-operator",
            "standards/ is the operator's",
            "Let the operator run `agentm capture --space standards`, or leave the space out",
        )


def put(
    backend: StorageBackend,
    where: Target,
    wording: Wording,
    note: Callable[[str], bytes],
) -> Placed:
    """Write `note(slug)` under the first free name. Raises CaptureFailed when it can't be written.

    Another process may take a name between looking and writing: the write itself tells, since it
    makes a file or fails.
    """
    base = slugify(wording.title) or slugify(wording.body[:4096].decode("utf-8", "ignore"))
    try:
        for slug in _names(base or NAMELESS):
            place = where.folder.child(f"{slug}.md")
            if backend.exists(place):
                continue
            data = note(slug)
            try:
                if where.authorization is not None:
                    written = backend.personal_write(
                        place, data, where.authorization, expect=ABSENT
                    )
                else:
                    written = backend.write_bytes(place, data, expect=ABSENT)
            except FileExistsError:
                continue
            return Placed(place.key, slug, written)
    except WriteRefused as error:
        raise CaptureFailed("write-refused", f"{error}", "Nothing was saved") from error
    except (StorageError, OSError) as error:
        raise CaptureFailed("not-written", f"{error}", "Nothing was saved") from error
    raise CaptureFailed("no-free-name", "every name that was tried is taken", "Give another title")


def _names(slug: str) -> Iterator[str]:
    yield slug
    for number in range(2, LAST_NUMBER + 1):
        yield with_suffix(slug, str(number))
    for _ in range(_RANDOM_TRIES):
        yield with_suffix(slug, os.urandom(4).hex())


def _space(backend: StorageBackend, name: str) -> Locator:
    """The folder of a space as it is spelt on disk, else as the contract spells it."""
    from agentm_assets.projects.declared import space_folder

    return space_folder(backend, name) or Locator(name)


def _project_folder(backend: StorageBackend, project: str, memory_type: str | None) -> Locator:
    from agentm_assets.projects.route import ProjectRefused, routed_path

    try:
        Locator("projects").child(project)
        return routed_path(backend, project, memory_type, NAMELESS).parent
    except LocatorInvalid as error:
        raise CaptureRefused(
            "unknown-project", "that is no project's slug", "Give one, such as quiet-boil"
        ) from error
    except ProjectRefused as error:
        raise CaptureRefused(error.code, error.message, error.cure) from error
