"""Backends and rebuilds that are wrong in one way each, to see that the suite notices.

In a module of its own, beside the tests, so that the processes of the suite can import it.
"""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentm_assets.storage.conformance.rebuild import digest_of_notes
from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.personal import is_personal
from agentm_assets.storage.seam import (
    Absent,
    ConcurrentModificationError,
    Entry,
    Expect,
    Info,
    PersonalAuthorization,
    StorageBackend,
    content_hash,
)
from agentm_assets.storage.vault_backend import VaultBackend


class LowercaseKeys(VaultBackend):
    def resolve(self, *parts: str) -> Locator:
        return super().resolve(*(part.lower() for part in parts))


class MendsBadKeys(VaultBackend):
    """`..` and the like are silently dropped instead of refused."""

    def resolve(self, *parts: str) -> Locator:
        clean = "/".join(parts).replace("\\", "/").replace("\0", "").encode("utf-8", "replace")
        kept = [part for part in clean.decode().split("/") if part not in ("", ".", "..", "C:")]
        return Locator("/".join(kept))


class TakesDotNames(VaultBackend):
    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        if locator.key == ".hidden.md":
            Path(self.identity, locator.key).write_bytes(data)
            return content_hash(data)
        return super().write_bytes(locator, data, expect=expect)


class PersonalByExactCase(VaultBackend):
    """Compares the first segment as it is written."""

    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        if locator.key.startswith("Personal/"):
            return self._put(locator, data, expect, personal=True)
        return super().write_bytes(locator, data, expect=expect)


class AnyWordOpensPersonal(VaultBackend):
    def personal_write(
        self, locator: Locator, data: bytes, authorization: PersonalAuthorization, *, expect: Expect
    ) -> str:
        return self._put(locator, data, expect, personal=True)


class AbsentIsEmpty(VaultBackend):
    def read_bytes(self, locator: Locator, *, limit: int | None = None) -> bytes:
        try:
            return super().read_bytes(locator, limit=limit)
        except FileNotFoundError:
            return b""


class DropsOverwrites(VaultBackend):
    """A plain write over a note that is there says yes and does nothing."""

    def write(self, locator: Locator, text: str, *, expect: Expect = None) -> str:
        if expect is None and self.exists(locator) and "deep" in locator.key:
            return content_hash(text.encode())
        return super().write(locator, text, expect=expect)


class StripsCarriageReturns(VaultBackend):
    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        if expect == content_hash(data):  # the caller takes for granted what it wrote
            expect = content_hash(data.replace(b"\r\n", b"\n"))
        super().write_bytes(locator, data.replace(b"\r\n", b"\n"), expect=expect)
        return content_hash(data)


class UniversalNewlines(VaultBackend):
    def read(self, locator: Locator) -> str:
        return super().read(locator).replace("\r\n", "\n").replace("\r", "\n")


class GarblesWords(VaultBackend):
    def write(self, locator: Locator, text: str, *, expect: Expect = None) -> str:
        if locator.name.startswith("text "):
            data = text.encode("ascii", "replace")
            return self.write_bytes(locator, data, expect=expect)
        return super().write(locator, text, expect=expect)


class RemembersAbsence(VaultBackend):
    def __init__(self, root: Path, locks_dir: Path) -> None:
        super().__init__(root, locks_dir)
        self._absent: set[str] = set()

    def exists(self, locator: Locator) -> bool:
        if locator.key in self._absent or not super().exists(locator):
            self._absent.add(locator.key)
        return locator.key not in self._absent


class SizeInCharacters(VaultBackend):
    def info(self, locator: Locator) -> Info:
        found = super().info(locator)
        size = found.size if found.is_dir else len(self.read(locator))
        return Info(locator, found.is_dir, size, found.mtime)


class NoLimit(VaultBackend):
    def read_bytes(self, locator: Locator, *, limit: int | None = None) -> bytes:
        return super().read_bytes(locator)


class MkdirOnce(VaultBackend):
    def mkdir(self, locator: Locator) -> None:
        if self.exists(locator):
            raise FileExistsError(locator.key)
        super().mkdir(locator)


class ListsBackwards(VaultBackend):
    def list(self, locator: Locator) -> Any:
        return super().list(locator)[::-1]


class RaisesOnAbsentList(VaultBackend):
    def list(self, locator: Locator) -> Any:
        if not self.exists(locator):
            raise FileNotFoundError(locator.key)
        return super().list(locator)


class WalksWrongSizes(VaultBackend):
    def walk(
        self, locator: Locator, on_folder: Callable[[int], None] | None = None
    ) -> Iterator[Entry]:
        for entry in super().walk(locator, on_folder):
            yield Entry(entry.path, entry.kind, 1, entry.mtime_ns, entry.reason)


class WalksOnce(VaultBackend):
    """Keeps the first walk for good, as a stale listing cache does."""

    _kept: tuple[Entry, ...] | None = None

    def walk(
        self, locator: Locator, on_folder: Callable[[int], None] | None = None
    ) -> Iterator[Entry]:
        if locator != ROOT:
            yield from super().walk(locator, on_folder)
            return
        if self._kept is None:
            self._kept = tuple(super().walk(locator, on_folder))
        elif on_folder is not None:
            on_folder(len(self._kept))
        yield from self._kept


class Deaf(VaultBackend):
    def watch(self, stop: Callable[[], bool], timeout_ms: int) -> Iterator[frozenset[str]]:
        for _ in super().watch(stop, timeout_ms):
            yield frozenset()


class CannotBeHandedOn(VaultBackend):
    def __init__(self, root: Path, locks_dir: Path) -> None:
        super().__init__(root, locks_dir)
        self._lock = threading.Lock()


class IgnoresExpectedHash(VaultBackend):
    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        known = None if isinstance(expect, str) else expect
        return super().write_bytes(locator, data, expect=known)


class ComparesWithoutLock(VaultBackend):
    """Right for one writer: looks, then writes."""

    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        if not isinstance(expect, str) or is_personal(locator):
            return super().write_bytes(locator, data, expect=expect)
        try:
            found = content_hash(self.read_bytes(locator))
        except FileNotFoundError:
            found = ""
        if found != expect:
            raise ConcurrentModificationError(locator.key)
        return super().write_bytes(locator, data)


class OverwritesWhenAbsentIsMeant(VaultBackend):
    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        known = None if isinstance(expect, Absent) else expect
        return super().write_bytes(locator, data, expect=known)


class LooksThenReserves(VaultBackend):
    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        if not isinstance(expect, Absent):
            return super().write_bytes(locator, data, expect=expect)
        if self.exists(locator):
            raise FileExistsError(locator.key)
        return super().write_bytes(locator, data)


class TornWriter(VaultBackend):
    """Writes into the file that readers open."""

    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        path = Path(self.identity, locator.key)
        if expect is not None or locator.name != "shared.md" or not path.exists():
            return super().write_bytes(locator, data, expect=expect)
        with path.open("r+b") as file:
            file.truncate(0)
            for at in range(0, len(data), 4096):
                file.write(data[at : at + 4096])
                file.flush()
        return content_hash(data)


class LeavesTempFiles(VaultBackend):
    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        if locator.name == "shared.md" and expect is None and self.exists(locator):
            Path(self.identity, f"{locator.key}.tmp").write_bytes(data)
        return super().write_bytes(locator, data, expect=expect)


class MovesOverWhatIsThere(VaultBackend):
    def rename_unlinked(self, source: Locator, target: Locator, *, expect: str) -> None:
        if self.exists(target):
            self._compare(source, expect)
            Path(self.identity, source.key).rename(Path(self.identity, target.key))
        else:
            super().rename_unlinked(source, target, expect=expect)


class CopiesInsteadOfMoving(VaultBackend):
    def rename_unlinked(self, source: Locator, target: Locator, *, expect: str) -> None:
        data = self.read_bytes(source)
        super().rename_unlinked(source, target, expect=expect)
        if source.name != "index.md":
            self.write_bytes(source, data)


BROKEN: dict[type[StorageBackend], set[str]] = {
    LowercaseKeys: {"locators"},
    MendsBadKeys: {"invalid locators"},
    TakesDotNames: {"names"},
    PersonalByExactCase: {"personal space"},
    AnyWordOpensPersonal: {"personal space"},
    AbsentIsEmpty: {"absent"},
    DropsOverwrites: {"write and read"},
    StripsCarriageReturns: {"bytes are exact"},
    UniversalNewlines: {"bytes are exact"},
    GarblesWords: {"bytes are exact"},
    RemembersAbsence: {"exists flips"},
    SizeInCharacters: {"info"},
    NoLimit: {"limit"},
    MkdirOnce: {"mkdir twice"},
    ListsBackwards: {"list children"},
    RaisesOnAbsentList: {"list of absent and file"},
    WalksWrongSizes: {"walk"},
    WalksOnce: {"derived rebuild"},
    Deaf: {"watch"},
    CannotBeHandedOn: {"handed to a process"},
    IgnoresExpectedHash: {"compare and swap", "writers lose no update"},
    ComparesWithoutLock: {"writers lose no update"},
    OverwritesWhenAbsentIsMeant: {"only when absent", "writers reserve a name once"},
    LooksThenReserves: {"writers reserve a name once"},
    TornWriter: {"writers leave one whole payload"},
    LeavesTempFiles: {"writers leave one whole payload"},
    MovesOverWhatIsThere: {"rename"},
    CopiesInsteadOfMoving: {"rename"},
}
"""Each with the checks that must fail, and no other."""


def constant_rebuild(backend: StorageBackend) -> bytes:
    return b"always the same\n"


def dropping_rebuild(backend: StorageBackend) -> bytes:
    """Forgets the notes of one space."""
    lines = digest_of_notes(backend).split(b"\n")
    return b"\n".join(line for line in lines if not line.startswith(b"projects/"))


class CountingRebuild:
    """Puts something of the build itself into what it builds."""

    def __init__(self) -> None:
        self._builds = 0

    def __call__(self, backend: StorageBackend) -> bytes:
        self._builds += 1
        return digest_of_notes(backend) + str(self._builds).encode()


def namesonly_rebuild(backend: StorageBackend) -> bytes:
    """Follows names, not contents."""
    return "".join(entry.path for entry in backend.walk(ROOT)).encode()
