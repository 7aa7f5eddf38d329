"""Where the warm server of a vault listens for hooks: a socket in its state folder.

Standard library only: a hook that must answer within 300 ms imports this.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOCKET = "warm.sock"
LOCK = "warm.lock"

LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of one request or reply."""

_LONGEST_ADDRESS = 100  # bytes: sun_path holds 108 on Linux and 104 on macOS, with a final NUL


@contextmanager
def address_of(state_dir: Path) -> Iterator[str]:
    """What to bind or connect to; it holds while the block runs.

    A socket's path may be no longer than some 100 bytes. A longer one is reached through the open
    folder, where the system has /proc. Raises OSError when the folder can't be opened.
    """
    path = str(state_dir / SOCKET)
    if len(os.fsencode(path)) <= _LONGEST_ADDRESS:
        yield path
        return
    folder = os.open(state_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{SOCKET}"
    finally:
        os.close(folder)


def read_line(connection: socket.socket) -> bytes:
    """One line, without its end. Raises OSError (TimeoutError too) and ValueError for one over
    LONGEST_LINE."""
    pieces: list[bytes] = []
    size = 0
    while True:
        piece = connection.recv(65_536)
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
        if size > LONGEST_LINE:
            raise ValueError(f"the line is over {LONGEST_LINE} bytes")
        if piece.endswith(b"\n"):
            break
    return b"".join(pieces).removesuffix(b"\n")
