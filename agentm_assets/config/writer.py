"""Writing `agentm.toml`: one profile is merged in, every other byte stays."""

import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import tomlkit
from pydantic import ValidationError
from tomlkit.items import Table

from agentm_assets.config.errors import ConfigError
from agentm_assets.config.settings import AgentmFile, read_file
from agentm_assets.config.toml_file import read_toml

KEYS = ("storage.backend", "storage.root", "embedder.model", "reranker.folder")
"""What can be written into a profile, dotted."""

_PATHS = ("storage.root", "reranker.folder")


def write_profile(
    config_file: Path, profile: str, values: Mapping[str, str], *, make_current: bool = False
) -> None:
    """Set `values` (keys of KEYS) in `[profiles.<profile>]` of `config_file`, creating what lacks.

    A relative path is made absolute against the current folder, now, since a later
    process may start elsewhere; a URL stays as it is. `make_current` also sets the top-level
    `profile`. Keys, comments and layout of the rest are kept. The file is replaced in one step and
    the bytes are on disk when this returns; a symlinked file is replaced where it points to.

    Raises ConfigError for a key that is not in KEYS, an empty value, a file that cannot be read as
    it stands (it is left untouched) or cannot be written.
    """
    for key, value in values.items():
        if key not in KEYS:
            raise ConfigError(f"`{key}` is not a key of a profile. Keys: {', '.join(KEYS)}.")
        if not value.strip():
            raise ConfigError(f"`{key}` cannot be set to an empty value. Give it a value.")
    if not profile.strip():
        raise ConfigError("the name of a profile cannot be empty. Name it.")
    read_file(config_file)  # a file that does not hold is not ours to change
    _table, text = read_toml(config_file)
    document = tomlkit.parse(text)
    if make_current:
        document["profile"] = profile
    target = _subtable(_subtable(cast("Table", document), "profiles", super_table=True), profile)
    for key, value in values.items():
        section, name = key.split(".")
        if key in _PATHS and "://" not in value:
            value = str(Path(value).expanduser().absolute())
        _subtable(target, section)[name] = value
    written = tomlkit.dumps(document)
    try:
        AgentmFile.model_validate(tomlkit.parse(written).unwrap())
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"`{path}` cannot be set: {first['msg'].lower()}.") from error
    _replace(config_file, written.encode("utf-8"))


def _subtable(parent: Any, name: str, *, super_table: bool = False) -> Any:
    if name not in parent:
        parent[name] = tomlkit.table(is_super_table=super_table)
    return parent[name]


def _replace(path: Path, data: bytes) -> None:
    target = Path(os.path.realpath(path))
    temporary = target.parent / f".agentm-{secrets.token_hex(8)}.tmp"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        with temporary.open("xb") as handle:
            if mode is not None:
                os.fchmod(handle.fileno(), mode)
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(target)
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ConfigError(
            f"{target} cannot be written: {error.strerror}. Mend the permissions of its folder, or "
            "name another file with AGENTM_CONFIG."
        ) from error
