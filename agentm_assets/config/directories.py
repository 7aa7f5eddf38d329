"""Where agentm keeps its own files: the XDG base directories, read from a given environment."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from agentm_assets.config.errors import ConfigError

_NAME_BYTES = 200  # with the 13 bytes of the hash well under the 255 that file systems allow


def config_file(env: Mapping[str, str]) -> Path:
    """The path of `agentm.toml`: `AGENTM_CONFIG` if set, else in the XDG config directory.

    Raises ConfigError when `AGENTM_CONFIG` is set and empty.
    """
    named = env.get("AGENTM_CONFIG")
    if named is None:
        return _base(env, "XDG_CONFIG_HOME", ".config") / "agentm" / "agentm.toml"
    if not named.strip():
        raise ConfigError(
            "AGENTM_CONFIG is set and empty. Give it the path of an agentm.toml, or unset it."
        )
    return Path(expand_home(env, named)).absolute()


def state_dir(env: Mapping[str, str], vault_root: Path) -> Path:
    """The folder of one vault's index and logs; two vaults of one name never share it."""
    return store_state_dir(env, os.path.realpath(vault_root))


def store_state_dir(env: Mapping[str, str], identity: str) -> Path:
    """The same by what tells a store from any other: a real path, or a URL."""
    digest = hashlib.sha256(os.fsencode(identity)).hexdigest()[:12]
    name = os.fsdecode(os.fsencode(identity.rstrip("/").rpartition("/")[2])[:_NAME_BYTES])
    return engine_dir(env) / f"{name}-{digest}"


def engine_dir(env: Mapping[str, str]) -> Path:
    """The folder of what belongs to this machine and to no one vault (the registry of checkouts);
    the folders of the vaults stand in it."""
    return _base(env, "XDG_STATE_HOME", ".local/state") / "agentm"


def cache_dir(env: Mapping[str, str]) -> Path:
    """The folder of what can be fetched or computed again and is shared by vaults (models)."""
    return _base(env, "XDG_CACHE_HOME", ".cache") / "agentm"


def data_dir(env: Mapping[str, str]) -> Path:
    """The folder of what agentm makes for the operator unless another is named (the sample)."""
    return _base(env, "XDG_DATA_HOME", ".local/share") / "agentm"


def device_local_root(env: Mapping[str, str]) -> Path:
    """Where notes go while no vault is configured. The first write makes it."""
    return data_dir(env) / "memory"


def expand_home(env: Mapping[str, str], path: str) -> str:
    """`path` with a leading `~/` replaced by the home directory; `~name` is left as it is."""
    if path == "~" or path.startswith("~/"):
        return f"{_home(env)}{path[1:]}"
    return path


def _base(env: Mapping[str, str], variable: str, default: str) -> Path:
    # XDG Base Directory Specification 0.8: a relative path is invalid and must be ignored.
    named = env.get(variable, "")
    if Path(named).is_absolute():
        return Path(named)
    return _home(env) / default


def _home(env: Mapping[str, str]) -> Path:
    home = Path(env.get("HOME", ""))
    return home if home.is_absolute() else Path.home()
