"""Read, change, write back: no update is lost, and a lost race is bounded."""

import subprocess
import sys
from pathlib import Path

import pytest

from agentm_assets.storage.locator import Locator
from agentm_assets.storage.retry import ATTEMPTS, Written, read_modify_write
from agentm_assets.storage.seam import (
    ConcurrentModificationError,
    OwnershipLost,
    StorageError,
    content_hash,
)
from agentm_assets.storage.vault_backend import VaultBackend

ROOT = Path(__file__).resolve().parents[2]
NOTE = Locator("note.md")


@pytest.fixture
def backend(tmp_path: Path) -> VaultBackend:
    (tmp_path / "vault").mkdir()
    return VaultBackend(tmp_path / "vault", tmp_path / "locks")


_COUNTING = """
import sys
from pathlib import Path
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.retry import read_modify_write
from agentm_assets.storage.seam import ConcurrentModificationError
from agentm_assets.storage.vault_backend import VaultBackend
backend = VaultBackend(Path(sys.argv[1]), Path(sys.argv[2]))
for turn in range(15):
    line = f"{sys.argv[3]}.{turn}\\n".encode()
    while True:
        try:
            read_modify_write(backend, Locator("note.md"), lambda old: old + line)
            break
        except ConcurrentModificationError:
            continue
"""


def test_eight_processes_lose_no_update_on_one_note(backend: VaultBackend, tmp_path: Path) -> None:
    backend.write_bytes(NOTE, b"")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _COUNTING, tmp_path / "vault", tmp_path / "locks", str(number)],
            cwd=ROOT,
        )
        for number in range(8)
    ]
    assert [writer.wait(timeout=100) for writer in writers] == [0] * 8
    lines = backend.read_bytes(NOTE).split()
    assert sorted(lines) == sorted(f"{n}.{t}".encode() for n in range(8) for t in range(15))
    for number in range(8):  # each writer's lines stand in the order it wrote them
        own = [line for line in lines if line.startswith(b"%d." % number)]
        assert own == [b"%d.%d" % (number, turn) for turn in range(15)]


def test_the_change_is_made_again_from_what_the_other_writer_left(backend: VaultBackend) -> None:
    backend.write_bytes(NOTE, b"a")
    read: list[bytes] = []

    def change(old: bytes) -> bytes:
        read.append(old)
        if len(read) < ATTEMPTS:  # another writer is quicker
            backend.write_bytes(NOTE, old + b"x", expect=content_hash(old))
        return old + b"mine"

    written = read_modify_write(backend, NOTE, change, sleep=lambda seconds: None)
    assert read == [b"a", b"ax", b"axx", b"axxx", b"axxxx"]
    assert backend.read_bytes(NOTE) == b"axxxxmine"
    assert written == Written(content_hash(b"axxxx"), content_hash(b"axxxxmine"), True, b"axxxx")


@pytest.mark.parametrize("lost", [ConcurrentModificationError, OwnershipLost])
def test_races_are_lost_at_most_five_times_with_growing_waits(
    backend: VaultBackend, monkeypatch: pytest.MonkeyPatch, lost: type[StorageError]
) -> None:
    backend.write_bytes(NOTE, b"a")
    waits: list[float] = []

    def lose(*_: object, **__: object) -> str:
        raise lost("lost")

    monkeypatch.setattr(backend, "write_bytes", lose)
    with pytest.raises(lost):
        read_modify_write(backend, NOTE, lambda old: old + b"b", sleep=waits.append)
    assert len(waits) == ATTEMPTS - 1
    assert all(0.005 * 2**n <= wait <= 0.015 * 2**n for n, wait in enumerate(waits))
    assert backend.read_bytes(NOTE) == b"a"


def test_other_failures_are_not_tried_again(
    backend: VaultBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.write_bytes(NOTE, b"a")
    tried: list[int] = []

    def fail(*_: object, **__: object) -> str:
        tried.append(1)
        raise StorageError("the disk is full")

    monkeypatch.setattr(backend, "write_bytes", fail)
    with pytest.raises(StorageError, match="full"):
        read_modify_write(backend, NOTE, lambda old: old + b"b")
    assert len(tried) == 1


def test_nothing_is_written_where_nothing_changes(backend: VaultBackend, tmp_path: Path) -> None:
    backend.write_bytes(NOTE, b"a")
    before = (tmp_path / "vault" / "note.md").stat()
    heard: list[bytes] = []
    written = read_modify_write(
        backend, NOTE, lambda old: old, before_write=lambda old, new: heard.append(old)
    )
    assert (written.changed, written.before) == (False, written.after)
    assert (tmp_path / "vault" / "note.md").stat().st_ino == before.st_ino
    assert heard == []


def test_an_absent_note_is_not_made(backend: VaultBackend) -> None:
    with pytest.raises(FileNotFoundError):
        read_modify_write(backend, NOTE, lambda old: old + b"b")
    assert not backend.exists(NOTE)
