"""Reading `agentm.toml` with errors that name the file and the line."""

import re
from pathlib import Path

from agentm_assets.config.errors import ConfigError
from agentm_assets.contract.lines import split_lines

_TABLE = re.compile(r"^[ \t]*\[([^\[\]]+)\][ \t]*(?:#.*)?$")
_KEY = re.compile(r"""^[ \t]*("[^"]*"|'[^']*'|[A-Za-z0-9_.-]+)[ \t]*=""")


def read_toml(path: Path) -> tuple[dict[str, object], str]:
    """The content of the file and its text; `({}, "")` when there is no file.

    Raises ConfigError when it cannot be read, is not UTF-8 or is not TOML.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return {}, ""
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}. Mend its permissions, or name another file "
            "with AGENTM_CONFIG."
        ) from error
    import tomllib  # most machines of one vault need no file, and a capture waits for imports

    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}. Correct that line.") from error


def line_of_key(text: str, key: tuple[str, ...]) -> int | None:
    """The line, counted from 1, where `key` (with its tables) stands; None when not found.

    Inline tables and multi-line strings are not followed: the line only helps a person to look.
    """
    table: tuple[str, ...] = ()
    for number, raw in enumerate(split_lines(text), start=1):
        line = raw.rstrip("\r\n")
        if header := _TABLE.match(line):
            table = _parts(header[1])
            if table == key:
                return number
        elif (entry := _KEY.match(line)) and table + _parts(entry[1]) == key:
            return number
    return None


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
