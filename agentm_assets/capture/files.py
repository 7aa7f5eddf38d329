"""Small files of this machine, beside the index: appended to or replaced, by many processes."""

import os
from pathlib import Path

from agentm_assets.storage.atomic import sync_folder


def append_line(file: Path, line: str) -> None:
    """Append one line to a log that several processes write. Raises OSError."""
    data = b"\n" + line.encode() + b"\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    try:
        handle = os.open(file, flags, 0o666)
    except FileNotFoundError:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(file, flags, 0o666)
    try:
        if os.write(handle, data) < len(data):
            raise OSError("the line was cut short")
    finally:
        os.close(handle)


def replace_whole(file: Path, content: str | bytes) -> None:
    """Put `content` in the place of a small file. A reader sees the old or the new, also after a
    power cut. Raises OSError."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        with temporary.open("xb") as new:
            new.write(content.encode() if isinstance(content, str) else content)
            new.flush()
            os.fsync(new.fileno())
        temporary.replace(file)
        sync_folder(file.parent)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
