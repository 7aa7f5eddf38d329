from pathlib import Path
from typing import ClassVar

import pytest

from agentm_assets.projects.declared import is_folder
from agentm_assets.routing.repos import add_repo
from agentm_assets.routing.resolve import resolve_project
from agentm_assets.storage.device_local import DeviceLocalBackend
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import Info
from agentm_assets.storage.vault_backend import VaultBackend

Env = dict[str, str]


@pytest.fixture
def nested(tmp_path: Path) -> tuple[Path, VaultBackend]:
    """An older vault: the memory in a folder of its own, projects/ beside it."""
    above = tmp_path / "old"
    for folder in (".obsidian", "memory", "projects/kettle"):
        (above / folder).mkdir(parents=True)
    return above, VaultBackend(above / "memory", tmp_path / "locks")


def test_the_project_of_a_checkout(checkout: Path, env: Env, store: VaultBackend) -> None:
    found = resolve_project(store, checkout, env)
    assert (found.slug, found.layout, found.project_root) == ("kettle", "root", checkout)
    assert found.backend is store
    assert found.project_locator is not None and found.project_locator.key == "projects/kettle"


def test_no_project_of_that_name(tmp_path: Path, env: Env, store: VaultBackend) -> None:
    found = resolve_project(store, tmp_path / "Some Thing", env)
    assert (found.slug, found.layout, found.project_locator) == ("some-thing", "none", None)


def test_the_register_precedes_the_folders_name(
    tmp_path: Path, env: Env, store: VaultBackend
) -> None:
    work = tmp_path / "work-tree-7"
    work.mkdir()
    add_repo(store, "kettle", work, env)
    found = resolve_project(store, work, env)
    assert found.slug == "kettle" and found.layout == "root"


def test_the_names_on_disk_are_used(tmp_path: Path, env: Env, checkout: Path) -> None:
    (tmp_path / "v/Projects/Kettle").mkdir(parents=True)
    found = resolve_project(VaultBackend(tmp_path / "v", tmp_path / "locks"), checkout, env)
    assert found.project_locator is not None and found.project_locator.key == "Projects/Kettle"


def test_the_projects_beside_a_nested_memory(
    checkout: Path, env: Env, nested: tuple[Path, VaultBackend]
) -> None:
    above, store = nested
    found = resolve_project(store, checkout, env)
    assert found.layout == "root" and found.project_locator is not None
    assert type(found.backend) is VaultBackend and found.backend.identity == str(above)
    assert found.project_locator.key == "projects/kettle"


def test_the_stores_own_projects_come_first(
    checkout: Path, env: Env, nested: tuple[Path, VaultBackend]
) -> None:
    above, store = nested
    (above / "memory/projects/kettle").mkdir(parents=True)
    assert resolve_project(store, checkout, env).backend is store


@pytest.mark.parametrize("change", ["no-mark", "mark-inside", "other-case", "file", "link"])
def test_what_is_beside_the_root_is_not_always_the_vaults(
    checkout: Path, env: Env, nested: tuple[Path, VaultBackend], change: str
) -> None:
    above, store = nested
    if change == "no-mark":
        (above / ".obsidian").rmdir()
    elif change == "mark-inside":
        (above / "memory/.obsidian").mkdir()
    elif change == "other-case":
        (above / "projects").rename(above / "Projects")
    else:
        (above / "projects").rename(above / "elsewhere")
        if change == "file":
            (above / "projects").write_text("")
        else:
            (above / "projects").symlink_to(above / "elsewhere")
    assert resolve_project(store, checkout, env).project_locator is None


def test_a_store_that_is_not_synced_stays_in_its_root(
    checkout: Path, env: Env, nested: tuple[Path, VaultBackend], tmp_path: Path
) -> None:
    above, _ = nested
    store = DeviceLocalBackend(above / "memory", tmp_path / "locks")
    assert resolve_project(store, checkout, env).project_locator is None


class IgnoresCase(VaultBackend):
    """A vault on a disk that finds a file under any case of its name."""

    name: ClassVar[str] = "ignores-case"

    def info(self, locator: Locator) -> Info:
        return super().info(self._spelt(locator))

    def list(self, locator: Locator) -> "list[Locator]":
        found = super().list(self._spelt(locator))
        return [locator.child(place.name) for place in found]

    def _spelt(self, locator: Locator) -> Locator:
        if not locator.key:
            return locator
        for place in super().list(self._spelt(locator.parent)):
            if place.name.casefold() == locator.name.casefold():
                return place
        return locator


def test_the_neighbour_has_exactly_that_name_on_a_disk_that_ignores_case(
    checkout: Path, env: Env, nested: tuple[Path, VaultBackend], tmp_path: Path
) -> None:
    above, _ = nested
    store = IgnoresCase(above / "memory", tmp_path / "locks")
    assert resolve_project(store, checkout, env).layout == "root"
    (above / "projects").rename(above / "Projects")
    assert is_folder(IgnoresCase(above, tmp_path / "locks"), Locator("projects"))
    assert resolve_project(store, checkout, env).layout == "none"
