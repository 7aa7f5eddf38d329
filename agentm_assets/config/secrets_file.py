"""`secrets.toml` beside agentm.toml: keys for those who keep them out of the environment.

One line a key, under the name that the variable would have: `ANTHROPIC_API_KEY = "…"`. It is read
only while nobody but its owner can. No error quotes anything of it.
"""

import os
import re
import stat
import tomllib
from pathlib import Path

from agentm_assets.config.errors import ConfigError

FILE = "secrets.toml"
_MOST_BYTES = 64 * 1024
_LINE = re.compile(r"at line (\d+)")


def read_secrets(config_file: Path) -> dict[str, str]:
    """The keys by their names; none without a file. Raises ConfigError."""
    path = config_file.with_name(FILE)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}. Mend its permissions."
        ) from None
    try:
        _require_private(path, os.fstat(handle))
        data = os.read(handle, _MOST_BYTES + 1)
    finally:
        os.close(handle)
    line = ""
    table: dict[str, object] | None = None
    try:
        if len(data) <= _MOST_BYTES:
            table = tomllib.loads(data.decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        line = f" (line {found[1]})" if found else ""
    except UnicodeDecodeError:
        line = " (not UTF-8)"
    # raised out here, so that no cause of it holds the text
    if table is None:
        raise ConfigError(f'{path} is no list of keys{line}. Write NAME = "key", one a line.')
    keys = {name: value for name, value in table.items() if isinstance(value, str)}
    if len(keys) < len(table):
        raise ConfigError(f'{path} holds something else than keys. Write NAME = "key", one a line.')
    return keys


def _require_private(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ConfigError(f"{path} is no file. Put the keys into a file of that name.")
    if found.st_uid not in (os.geteuid(), 0):
        raise ConfigError(f"{path} belongs to another user, who can change it. Own it yourself.")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise ConfigError(
            f"{path} can be read by others (mode {stat.S_IMODE(found.st_mode):04o}), so its keys "
            f"are not used. chmod 600 {path}; if others have used this machine, change the keys."
        )
