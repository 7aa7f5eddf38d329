"""The one resolver of the store that holds the vault: which backend, and where.

Standard library only: capture and hooks use it too. What a backend's name stands for, and opening
it, is `agentm_assets.storage.selection`.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentm_assets.config import directories
from agentm_assets.config.errors import ConfigError
from agentm_assets.config.toml_file import line_of_key, read_toml

DEFAULT_PROFILE = "default"
VAULT, DEVICE_LOCAL, FSSPEC = "vault", "device-local", "fsspec"
"""The backends that come with agentm."""

_CURE = "Run `agentm init PATH`, or set AGENTM_VAULT to the folder of the vault."


@dataclass(frozen=True, slots=True)
class VaultLocation:
    """Which vault this process works on, who said so, and where its derived files live.

    `root` is absolute and without symlinks; for a store that is no folder of this machine it is a
    path in the state directory at which there is nothing. `store` is what the backend opens: the
    root's path, or a URL. `source` is "--vault", "AGENTM_VAULT", "agentm.toml profile NAME",
    "MEMORY_VAULT_PATH" or "the default".
    """

    root: Path
    source: str
    profile: str
    config_file: Path
    state_dir: Path
    cache_dir: Path
    backend: str = VAULT
    store: str = ""
    is_default: bool = False  # agentm's own folder, which the first write makes

    def __post_init__(self) -> None:
        if not self.store:
            object.__setattr__(self, "store", str(self.root))

    @property
    def in_folder(self) -> bool:
        """Is the store a folder of this machine, so that git can work in it?"""
        return self.store == str(self.root)

    @property
    def locks_dir(self) -> Path:
        return self.cache_dir / "locks"

    def environment(self) -> dict[str, str]:
        """The variables with which another process of agentm works on the same store."""
        if self.backend in (VAULT, DEVICE_LOCAL, FSSPEC):
            return {"AGENTM_VAULT": self.store}
        return {"AGENTM_PROFILE": self.profile}

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
    """Resolve the store: `vault` (the --vault option), AGENTM_VAULT, the profile's storage,
    MEMORY_VAULT_PATH, else agentm's own folder on this device.

    The first that is given decides; nothing falls through to a later one because it is wrong.
    `profile` is the --profile option; it precedes AGENTM_PROFILE and the file's `profile` key.
    Raises ConfigError for a path that is empty, missing or no directory, for a profile that does
    not exist, a backend without its root, and for a state directory that would lie inside the
    vault.
    """
    file = directories.config_file(env)
    table, text = read_toml(file)
    name, chosen_by = _profile_name(env, file, table, profile)
    choice = _choice(env, vault, file, table, text, name, chosen_by)
    if choice.backend not in (VAULT, DEVICE_LOCAL):
        state = directories.store_state_dir(env, choice.store)
        root, store = state / "no-folder", choice.store
    else:
        if choice.is_default:
            root = Path(os.path.realpath(choice.store))
        else:
            root = _existing_directory(directories.expand_home(env, choice.store), choice.source)
        state, store = directories.state_dir(env, root), str(root)
        if Path(os.path.realpath(state)).is_relative_to(root):
            raise ConfigError(
                f"the state directory {state} lies inside the vault {root}, where it would be "
                "synced and committed. Set XDG_STATE_HOME to a folder outside the vault."
            )
    return VaultLocation(
        root=root,
        source=choice.source,
        profile=name,
        config_file=file,
        state_dir=state,
        cache_dir=directories.cache_dir(env),
        backend=choice.backend,
        store=store,
        is_default=choice.is_default,
    )


@dataclass(frozen=True, slots=True)
class _Choice:
    backend: str
    store: str
    source: str
    is_default: bool = False


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


def _choice(
    env: Mapping[str, str],
    option: str | None,
    file: Path,
    table: Mapping[str, object],
    text: str,
    profile: str,
    chosen_by: str | None,
) -> _Choice:
    if option is not None:
        return _named(env, option, "--vault")
    profiles = _table(table, "profiles", file, text, ())
    if chosen_by in ("--profile", "AGENTM_PROFILE") and profile not in profiles:
        raise _no_such_profile(profile, chosen_by, file, profiles)
    if "AGENTM_VAULT" in env:
        return _named(env, env["AGENTM_VAULT"], "AGENTM_VAULT")
    if profile in profiles:
        above = ("profiles", profile)
        chosen = _table(profiles, profile, file, text, above[:1])
        storage = _table(chosen, "storage", file, text, above)
        if "backend" in storage or "root" in storage:
            return _in_file(env, storage, file, text, profile)
    elif chosen_by is not None:
        raise _no_such_profile(profile, chosen_by, file, profiles)
    if env.get("MEMORY_VAULT_PATH"):
        return _Choice(VAULT, env["MEMORY_VAULT_PATH"], "MEMORY_VAULT_PATH")
    return _default(env, "the default")


def _default(env: Mapping[str, str], source: str) -> _Choice:
    return _Choice(DEVICE_LOCAL, str(directories.device_local_root(env)), source, is_default=True)


def _named(env: Mapping[str, str], written: str, source: str) -> _Choice:
    """The store that one text names: a URL, or a folder. agentm's own folder stays device-local
    when one process hands its path to another."""
    if "://" in written:
        return _Choice(FSSPEC, written, source)
    own = os.path.realpath(directories.device_local_root(env))
    if written.strip() and "\0" not in written and os.path.realpath(written) == own:
        return _default(env, source)
    return _Choice(VAULT, written, source)


def _in_file(
    env: Mapping[str, str],
    storage: Mapping[str, object],
    file: Path,
    text: str,
    profile: str,
) -> _Choice:
    source = f"agentm.toml profile {profile}"
    backend = storage.get("backend", VAULT)
    if not isinstance(backend, str) or not backend.strip():
        where = _where(file, text, ("profiles", profile, "storage", "backend"))
        raise ConfigError(
            f"{where}: storage.backend must be text, the name of a storage backend, for instance "
            f'"{VAULT}". Correct that line.'
        )
    if "root" in storage:
        written = _root_in_file(storage["root"], file, text, profile)
        if backend in (VAULT, DEVICE_LOCAL):
            _require_absolute(written, file, text, profile)
        return _Choice(backend, written, source)
    if backend == DEVICE_LOCAL:
        return _default(env, source)
    raise ConfigError(
        f"{file}: profile `{profile}` has storage.backend `{backend}` but no storage.root. {_CURE}"
    )


def _no_such_profile(
    profile: str, chosen_by: str, file: Path, profiles: Mapping[str, object]
) -> ConfigError:
    known = ", ".join(sorted(profiles)) or "none"
    return ConfigError(
        f"there is no profile `{profile}` (named by {chosen_by}) in {file}; it has: {known}. "
        "Name one of those, or run `agentm init PATH`."
    )


def _root_in_file(value: object, file: Path, text: str, profile: str) -> str:
    if not isinstance(value, str):
        where = _where(file, text, ("profiles", profile, "storage", "root"))
        raise ConfigError(f"{where}: storage.root must be text, the path of the vault. {_CURE}")
    if not value.strip():
        raise ConfigError(f"the vault path from agentm.toml profile {profile} is empty. {_CURE}")
    return value


def _require_absolute(written: str, file: Path, text: str, profile: str) -> None:
    if not written.startswith(("/", "~/")) and written != "~":
        where = _where(file, text, ("profiles", profile, "storage", "root"))
        raise ConfigError(
            f"{where}: storage.root is relative, so it would change with the folder a command is "
            "started in. Write the absolute path."
        )


def _where(file: Path, text: str, key: tuple[str, ...]) -> str:
    line = line_of_key(text, key)
    return f"{file}:{line}" if line else f"{file}"


def _table(
    parent: Mapping[str, object], key: str, file: Path, text: str, above: tuple[str, ...]
) -> Mapping[str, object]:
    value = parent.get(key, {})
    if not isinstance(value, dict):
        path = (*above, key)
        raise ConfigError(
            f"{_where(file, text, path)}: `{'.'.join(path)}` must be a table. Correct that line."
        )
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
