"""The root resolver: who names the vault, and every refusal."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from agentm_assets.config.errors import ConfigError
from agentm_assets.config.vault import locate


def write_config(env: dict[str, str], text: str) -> Path:
    file = Path(env["XDG_CONFIG_HOME"]) / "agentm" / "agentm.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_the_option_precedes_the_variable_which_precedes_the_profile(
    env: dict[str, str], tmp_path: Path
) -> None:
    folders = {}
    for name in ("by-option", "by-variable", "by-profile", "by-memory"):
        folders[name] = tmp_path / name
        folders[name].mkdir()
    env["MEMORY_VAULT_PATH"] = str(folders["by-memory"])
    found = locate(env)
    assert (found.root, found.source) == (folders["by-memory"], "MEMORY_VAULT_PATH")
    write_config(env, f'[profiles.default.storage]\nroot = "{folders["by-profile"]}"\n')
    found = locate(env)
    assert (found.root, found.source) == (folders["by-profile"], "agentm.toml profile default")
    env["AGENTM_VAULT"] = str(folders["by-variable"])
    found = locate(env)
    assert (found.root, found.source) == (folders["by-variable"], "AGENTM_VAULT")
    found = locate(env, vault=str(folders["by-option"]))
    assert (found.root, found.source) == (folders["by-option"], "--vault")


def test_the_profile_is_named_by_option_then_variable_then_file(
    env: dict[str, str], tmp_path: Path
) -> None:
    lines = ['profile = "one"']
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        lines += [f"[profiles.{name}.storage]", f'root = "{tmp_path / name}"']
    write_config(env, "\n".join(lines))
    assert locate(env).profile == "one"
    env["AGENTM_PROFILE"] = "two"
    assert locate(env).root == tmp_path / "two"
    found = locate(env, profile="three")
    assert (found.root, found.source) == (tmp_path / "three", "agentm.toml profile three")


def test_derived_paths_follow_the_real_path_of_the_vault(
    env: dict[str, str], vault: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(vault)
    digest = hashlib.sha256(os.fsencode(str(vault.resolve()))).hexdigest()[:12]
    direct, through_link = locate(env, vault=str(vault)), locate(env, vault=str(link))
    assert direct.state_dir == tmp_path / "state" / "agentm" / f"vault-{digest}"
    assert through_link.state_dir == direct.state_dir
    assert through_link.root == direct.root
    assert direct.facts_file == direct.state_dir / "index" / "serving" / "facts.sqlite"
    assert direct.lexical_dir == direct.state_dir / "index" / "serving" / "lexical"
    assert direct.duckdb_file == direct.state_dir / "index" / "index.duckdb"
    assert direct.log_dir == direct.state_dir / "log"
    assert direct.dagster_home == direct.state_dir / "dagster"
    assert direct.models_dir == tmp_path / "cache" / "agentm" / "models"


def test_two_vaults_of_one_name_have_two_state_directories(
    env: dict[str, str], tmp_path: Path
) -> None:
    first, second = tmp_path / "a" / "notes", tmp_path / "b" / "notes"
    first.mkdir(parents=True)
    second.mkdir(parents=True)
    assert locate(env, vault=str(first)).state_dir != locate(env, vault=str(second)).state_dir


def test_a_long_vault_name_still_gives_a_file_name(env: dict[str, str], tmp_path: Path) -> None:
    vault = tmp_path / ("é" * 127)
    vault.mkdir()
    locate(env, vault=str(vault)).state_dir.mkdir(parents=True)


@pytest.mark.parametrize("written", ["", "   "])
@pytest.mark.parametrize("source", ["--vault", "AGENTM_VAULT"])
def test_an_empty_path_is_refused_and_never_the_current_folder(
    env: dict[str, str], written: str, source: str
) -> None:
    if source == "AGENTM_VAULT":
        env["AGENTM_VAULT"] = written
    with pytest.raises(ConfigError, match=f"{source} is empty"):
        locate(env, vault=written if source == "--vault" else None)


def test_a_missing_root_is_refused_and_does_not_fall_back(
    env: dict[str, str], vault: Path, tmp_path: Path
) -> None:
    env["MEMORY_VAULT_PATH"] = str(vault)
    write_config(env, f'[profiles.default.storage]\nroot = "{tmp_path / "gone"}"\n')
    with pytest.raises(ConfigError, match=r"gone .*does not exist"):
        locate(env)


def test_a_file_as_root_is_refused(env: dict[str, str], tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("text")
    with pytest.raises(ConfigError, match="is not a directory"):
        locate(env, vault=str(note))
    with pytest.raises(ConfigError, match="cannot be reached"):
        locate(env, vault=str(note / "below"))


def test_a_nul_in_the_path_is_refused(env: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="NUL"):
        locate(env, vault="a\0b")


@pytest.mark.parametrize("inside", ["", ".state", "deep/er"])
def test_a_state_directory_inside_the_vault_is_refused(
    env: dict[str, str], vault: Path, inside: str
) -> None:
    env["XDG_STATE_HOME"] = str(vault / inside)
    with pytest.raises(ConfigError, match="inside the vault"):
        locate(env, vault=str(vault))


def test_a_state_directory_that_a_symlink_leads_into_the_vault_is_refused(
    env: dict[str, str], vault: Path, tmp_path: Path
) -> None:
    (vault / "hidden").mkdir()
    (tmp_path / "state").symlink_to(vault / "hidden")
    with pytest.raises(ConfigError, match="inside the vault"):
        locate(env, vault=str(vault))


def test_nothing_configured_means_notes_on_this_device_and_makes_nothing(
    env: dict[str, str],
) -> None:
    found = locate(env)
    assert (found.backend, found.source, found.is_default) == ("device-local", "the default", True)
    assert found.root == Path(env["HOME"]).resolve() / ".local/share/agentm/memory"
    assert not found.root.exists()


def test_the_devices_own_folder_stays_device_local_when_its_path_is_handed_on(
    env: dict[str, str],
) -> None:
    handed = locate(env).environment()
    assert locate({**env, **handed}) == replace(locate(env), source="AGENTM_VAULT")


def test_a_backend_without_a_root_is_refused_but_device_local_has_its_own(
    env: dict[str, str], vault: Path
) -> None:
    env["MEMORY_VAULT_PATH"] = str(vault)
    for backend in ("vault", "fsspec", "acme"):
        write_config(env, f'[profiles.default.storage]\nbackend = "{backend}"\n')
        with pytest.raises(ConfigError, match=f"`{backend}` but no storage.root.*agentm init"):
            locate(env)
    write_config(env, '[profiles.default.storage]\nbackend = "device-local"\n')
    assert locate(env).root.name == "memory"


def test_a_profile_without_storage_leaves_the_choice_to_the_variable(
    env: dict[str, str], vault: Path
) -> None:
    write_config(env, '[profiles.default.embedder]\nmodel = "m"\n')
    assert locate(env).backend == "device-local"
    env["MEMORY_VAULT_PATH"] = str(vault)
    assert (locate(env).backend, locate(env).root) == ("vault", vault)
    env["MEMORY_VAULT_PATH"] = ""
    assert locate(env).backend == "device-local"
    env["MEMORY_VAULT_PATH"] = str(vault / "late")
    with pytest.raises(ConfigError, match="does not exist"):
        locate(env)


def test_a_vault_path_in_the_file_selects_nothing(env: dict[str, str], vault: Path) -> None:
    write_config(env, f'vault_path = "{vault}"\n')
    assert locate(env).backend == "device-local"


def test_a_url_is_no_folder_of_this_machine(env: dict[str, str]) -> None:
    found = locate(env, vault="s3://notes/team")
    assert (found.backend, found.store, found.in_folder) == ("fsspec", "s3://notes/team", False)
    assert not found.root.exists()
    assert found.state_dir.name.startswith("team-")
    assert locate({**env, **found.environment()}).state_dir == found.state_dir


def test_an_unknown_profile_is_refused_even_beside_a_vault_variable(
    env: dict[str, str], vault: Path
) -> None:
    write_config(env, f'[profiles.work.storage]\nroot = "{vault}"\n')
    env["AGENTM_VAULT"] = str(vault)
    with pytest.raises(ConfigError, match=r"no profile `wrok`.*it has: work"):
        locate(env, profile="wrok")


def test_a_relative_root_in_the_file_is_refused_with_its_line(env: dict[str, str]) -> None:
    file = write_config(env, '# mine\n[profiles.default.storage]\nroot = "vault"\n')
    with pytest.raises(ConfigError, match=f"{file}:3: storage.root is relative"):
        locate(env)


def test_a_home_path_in_the_file_is_expanded_by_the_given_environment(env: dict[str, str]) -> None:
    (Path(env["HOME"]) / "vault").mkdir()
    write_config(env, '[profiles.default.storage]\nroot = "~/vault"\n')
    assert locate(env).root == (Path(env["HOME"]) / "vault").resolve()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("profile = 3\n", "`profile` must be text"),
        ('profile = " "\n', "names an empty profile"),
        ("profiles = 3\n", ":1: `profiles` must be a table"),
        ("[profiles]\ndefault = 3\n", ":2: `profiles.default` must be a table"),
        ("[profiles.default]\nstorage = 3\n", ":2: `profiles.default.storage` must be a table"),
        ("[profiles.default.storage]\nroot = 3\n", ":2: storage.root must be text"),
        ('[profiles.default.storage]\nroot = ""\n', "is empty"),
        ("[profiles.default.storage]\nbackend = 3\n", ":2: storage.backend must be text"),
        ('[profiles.default.storage]\nbackend = ""\n', ":2: storage.backend must be text"),
        ("a = \n", r"not valid TOML: .*line 1"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(env: dict[str, str], text: str, said: str) -> None:
    write_config(env, text)
    with pytest.raises(ConfigError, match=said):
        locate(env)


def test_a_relative_xdg_directory_is_ignored(env: dict[str, str], vault: Path) -> None:
    env["XDG_STATE_HOME"] = "state"
    found = locate(env, vault=str(vault))
    assert found.state_dir.is_relative_to(Path(env["HOME"]) / ".local" / "state" / "agentm")


def test_agentm_config_names_another_file(env: dict[str, str], vault: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(f'[profiles.default.storage]\nroot = "{vault}"\n')
    env["AGENTM_CONFIG"] = str(other)
    assert locate(env).config_file == other
    env["AGENTM_CONFIG"] = ""
    with pytest.raises(ConfigError, match="AGENTM_CONFIG is set and empty"):
        locate(env)


def test_the_resolver_needs_the_standard_library_alone() -> None:
    import subprocess
    import sys

    program = (
        "import sys; import agentm_assets.config.vault; "
        "print([m for m in ('pydantic', 'typer', 'tomlkit', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
