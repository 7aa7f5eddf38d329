"""Where a project's working state lives (plan, progress, roadmap), and reading and writing it.

In the store when that is synced and has the project, so that the state follows the operator from
device to device; else in the checkout's own `.harness/`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentm_assets.config.directories import cache_dir
from agentm_assets.routing.mode import HARNESS, state_mode
from agentm_assets.routing.resolve import resolve_project
from agentm_assets.storage.device_local import DeviceLocalBackend
from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.seam import (
    ConcurrentModificationError,
    Expect,
    StorageBackend,
    StorageError,
)

STORE_FOLDER = "_harness"
PLAN, PROGRESS = "PLAN.md", "progress.md"
MAX_STATE_BYTES = 4 * 1024 * 1024

_UNFIT = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\ud800-\udfff]')
_NAME_BYTES = 200

Reason = Literal["opted-out", "not-synced", "no-project", "synced"]


class StateRefused(Exception):
    """The name is none that a state file can have; nothing was read or written."""


class StoreEmpty(StorageError):
    """The store holds nothing at all, as a mount point does before its disk is there."""


@dataclass(frozen=True, slots=True)
class StateFolder:
    """The one folder of a project's state: a place in a store, or in the checkout.

    `reason` tells which rule chose it, `because` says it in words.
    """

    backend: StorageBackend
    locator: Locator
    reason: Reason
    because: str

    @property
    def in_store(self) -> bool:
        return self.reason == "synced"

    @property
    def shown(self) -> str:
        return f"{self.backend.identity}/{self.locator}".removesuffix("/")


@dataclass(frozen=True, slots=True)
class PlanAndProgress:
    """The plan and the progress log, both from the one folder `where`."""

    where: str
    plan: str
    progress: str


def harness_state_dir(
    project_root: Path, env: Mapping[str, str], open_store: Callable[[], StorageBackend]
) -> StateFolder:
    """The folder of the state of the checkout at `project_root`.

    The first that applies: a mark `local` in the checkout, `state_mode` local of the device (the
    mark precedes it either way); a synced store that has the project; else the checkout.
    `open_store` is not called when the state stays local by choice. What it raises is raised on: a
    store that is configured and can't be reached must not split the state in two.

    Raises ConfigError, StorageError; StoreEmpty for a synced store without a single file;
    StateRefused for a `.harness` that is a link out of the checkout.
    """
    project_root = project_root.resolve()
    local = _checkout_folder(project_root, env)
    mode, said_by = state_mode(project_root, env)
    if mode == "local":
        return StateFolder(local, ROOT, "opted-out", f"{said_by} says local")
    store = open_store()
    if not store.capabilities.sync:
        return StateFolder(local, ROOT, "not-synced", f"the store {store.name} is not synced")
    found = resolve_project(store, project_root, env)
    if found.project_locator is None:
        if not store.list(ROOT):
            raise StoreEmpty(
                f"the vault {store.identity} is empty. Mount it, or run agentm init; until then it "
                "is not known where this project's state is"
            )
        return StateFolder(local, ROOT, "no-project", f"the vault has no project {found.slug}")
    folder = found.project_locator.child(STORE_FOLDER)
    return StateFolder(found.backend, folder, "synced", f"the project {found.slug} of the vault")


def read_state_file(folder: StateFolder, name: str) -> bytes | None:
    """A state file's bytes; None when there is none. Raises StateRefused and StorageError."""
    try:
        return folder.backend.read_bytes(_place(folder, name), limit=MAX_STATE_BYTES)
    except FileNotFoundError:
        return None


def write_state_file(folder: StateFolder, name: str, data: bytes, expect: Expect = None) -> str:
    """Put a whole state file and return its content hash. With `expect`, only over those bytes.

    Raises StateRefused, StorageError; ConcurrentModificationError when other bytes are there than
    expected, or any where none are.
    """
    place = _place(folder, name)
    if len(data) > MAX_STATE_BYTES:
        raise StateRefused(f"a state file holds at most {MAX_STATE_BYTES} bytes; nothing written")
    try:
        return folder.backend.write_bytes(place, data, expect=expect)
    except FileExistsError as error:
        raise ConcurrentModificationError(
            f"{folder.shown}/{name} is there already; read it, then write over its hash"
        ) from error


def plan_and_progress(folder: StateFolder) -> PlanAndProgress | None:
    """The plan and the progress log as text, both from `folder`; None unless both are there.

    Bytes that are no UTF-8 are shown as U+FFFD. Raises StorageError.
    """
    plan, progress = read_state_file(folder, PLAN), read_state_file(folder, PROGRESS)
    if plan is None or progress is None:
        return None
    return PlanAndProgress(
        folder.shown, plan.decode("utf-8", "replace"), progress.decode("utf-8", "replace")
    )


def checkout_of(folder: Path) -> Path:
    """The root of the checkout that `folder` lies in: the nearest with `.harness` or `.git`, else
    `folder` itself."""
    folder = folder.resolve()
    for candidate in (folder, *folder.parents):
        if is_checkout(candidate):
            return candidate
    return folder


def is_checkout(folder: Path) -> bool:
    """Has the folder the marks of a checkout?"""
    return (folder / HARNESS).is_dir() or (folder / ".git").exists()


def _checkout_folder(project_root: Path, env: Mapping[str, str]) -> StorageBackend:
    """`.harness/` as a store of its own, which the first write makes."""
    folder = project_root / HARNESS
    if folder.is_symlink() and not folder.resolve().is_relative_to(project_root):
        raise StateRefused(
            f"{folder} is a link that leads out of the checkout, where state would be written over "
            "other files. Make it a folder"
        )
    return DeviceLocalBackend(folder, cache_dir(env) / "locks", fresh=True)


def _place(folder: StateFolder, name: str) -> Locator:
    if (
        not name
        or name.startswith(".")
        or name != name.strip()
        or name.endswith(".")
        or _UNFIT.search(name)
        or len(name.encode()) > _NAME_BYTES
    ):
        raise StateRefused(
            "a state file is named by one name without folders, a dot in front or marks that some "
            f"disks refuse, at most {_NAME_BYTES} bytes, as in {PLAN}; nothing was read or written"
        )
    return folder.locator.child(name)
