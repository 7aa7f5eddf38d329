"""Files of machine records in the vault: one line an entry, added to and never rewritten."""

from collections.abc import Sequence
from contextlib import suppress

from agentm_assets.storage.locator import Locator
from agentm_assets.storage.retry import read_modify_write
from agentm_assets.storage.seam import ABSENT, StorageBackend


def append_lines(backend: StorageBackend, record: Locator, lines: Sequence[bytes]) -> bytes:
    """Add lines (without their ends), and return the file's bytes as they are now.

    A last line that something tore (it has no line end) stays, alone on its line: it spoils no
    other. Lines that are there already are not added again. Raises StorageError.
    """

    def longer(old: bytes) -> bytes:
        known = set(old.split(b"\n"))
        end = b"\n" if old and not old.endswith(b"\n") else b""
        new = [line + b"\n" for line in lines if line not in known]
        return old + end + b"".join(new) if new else old

    if not backend.exists(record):
        with suppress(FileExistsError):  # another run was quicker: its lines are added to
            backend.write_bytes(record, longer(b""), expect=ABSENT)
    read_modify_write(backend, record, longer)
    return backend.read_bytes(record)
