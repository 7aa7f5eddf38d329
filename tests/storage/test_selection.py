"""From the configuration to the store: the chain, every refusal, plugins, and the preview."""

import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from agentm_assets.config.errors import ConfigError
from agentm_assets.config.vault import locate
from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.seam import ABSENT, Capabilities, StorageBackend, StorageError
from agentm_assets.storage.selection import (
    ENTRY_POINTS,
    OWN,
    CapabilityMismatchError,
    StorageSelectionError,
    backend_class,
    backend_names,
    capabilities_named,
    open_backend,
    select_backend,
    storage_preview,
)
from agentm_assets.storage.vault_backend import VaultBackend

PROJECT = Path(__file__).resolve().parents[2]
PLUGIN = """
from agentm_assets.storage.vault_backend import VaultBackend

class Acme(VaultBackend):
    name = "acme"

    @classmethod
    def open(cls, root, locks_dir):
        return super().open(root.removeprefix("acme://"), locks_dir)
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path / "home"),
        **{f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "STATE")},
        **{f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CACHE", "DATA")},
    }


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def configure(env: dict[str, str], text: str) -> None:
    file = Path(env["XDG_CONFIG_HOME"]) / "agentm" / "agentm.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def storage(backend: str, root: object = None) -> str:
    lines = ["[profiles.default.storage]", f'backend = "{backend}"']
    return "\n".join([*lines, *([] if root is None else [f'root = "{root}"'])]) + "\n"


def refusal(env: dict[str, str], **more: object) -> str:
    """What selecting says, which must be what the preview says."""
    with pytest.raises((ConfigError, StorageError)) as refused:
        select_backend(env, **more)  # type: ignore[arg-type]
    preview = storage_preview(env, **more)  # type: ignore[arg-type]
    assert (preview.ok, preview.message) == (False, str(refused.value))
    assert preview.backend is None and preview.capabilities is None
    return preview.message


def install(folder: Path, name: str, entry: str, source: str | None, dist: str = "acme") -> None:
    """A distribution as pip would have laid it out."""
    info = folder / f"{dist}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{name} = {entry}\n")
    if source is not None:
        (folder / f"{entry.partition(':')[0]}.py").write_text(source)


# --- the chain ------------------------------------------------------------------------------------


def test_the_file_comes_before_the_variable_and_the_variable_before_this_device(
    env: dict[str, str], vault: Path, tmp_path: Path
) -> None:
    found = select_backend(env)
    assert (found.name, found.capabilities.sync) == ("device-local", False)
    assert found.identity == str(tmp_path / "data" / "agentm" / "memory")
    env["MEMORY_VAULT_PATH"] = str(vault)
    found = select_backend(env)
    assert (found.name, found.identity, found.capabilities.sync) == ("vault", str(vault), True)
    other = tmp_path / "other"
    other.mkdir()
    configure(env, storage("device-local", other))
    found = select_backend(env)
    assert (found.name, found.identity) == ("device-local", str(other))
    env["MEMORY_VAULT_PATH"] = ""
    configure(env, f'vault_path = "{vault}"\n')
    assert select_backend(env).name == "device-local"


def test_the_devices_own_folder_is_empty_until_the_first_write_makes_it(
    env: dict[str, str], tmp_path: Path
) -> None:
    backend = open_backend(locate(env))
    own = tmp_path / "data" / "agentm" / "memory"
    assert (backend.list(ROOT), backend.exists(Locator("a.md"))) == ([], False)
    assert list(backend.walk(ROOT)) == []
    for read in (backend.read_bytes, backend.info):
        with pytest.raises(FileNotFoundError):
            read(Locator("a.md"))
    assert storage_preview(env).ok
    assert not own.exists()
    backend.write(Locator("Agent/memory/a.md"), "first", expect=ABSENT)
    assert (own / "Agent/memory/a.md").read_text() == "first"
    assert [entry.path for entry in backend.walk(ROOT)] == ["Agent/memory/a.md"]


# --- the refusals ---------------------------------------------------------------------------------


def test_an_unknown_backend_hears_which_there_are(env: dict[str, str], vault: Path) -> None:
    env["MEMORY_VAULT_PATH"] = str(vault)
    configure(env, storage("acme", vault))
    said = refusal(env)
    assert "`acme` is not registered; registered are: device-local, fsspec, vault" in said
    assert "Install the plugin" in said


def test_a_backend_without_a_root_is_refused(env: dict[str, str], vault: Path) -> None:
    env["MEMORY_VAULT_PATH"] = str(vault)
    configure(env, storage("vault"))
    assert "storage.backend `vault` but no storage.root" in refusal(env)


@pytest.mark.parametrize("backend", ["vault", "device-local"])
def test_a_root_that_is_gone_is_refused_and_not_made(
    env: dict[str, str], vault: Path, backend: str
) -> None:
    configure(env, storage(backend, vault))
    location = locate(env)
    vault.rmdir()
    assert "does not exist" in refusal(env)
    with pytest.raises(StorageError, match="is mounted"):
        open_backend(location)
    assert not vault.exists()


def test_a_variable_that_names_an_absent_vault_is_refused(
    env: dict[str, str], tmp_path: Path
) -> None:
    env["MEMORY_VAULT_PATH"] = str(tmp_path / "late mount")
    assert "(from MEMORY_VAULT_PATH) does not exist" in refusal(env)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("profiles = 3\n", "must be a table"),
        ("a = \n", "not valid TOML"),
        (storage("vault", "/x").replace('"vault"', "[]"), "storage.backend must be text"),
        (storage("vault", "/x").replace('"/x"', "1"), "storage.root must be text"),
        (storage("fsspec", "notes"), "needs a URL"),
        (storage("fsspec", "s3://"), "needs a URL"),
        (storage("fsspec", "file:///tmp"), 'storage.backend = "vault"'),
        (storage("fsspec", "local:///tmp"), 'storage.backend = "vault"'),
        (storage("fsspec", "s3://key:hunter2@bucket/x"), "would be shown"),
        (storage("fsspec", "nosuch://bucket/x"), "no nosuch:// stores"),
    ],
)
def test_what_the_file_says_wrongly_is_refused(env: dict[str, str], text: str, said: str) -> None:
    configure(env, text)
    message = refusal(env)
    assert said in message
    assert "hunter2" not in message


def test_a_file_that_cannot_be_read_is_refused(env: dict[str, str]) -> None:
    configure(env, "")
    file = Path(env["XDG_CONFIG_HOME"]) / "agentm" / "agentm.toml"
    file.unlink()
    file.mkdir()
    assert "cannot be read" in refusal(env)


# --- what a store promises ------------------------------------------------------------------------


def test_every_flag_that_is_not_promised_is_named(env: dict[str, str], vault: Path) -> None:
    required = Capabilities(sync=True, conflict_files=True, encryption=True)
    said = refusal(env, required=required)
    assert "`device-local` does not promise conflict_files, encryption, sync" in said
    with pytest.raises(CapabilityMismatchError) as refused:
        select_backend(env, vault=str(vault), required=required)
    assert refused.value.unmet == ("encryption",)
    wanted = Capabilities(sync=True, concurrent_writers=True)
    assert select_backend(env, vault=str(vault), required=wanted).name == "vault"
    assert storage_preview(env, vault=str(vault), required=wanted).ok


def test_a_memory_store_does_not_promise_several_writers(env: dict[str, str]) -> None:
    required = Capabilities(concurrent_writers=True)
    assert "`fsspec` does not promise concurrent_writers" in refusal(
        env, vault="memory://selection", required=required
    )


def test_flags_are_named_by_words() -> None:
    assert capabilities_named(["sync", " encryption"]) == Capabilities(sync=True, encryption=True)
    for wrong in (["speed"], ["sync", "speed"], [], ["", " "]):
        with pytest.raises(StorageSelectionError, match="there are: concurrent_writers"):
            capabilities_named(wrong)


# --- plugins --------------------------------------------------------------------------------------


def test_the_vault_backend_is_declared_as_a_plugin() -> None:
    table = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    declared = table["project"]["entry-points"][ENTRY_POINTS]
    assert set(declared) == {"vault"}
    loaded = EntryPoint("vault", declared["vault"], ENTRY_POINTS).load()
    assert loaded is VaultBackend is backend_class("vault")
    assert issubclass(loaded, StorageBackend)


def test_a_plugin_that_is_installed_is_found_and_used(
    env: dict[str, str], vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", "acme", "acme_store:Acme", PLUGIN)
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert backend_names() == ("acme", "device-local", "fsspec", "vault")
    configure(env, storage("acme", f"acme://{vault}"))
    location = locate(env)
    backend = open_backend(location)
    assert (backend.name, type(backend).__module__) == ("acme", "acme_store")
    backend.write(Locator("a.md"), "by a plugin")
    assert (vault / "a.md").read_text() == "by a plugin"
    assert not location.in_folder
    handed_on = locate({**env, **location.environment()})
    assert (handed_on.store, handed_on.state_dir) == (location.store, location.state_dir)


@pytest.mark.parametrize(
    ("entry", "source", "said"),
    [
        ("acme_gone:Acme", None, "can't be imported: No module named 'acme_gone'"),
        ("acme_less:Missing", "", "can't be imported: module 'acme_less' has no attribute"),
        ("acme_odd:Acme", "class Acme: pass\n", "no subclass of StorageBackend"),
        ("acme_int:Acme", "Acme = 3\n", "no subclass of StorageBackend"),
    ],
)
def test_a_plugin_that_is_no_good_is_refused(
    env: dict[str, str],
    vault: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    entry: str,
    source: str | None,
    said: str,
) -> None:
    install(tmp_path / "site", "acme", entry, source)
    monkeypatch.syspath_prepend(tmp_path / "site")
    configure(env, storage("acme", vault))
    assert said in refusal(env)


def test_two_plugins_of_one_name_are_refused_and_our_own_names_stay_ours(
    env: dict[str, str], vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", "acme", "acme_store:Acme", PLUGIN)
    install(tmp_path / "site2", "acme", "acme_store:Acme", None, dist="other")
    install(tmp_path / "site3", "vault", "acme_store:Acme", None, dist="third")
    for folder in ("site", "site2", "site3"):
        monkeypatch.syspath_prepend(tmp_path / folder)
    configure(env, storage("acme", vault))
    assert "two storage backends are called 'acme'" in refusal(env)
    assert backend_class("vault") is VaultBackend


# --- cost -----------------------------------------------------------------------------------------


def test_opening_a_vault_looks_for_no_plugin_and_imports_nothing_heavy(
    env: dict[str, str], vault: Path
) -> None:
    program = (
        "import os, sys\n"
        "from agentm_assets.config.vault import locate\n"
        "from agentm_assets.storage.selection import open_backend\n"
        "open_backend(locate(os.environ))\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**env, "AGENTM_VAULT": str(vault), "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert set(OWN["vault"]) & loaded
    heavy = {"importlib.metadata", "pydantic", "fsspec", "watchfiles", "filelock", "yaml", "typer"}
    assert not loaded & (heavy | {"agentm_assets.storage.fsspec_backend"})
