"""The registry of this machine's checkouts: which folder belongs to which project.

It stands in the engine's own state directory, since its paths mean something on this machine alone.
A store from before that may hold a copy of its own (`_meta/repos.json`); it is used in place while
it is the only one.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agentm_assets.config.directories import cache_dir, engine_dir
from agentm_assets.projects.names import BadSlug, check_slug
from agentm_assets.storage.device_local import DeviceLocalBackend
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.retry import read_modify_write
from agentm_assets.storage.seam import ABSENT, StorageBackend, StorageError

ENGINE_COPY = Locator("repos.json")
LEGACY_COPY = Locator("_meta/repos.json")

_LIMIT = 4 * 1024 * 1024


class RegistryUnusable(StorageError):
    """The registry is damaged; the text says where it is and what to do."""


class RegistryRefused(Exception):
    """The change asked for can't be made; nothing was written."""


@dataclass(frozen=True, slots=True)
class Repo:
    """A checkout: its absolute folder without links, and its project."""

    slug: str
    root_path: str


@dataclass(frozen=True, slots=True)
class Registry:
    """Where the registry is kept. `is_legacy`: in the store, for want of a copy of the engine's."""

    backend: StorageBackend
    locator: Locator
    is_legacy: bool

    @property
    def shown(self) -> str:
        return f"{self.backend.identity}/{self.locator}"


def registry(backend: StorageBackend | None, env: Mapping[str, str]) -> Registry:
    """The registry in force. `backend` is asked only for a legacy copy."""
    engine = DeviceLocalBackend(engine_dir(env), cache_dir(env) / "locks", fresh=True)
    if not engine.exists(ENGINE_COPY) and backend is not None and backend.exists(LEGACY_COPY):
        return Registry(backend, LEGACY_COPY, True)
    return Registry(engine, ENGINE_COPY, False)


def list_repos(backend: StorageBackend | None, env: Mapping[str, str]) -> tuple[Repo, ...]:
    """Every registered checkout, by folder. Raises RegistryUnusable."""
    return _repos(_content(registry(backend, env)))


def registered_slug(
    backend: StorageBackend | None, project_root: Path, env: Mapping[str, str]
) -> str | None:
    """The project that the checkout at `project_root` is registered for."""
    wanted = str(project_root.resolve())
    found = (repo.slug for repo in list_repos(backend, env) if repo.root_path == wanted)
    return next(found, None)


def add_repo(
    backend: StorageBackend | None, slug: str, project_root: Path, env: Mapping[str, str]
) -> Repo:
    """Register the checkout for the project; one that is registered goes over to it.

    Raises RegistryRefused for a folder that is not there and for a bad slug, RegistryUnusable.
    """
    try:
        check_slug(slug)
    except BadSlug as error:
        raise RegistryRefused(str(error)) from error
    if not project_root.is_dir():
        raise RegistryRefused(f"{project_root} is no folder. Name the root of a checkout.")
    repo = Repo(slug, str(project_root.resolve()))

    def added(entries: list[object]) -> list[object]:
        mine = [entry for entry in entries if _is_at(entry, repo.root_path)]
        if mine and _repo(mine[0]) == repo:
            return entries
        kept = [entry for entry in entries if not _is_at(entry, repo.root_path)]
        head = dict(mine[0]) if mine and isinstance(mine[0], dict) else {}
        return [*kept, {**head, "slug": repo.slug, "root_path": repo.root_path}]

    _change(registry(backend, env), added)
    return repo


def remove_repo(
    backend: StorageBackend | None, project_root: Path, env: Mapping[str, str]
) -> Repo | None:
    """Take the checkout out of the registry; what was registered, None when it was not there.

    The folder itself need not be there any more.
    """
    wanted = str(project_root.resolve())
    found = next((repo for repo in list_repos(backend, env) if repo.root_path == wanted), None)
    if found is not None:
        _change(
            registry(backend, env),
            lambda entries: [entry for entry in entries if not _is_at(entry, wanted)],
        )
    return found


def _change(where: Registry, change: Callable[[list[object]], list[object]]) -> None:
    """Rewrite the registry's entries; keys and entries that agentm does not know are kept."""

    def rewritten(data: bytes) -> bytes:
        content = _parsed(data, where)
        entries = _entries(content)
        new = change(entries)
        if new == entries:
            return data
        text = json.dumps(
            {**content, "repos": sorted(new, key=_order)}, indent=2, ensure_ascii=False
        )
        return f"{text}\n".encode()

    if not where.backend.exists(where.locator):
        with suppress(FileExistsError):  # another process was quicker: its file is changed below
            where.backend.write_bytes(where.locator, b'{"repos": []}\n', expect=ABSENT)
    read_modify_write(where.backend, where.locator, rewritten)


def _content(where: Registry) -> Mapping[str, object]:
    try:
        return _parsed(where.backend.read_bytes(where.locator, limit=_LIMIT), where)
    except FileNotFoundError:
        return {}


def _parsed(data: bytes, where: Registry) -> Mapping[str, object]:
    cure = "Mend it, or move it away and register the checkouts again"
    try:
        content = json.loads(data)
    except ValueError as error:
        raise RegistryUnusable(f"{where.shown} is not JSON. {cure}") from error
    if not isinstance(content, dict) or not isinstance(content.get("repos", []), list):
        raise RegistryUnusable(f"{where.shown} has no list `repos`. {cure}")
    return content


def _entries(content: Mapping[str, object]) -> list[object]:
    found = content.get("repos", [])
    return list(found) if isinstance(found, list) else []


def _repos(content: Mapping[str, object]) -> tuple[Repo, ...]:
    found = (_repo(entry) for entry in sorted(_entries(content), key=_order))
    return tuple(repo for repo in found if repo is not None)


def _repo(entry: object) -> Repo | None:
    if not isinstance(entry, dict):
        return None
    slug, root = entry.get("slug"), entry.get("root_path")
    return Repo(slug, root) if isinstance(slug, str) and isinstance(root, str) else None


def _is_at(entry: object, root_path: str) -> bool:
    return isinstance(entry, dict) and entry.get("root_path") == root_path


def _order(entry: object) -> str:
    repo = _repo(entry)
    return repo.root_path if repo is not None else ""
