"""The one resolver of the vault's root. Standard library only: capture and hooks use it too."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentm_assets.config import directories
from agentm_assets.config.errors import ConfigError
from agentm_assets.config.toml_file import line_of_key, read_toml

DEFAULT_PROFILE = "default"
_CURE = "Run `agentm init PATH`, or set AGENTM_VAULT to the folder of the vault."


@dataclass(frozen=True, slots=True)
class VaultLocation:
    """Which vault this process works on, who said so, and where its derived files live.

    `root` is absolute and without symlinks. `source` is "--vault", "AGENTM_VAULT",
    "agentm.toml profile NAME" or "MEMORY_VAULT_PATH".
    """

    root: Path
    source: str
    profile: str
    config_file: Path
    state_dir: Path
    cache_dir: Path

    @property
    def index_dir(self) -> Path:
        """The cache: everything below can be deleted and is rebuilt."""
        return self.state_dir / "index"

    @property
    def serving_dir(self) -> Path:
        return self.index_dir / "serving"

    @property
    def lexical_dir(self) -> Path:
        return self.serving_dir / "lexical"

    @property
    def vectors_dir(self) -> Path:
        return self.serving_dir / "vectors"

    @property
    def facts_file(self) -> Path:
        return self.serving_dir / "facts.sqlite"

    @property
    def duckdb_file(self) -> Path:
        return self.index_dir / "index.duckdb"

    @property
    def log_dir(self) -> Path:
        """Append-only logs of this machine. Not part of the cache."""
        return self.state_dir / "log"

    @property
    def dagster_home(self) -> Path:
        return self.state_dir / "dagster"

    @property
    def models_dir(self) -> Path:
        return self.cache_dir / "models"


def locate(
    env: Mapping[str, str], *, vault: str | None = None, profile: str | None = None
) -> VaultLocation:
    """Resolve the vault: `vault` (the --vault option), AGENTM_VAULT, profile, MEMORY_VAULT_PATH.

    The first that is given decides; nothing falls through to a later one because it is wrong.
    `profile` is the --profile option; it precedes AGENTM_PROFILE and the file's `profile` key.
    Raises ConfigError for a path that is empty, missing or no directory, for a profile that does
    not exist, and for a state directory that would lie inside the vault.
    """
    file = directories.config_file(env)
    table, text = read_toml(file)
    name, chosen_by = _profile_name(env, file, table, profile)
    written, source = _written_root(env, vault, file, table, text, name, chosen_by)
    root = _existing_directory(directories.expand_home(env, written), source)
    state = directories.state_dir(env, root)
    if Path(os.path.realpath(state)).is_relative_to(root):
        raise ConfigError(
            f"the state directory {state} lies inside the vault {root}, where it would be synced "
            "and committed. Set XDG_STATE_HOME to a folder outside the vault."
        )
    return VaultLocation(
        root=root,
        source=source,
        profile=name,
        config_file=file,
        state_dir=state,
        cache_dir=directories.cache_dir(env),
    )


def _profile_name(
    env: Mapping[str, str], file: Path, table: Mapping[str, object], option: str | None
) -> tuple[str, str | None]:
    """The profile's name and who named it (None: nobody, the default)."""
    if option is not None:
        name, chosen_by = option, "--profile"
    elif "AGENTM_PROFILE" in env:
        name, chosen_by = env["AGENTM_PROFILE"], "AGENTM_PROFILE"
    elif "profile" in table:
        written = table["profile"]
        if not isinstance(written, str):
            raise ConfigError(f'{file}: `profile` must be text, for instance profile = "default".')
        name, chosen_by = written, f"{file}"
    else:
        return DEFAULT_PROFILE, None
    if not name.strip():
        raise ConfigError(f"{chosen_by} names an empty profile. Name one, or leave it out.")
    return name, chosen_by


def _written_root(
    env: Mapping[str, str],
    option: str | None,
    file: Path,
    table: Mapping[str, object],
    text: str,
    profile: str,
    chosen_by: str | None,
) -> tuple[str, str]:
    if option is not None:
        return option, "--vault"
    profiles = _table(table, "profiles", file, text, ())
    if chosen_by in ("--profile", "AGENTM_PROFILE") and profile not in profiles:
        raise _no_such_profile(profile, chosen_by, file, profiles)
    if "AGENTM_VAULT" in env:
        return env["AGENTM_VAULT"], "AGENTM_VAULT"
    source = f"agentm.toml profile {profile}"
    if profile in profiles:
        storage = _table(
            _table(profiles, profile, file, text, ("profiles",)),
            "storage",
            file,
            text,
            ("profiles", profile),
        )
        if "root" in storage:
            return _root_in_file(storage["root"], file, text, profile), source
        raise ConfigError(f"{file}: profile `{profile}` has no storage.root. {_CURE}")
    if chosen_by is not None:
        raise _no_such_profile(profile, chosen_by, file, profiles)
    if env.get("MEMORY_VAULT_PATH"):
        return env["MEMORY_VAULT_PATH"], "MEMORY_VAULT_PATH"
    raise ConfigError(f"no vault is configured ({file} names none). {_CURE}")


def _no_such_profile(
    profile: str, chosen_by: str, file: Path, profiles: Mapping[str, object]
) -> ConfigError:
    known = ", ".join(sorted(profiles)) or "none"
    return ConfigError(
        f"there is no profile `{profile}` (named by {chosen_by}) in {file}; it has: {known}. "
        "Name one of those, or run `agentm init PATH`."
    )


def _root_in_file(value: object, file: Path, text: str, profile: str) -> str:
    line = line_of_key(text, ("profiles", profile, "storage", "root"))
    where = f"{file}:{line}" if line else f"{file}"
    if not isinstance(value, str):
        raise ConfigError(f"{where}: storage.root must be text, the path of the vault. {_CURE}")
    if value.strip() and not value.startswith(("/", "~/")) and value != "~":
        raise ConfigError(
            f"{where}: storage.root is relative, so it would change with the folder a command is "
            "started in. Write the absolute path."
        )
    return value


def _table(
    parent: Mapping[str, object], key: str, file: Path, text: str, above: tuple[str, ...]
) -> Mapping[str, object]:
    value = parent.get(key, {})
    if not isinstance(value, dict):
        path = (*above, key)
        line = line_of_key(text, path)
        where = f"{file}:{line}" if line else f"{file}"
        raise ConfigError(f"{where}: `{'.'.join(path)}` must be a table. Correct that line.")
    return value


def _existing_directory(written: str, source: str) -> Path:
    if not written.strip():
        raise ConfigError(f"the vault path from {source} is empty. {_CURE}")
    if "\0" in written:
        raise ConfigError(f"the vault path from {source} holds a NUL character. {_CURE}")
    path = Path(written).absolute()
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise ConfigError(
            f"the vault {path} (from {source}) does not exist. Create it with `agentm init`, mount "
            "it, or correct the path."
        ) from error
    except OSError as error:
        raise ConfigError(
            f"the vault {path} (from {source}) cannot be reached: {error.strerror}. Mount it, or "
            "correct the path or its permissions."
        ) from error
    if not stat.S_ISDIR(mode):
        raise ConfigError(
            f"the vault {path} (from {source}) is not a directory. Name the folder of the vault."
        )
    return Path(os.path.realpath(path))
