from pathlib import Path
from typing import ClassVar

import pytest

from agentm_assets.config.errors import ConfigError
from agentm_assets.routing.mode import state_mode
from agentm_assets.routing.state import (
    MAX_STATE_BYTES,
    StateRefused,
    StoreEmpty,
    checkout_of,
    harness_state_dir,
    plan_and_progress,
    read_state_file,
    write_state_file,
)
from agentm_assets.storage.device_local import DeviceLocalBackend
from agentm_assets.storage.seam import (
    ABSENT,
    Capabilities,
    ConcurrentModificationError,
    StorageError,
    StoreUnreachable,
    content_hash,
)
from agentm_assets.storage.vault_backend import VaultBackend

Env = dict[str, str]


def mark(checkout: Path, text: str) -> Path:
    marker = checkout / ".harness/.project-mode"
    marker.parent.mkdir(exist_ok=True)
    marker.write_bytes(text.encode())
    return marker


def device(env: Env, text: str) -> None:
    file = Path(env["XDG_CONFIG_HOME"], "agentm/agentm.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def never() -> VaultBackend:
    raise AssertionError("the store was opened")


def test_a_synced_store_with_the_project_has_the_state(
    checkout: Path, env: Env, store: VaultBackend, vault: Path
) -> None:
    folder = harness_state_dir(checkout, env, lambda: store)
    assert folder.in_store and folder.locator.key == "projects/kettle/_harness"
    write_state_file(folder, "PLAN.md", b"plan\r\n")
    assert (vault / "projects/kettle/_harness/PLAN.md").read_bytes() == b"plan\r\n"
    assert not (checkout / ".harness").exists()


@pytest.mark.parametrize("text", ["local", "local\n", " LOCAL \r\n", "\ufefflocal"])
def test_the_checkouts_mark_keeps_the_state_here(checkout: Path, env: Env, text: str) -> None:
    mark(checkout, text)
    folder = harness_state_dir(checkout, env, never)
    assert folder.reason == "opted-out" and folder.shown == str(checkout / ".harness")


def test_the_devices_mode_keeps_the_state_here(checkout: Path, env: Env) -> None:
    device(env, 'state_mode = "local"\n')
    assert harness_state_dir(checkout, env, never).reason == "opted-out"


@pytest.mark.parametrize("text", ["backend", "vault"])
def test_the_mark_precedes_the_device(
    checkout: Path, env: Env, store: VaultBackend, text: str
) -> None:
    device(env, 'state_mode = "local"\n')
    marker = mark(checkout, text)
    assert harness_state_dir(checkout, env, lambda: store).in_store
    assert marker.read_text() == text
    assert state_mode(checkout, env)[0] == "backend"


@pytest.mark.parametrize("text", ["", " \n", "\ufeff\n"])
def test_an_empty_mark_counts_as_none(checkout: Path, env: Env, text: str) -> None:
    mark(checkout, text)
    assert state_mode(checkout, env) == (None, "")
    device(env, 'state_mode = ""\n')
    assert state_mode(checkout, env) == (None, "")
    device(env, 'state_mode = "local"\n')
    assert state_mode(checkout, env)[0] == "local"


@pytest.mark.parametrize("text", ["lcoal", "remote", "local backend"])
def test_a_word_that_is_no_mode_is_not_passed_over(checkout: Path, env: Env, text: str) -> None:
    mark(checkout, text)
    with pytest.raises(ConfigError, match="project-mode"):
        harness_state_dir(checkout, env, never)


@pytest.mark.parametrize("written", ['"lcoal"', "3", '["local"]'])
def test_a_device_mode_that_is_none(checkout: Path, env: Env, written: str) -> None:
    device(env, f"state_mode = {written}\n")
    with pytest.raises(ConfigError, match="state_mode"):
        harness_state_dir(checkout, env, never)


def test_a_mark_that_cannot_be_read_is_not_passed_over(checkout: Path, env: Env) -> None:
    (checkout / ".harness/.project-mode").mkdir(parents=True)
    with pytest.raises(ConfigError, match="can't be read"):
        harness_state_dir(checkout, env, never)


class Unsynced(VaultBackend):
    """What a store says of itself decides, not its class."""

    name: ClassVar[str] = "unsynced"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(concurrent_writers=True)


class SyncedDevice(DeviceLocalBackend):
    name: ClassVar[str] = "synced-device"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(sync=True)


def test_the_capability_decides_and_not_the_class(
    checkout: Path, env: Env, vault: Path, tmp_path: Path
) -> None:
    unsynced = harness_state_dir(checkout, env, lambda: Unsynced(vault, tmp_path))
    assert unsynced.reason == "not-synced"
    assert harness_state_dir(checkout, env, lambda: SyncedDevice(vault, tmp_path)).in_store


def test_a_store_without_the_project_leaves_the_state_here(
    tmp_path: Path, env: Env, store: VaultBackend
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    folder = harness_state_dir(other, env, lambda: store)
    assert folder.reason == "no-project"
    write_state_file(folder, "PLAN.md", b"x")
    assert (other / ".harness/PLAN.md").read_bytes() == b"x"


def test_a_store_that_cannot_be_reached_raises(checkout: Path, env: Env, tmp_path: Path) -> None:
    def gone() -> VaultBackend:
        raise StoreUnreachable("it is not mounted")

    with pytest.raises(StoreUnreachable):
        harness_state_dir(checkout, env, gone)
    late = VaultBackend(tmp_path / "late", tmp_path / "locks")
    with pytest.raises(StorageError):
        harness_state_dir(checkout, env, lambda: late)
    assert not (checkout / ".harness").exists()


def test_an_empty_mount_point_is_no_vault_without_the_project(
    checkout: Path, env: Env, tmp_path: Path
) -> None:
    (tmp_path / "mnt").mkdir()
    empty = VaultBackend(tmp_path / "mnt", tmp_path / "locks")
    with pytest.raises(StoreEmpty, match="Mount it"):
        harness_state_dir(checkout, env, lambda: empty)


NAMES = [
    "../x",
    "a/b",
    "/etc/x",
    "..",
    ".",
    "",
    ".project-mode",
    "a\\b",
    "a\0b",
    "C:",
    "a\nb",
    "x.",
]


@pytest.mark.parametrize("name", [*NAMES, " x", "é" * 101, "\udcff"])
@pytest.mark.parametrize("where", ["store", "checkout"])
def test_names_stay_in_the_folder(
    checkout: Path, env: Env, store: VaultBackend, tmp_path: Path, name: str, where: str
) -> None:
    if where == "checkout":
        mark(checkout, "local")
    folder = harness_state_dir(checkout, env, lambda: store)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StateRefused):
        write_state_file(folder, name, b"x")
    with pytest.raises(StateRefused):
        read_state_file(folder, name)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_out_of_the_checkout_is_refused(checkout: Path, env: Env, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (checkout / ".harness").symlink_to(tmp_path / "away")
    device(env, 'state_mode = "local"\n')
    with pytest.raises(StateRefused, match="link"):
        harness_state_dir(checkout, env, never)


def test_a_linked_state_file_is_neither_read_nor_replaced(
    checkout: Path, env: Env, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    mark(checkout, "local")
    (checkout / ".harness/PLAN.md").symlink_to(secret)
    folder = harness_state_dir(checkout, env, never)
    with pytest.raises(StorageError):
        read_state_file(folder, "PLAN.md")
    with pytest.raises(StorageError):
        write_state_file(folder, "PLAN.md", b"x")
    assert secret.read_text() == "s"


@pytest.mark.parametrize("local", [True, False])
def test_a_write_is_over_what_was_read(
    checkout: Path, env: Env, store: VaultBackend, local: bool
) -> None:
    if local:
        mark(checkout, "local")
    folder = harness_state_dir(checkout, env, lambda: store)
    first = write_state_file(folder, "PLAN.md", b"one", ABSENT)
    assert first == content_hash(b"one")
    with pytest.raises(ConcurrentModificationError, match="is there already"):
        write_state_file(folder, "PLAN.md", b"two", ABSENT)
    with pytest.raises(ConcurrentModificationError):
        write_state_file(folder, "PLAN.md", b"two", content_hash(b"other"))
    assert read_state_file(folder, "PLAN.md") == b"one"
    write_state_file(folder, "PLAN.md", b"two", first)
    assert read_state_file(folder, "PLAN.md") == b"two"
    with pytest.raises(StateRefused, match="at most"):
        write_state_file(folder, "PLAN.md", b"x" * (MAX_STATE_BYTES + 1))


@pytest.mark.parametrize("local", [True, False])
def test_plan_and_progress_come_from_one_folder_or_not_at_all(
    checkout: Path, env: Env, store: VaultBackend, local: bool
) -> None:
    here, there = checkout / ".harness", Path(store.identity, "projects/kettle/_harness")
    for folder in (here, there):
        folder.mkdir(exist_ok=True)
    if local:
        mark(checkout, "local")
    mine, other = (here, there) if local else (there, here)
    other.joinpath("PLAN.md").write_text("wrong")
    other.joinpath("progress.md").write_text("wrong")
    resolved = harness_state_dir(checkout, env, lambda: store)
    assert plan_and_progress(resolved) is None
    mine.joinpath("PLAN.md").write_text("plan")
    assert plan_and_progress(resolved) is None
    mine.joinpath("progress.md").write_bytes(b"so far \xff")
    found = plan_and_progress(resolved)
    assert found is not None
    assert (found.where, found.plan, found.progress) == (str(mine), "plan", "so far \ufffd")


@pytest.mark.parametrize("name", [".git", ".harness"])
def test_the_checkout_around_a_folder(tmp_path: Path, name: str) -> None:
    deep = tmp_path / "code/src/deep"
    deep.mkdir(parents=True)
    (tmp_path / "code" / name).mkdir()
    assert checkout_of(deep) == tmp_path / "code"
