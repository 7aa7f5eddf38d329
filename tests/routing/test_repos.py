import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.routing import conformance
from agentm_assets.routing.conformance import check_routing_registry
from agentm_assets.routing.repos import (
    LEGACY_COPY,
    Registry,
    RegistryRefused,
    RegistryUnusable,
    Repo,
    add_repo,
    list_repos,
    registry,
    remove_repo,
)
from agentm_assets.storage.device_local import DeviceLocalBackend
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import Expect
from agentm_assets.storage.vault_backend import VaultBackend

Env = dict[str, str]


def engine_file(env: Env) -> Path:
    return Path(env["XDG_STATE_HOME"], "agentm/repos.json")


def test_a_checkout_is_registered_moved_over_and_removed(
    checkout: Path, env: Env, store: VaultBackend, vault: Path
) -> None:
    assert list_repos(store, env) == () and not engine_file(env).exists()
    add_repo(store, "kettle", checkout, env)
    add_repo(store, "lid", checkout, env)
    assert list_repos(store, env) == (Repo("lid", str(checkout)),)
    assert engine_file(env).exists() and not (vault / "_meta").exists()
    assert remove_repo(store, checkout, env) == Repo("lid", str(checkout))
    assert remove_repo(store, checkout, env) is None and list_repos(store, env) == ()


def test_a_removed_folder_can_be_taken_out(tmp_path: Path, env: Env) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    add_repo(None, "x", folder, env)
    folder.rmdir()
    assert remove_repo(None, folder, env) is not None


@pytest.mark.parametrize("slug", ["", "Two Words", "..", "a/b"])
def test_bad_slugs_and_folders_write_nothing(checkout: Path, env: Env, slug: str) -> None:
    with pytest.raises(RegistryRefused):
        add_repo(None, slug, checkout, env)
    with pytest.raises(RegistryRefused, match="no folder"):
        add_repo(None, "x", checkout / "nope", env)
    assert not engine_file(env).exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"repos": 3}', "\xff"])
def test_a_damaged_registry_is_left_as_it_is(checkout: Path, env: Env, text: str) -> None:
    file = engine_file(env)
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode("latin-1"))
    for act in (lambda: list_repos(None, env), lambda: add_repo(None, "x", checkout, env)):
        with pytest.raises(RegistryUnusable, match=r"repos\.json"):
            act()
    assert file.read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize("kind", [VaultBackend, DeviceLocalBackend])
def test_every_folder_backend_conforms(
    tmp_path: Path, kind: Callable[[Path, Path], VaultBackend]
) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "scratch").mkdir()
    check_routing_registry(lambda: kind(tmp_path / "store", tmp_path / "l"), tmp_path / "scratch")


class Deaf(VaultBackend):
    """Takes writes of the registry and drops them."""

    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        if isinstance(expect, str):
            return super().write_bytes(locator, self.read_bytes(locator), expect=expect)
        return super().write_bytes(locator, data, expect=expect)


class Forgetful(VaultBackend):
    """Never has the file that was written."""

    def exists(self, locator: Locator) -> bool:
        return locator != LEGACY_COPY and super().exists(locator)


@pytest.mark.parametrize(("kind", "fault"), [(Deaf, "does not reach"), (Forgetful, "not used")])
def test_the_check_bites(tmp_path: Path, kind: type[VaultBackend], fault: str) -> None:
    (tmp_path / "store").mkdir()
    with pytest.raises(AssertionError, match=fault):
        check_routing_registry(lambda: kind(tmp_path / "store", tmp_path / "l"), tmp_path / "s")


def test_the_check_bites_when_routing_never_asks_the_backend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "store").mkdir()

    def own_only(backend: object, env: Env) -> Registry:
        return registry(None, env)

    monkeypatch.setattr(conformance, "registry", own_only)
    with pytest.raises(AssertionError, match="not used"):
        check_routing_registry(
            lambda: VaultBackend(tmp_path / "store", tmp_path / "l"), tmp_path / "s"
        )


def _add(env: Env, root: Path, numbers: range) -> None:
    for number in numbers:
        folder = root / f"repo-{number}"
        folder.mkdir()
        add_repo(None, f"slug-{number}", folder, env)


def test_four_processes_lose_no_entry(tmp_path: Path, env: Env) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_add, args=(env, tmp_path, range(n * 3, n * 3 + 3)))
        for n in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    slugs = {entry["slug"] for entry in json.loads(engine_file(env).read_text())["repos"]}
    assert slugs == {f"slug-{number}" for number in range(12)}
