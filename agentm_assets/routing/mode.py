"""Whether a checkout keeps its state to itself: a mark in the repository, then the device's key.

Both stand outside the store: what says whether to use a store can't be read from that store.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from agentm_assets.config.directories import config_file
from agentm_assets.config.errors import ConfigError
from agentm_assets.config.toml_file import read_toml

Mode = Literal["local", "backend"]

HARNESS: Final = ".harness"
MARKER: Final = ".project-mode"

# `vault` is what files said before there were other backends; it is read as `backend`, and the
# file stays as it is.
_MODES: Final[Mapping[str, Mode]] = {"local": "local", "backend": "backend", "vault": "backend"}
_CURE = "Write local or backend, or leave it empty."
_MARKER_BYTES = 4096


def state_mode(project_root: Path, env: Mapping[str, str]) -> tuple[Mode | None, str]:
    """The mode and what said so: the repository's mark, else `state_mode` of agentm.toml.

    An empty mark counts as none. (None, "") when neither says anything. Raises ConfigError for a
    word that is no mode (a misspelt `local` must not send state to the vault) and for a mark that
    can't be read.
    """
    marker = project_root / HARNESS / MARKER
    found = _mode(_marker_text(marker), str(marker))
    if found is not None:
        return found, str(marker)
    file = config_file(env)
    table, _text = read_toml(file)
    written = table.get("state_mode", "")
    if not isinstance(written, str):
        raise ConfigError(f"{file}: `state_mode` must be text. {_CURE}")
    found = _mode(written, f"{file}: `state_mode`")
    return found, f"{file}" if found is not None else ""


def _marker_text(marker: Path) -> str:
    try:
        with marker.open("rb") as file:
            return file.read(_MARKER_BYTES).decode("utf-8-sig", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise ConfigError(
            f"{marker} can't be read ({error.strerror}), so it is not known whether this checkout "
            "keeps its state to itself. Mend it, or remove it."
        ) from error


def _mode(written: str, where: str) -> Mode | None:
    word = written.strip().casefold()
    if word and word not in _MODES:
        raise ConfigError(f"{where} holds a word that is no mode. {_CURE}")
    return _MODES.get(word)
