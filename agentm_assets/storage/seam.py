"""The verbs that every store has: the only way to a byte of the vault.

The engine holds `Locator` values and calls these. Standard library only, since a capture waits for
this import.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from enum import Enum
from hashlib import sha256
from typing import ClassVar, Final, Literal, Self

from agentm_assets.storage.locator import Locator


class StorageError(Exception):
    """Something in the store can't be used; the text names the place and the cure."""


class StoreUnreachable(StorageError):
    """The store as a whole can't be reached: its root is gone, unmounted or shut."""


class NoteUnreadable(StorageError):
    """One file can't be read. `code` is the finding's code; `message` and `cure` say more.

    Codes: "outside-vault", "symlink-skipped", "not-a-file", "too-large", "unreadable".
    """

    def __init__(self, code: str, message: str, cure: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}; {cure}" if path else f"{message}; {cure}")
        self.code = code
        self.message = message
        self.cure = cure
        self.path = path

    def __reduce__(self) -> tuple[type["NoteUnreadable"], tuple[str, str, str, str]]:
        return type(self), (self.code, self.message, self.cure, self.path)


class ConcurrentModificationError(StorageError):
    """The bytes in the store are not those that the caller read. Read again, and try again."""


class WriteRefused(StorageError):
    """The store does not let this verb write there."""


class LockTimeout(StorageError):
    """Another process held the vault's lock for longer than the wait allowed."""


class OwnershipLost(StorageError):
    """The lock went to another owner while this one was away; nothing more was written."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store promises. All False asks for nothing."""

    concurrent_writers: bool = False  # several processes may write; compare-and-swap holds
    conflict_files: bool = False  # a sync client may leave conflict copies
    encryption: bool = False  # bytes are encrypted at rest by the store
    sync: bool = False  # what is written reaches the operator's other devices

    def unmet(self, required: "Capabilities") -> tuple[str, ...]:
        """The flags that `required` asks for and this does not promise, by name."""
        return tuple(
            field.name
            for field in fields(self)
            if getattr(required, field.name) and not getattr(self, field.name)
        )


@dataclass(frozen=True, slots=True)
class Info:
    """What a store says of a place. `mtime` is a hint only (seconds since the epoch)."""

    locator: Locator
    is_dir: bool
    size: int
    mtime: float


Kind = Literal["file", "hidden", "link", "other", "unlistable", "unseen", "nameless"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing met by `walk`.

    `path` is the key as it would be shown. `kind` is "file"; "hidden" for a file whose own name
    begins with a dot (folders of such names are passed over whole); "link" for a symbolic link,
    "other" for devices, sockets and pipes (none is followed or opened); "unlistable" for a folder
    that can't be listed now and "unseen" for a file whose status can't be read: neither is gone;
    "nameless" for a name that is no valid locator or not UTF-8. `size` and `mtime_ns` hold for
    files, else 0. `reason` says why, for what is no file.
    """

    path: str
    kind: Kind
    size: int = 0
    mtime_ns: int = 0
    reason: str = ""


class Absent(Enum):
    """`expect=ABSENT`: the write makes the file, and fails when there is one."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT

Expect = str | Absent | None
"""What a writer believes is in the store: a content hash, ABSENT, or None for "whatever"."""


def content_hash(data: bytes) -> str:
    """sha256 of a file's bytes, hex: what compare-and-swap compares."""
    return sha256(data).hexdigest()


def emptied(identity: str) -> str:
    """What to say of a store that held notes and is empty now."""
    return (
        f"the vault {identity} is empty, and it held notes before: is it mounted? Mount it. If you "
        "emptied it on purpose, put any file into it."
    )


@dataclass(frozen=True, slots=True)
class PersonalAuthorization:
    """The operator's word, for one call, that `personal/` may be written.

    Made by the command line alone, from a flag or an answered prompt of that very call; `given_by`
    says which. No automated pass and no model surface makes one.
    """

    given_by: Literal["flag", "prompt"]


class StorageBackend(ABC):
    """A store of notes.

    Reading never follows a symbolic link out of the root. Absent: `read` and `info` raise
    FileNotFoundError, `list` gives [], `exists` gives False. Nothing deletes.
    """

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def open(cls, root: str, locks_dir: str) -> Self:
        """The store at `root`, an absolute path or a URL as configured. `locks_dir` is where locks
        of this machine lie. Raises StoreUnreachable when it is not there, StorageError when `root`
        can't be used."""

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities: ...

    @property
    @abstractmethod
    def identity(self) -> str:
        """What tells this store from any other: its real root or URL. For messages and locks."""

    def resolve(self, *parts: str) -> Locator:
        """A locator from keys or parts. Raises LocatorInvalid."""
        return Locator("/".join(part for part in parts if part))

    @abstractmethod
    def read_bytes(self, locator: Locator, *, limit: int | None = None) -> bytes:
        """The whole file. Raises FileNotFoundError; NoteUnreadable for a folder, link, device, one
        over `limit` bytes, or one that may not be read; StoreUnreachable."""

    def read(self, locator: Locator) -> str:
        """The file as text: UTF-8, line ends untouched. Raises as `read_bytes`, and
        StorageError when it is not UTF-8."""
        try:
            return self.read_bytes(locator).decode("utf-8")
        except UnicodeDecodeError as error:
            raise StorageError(f"{locator} is not UTF-8; save it as UTF-8") from error

    @abstractmethod
    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        """Put the whole file, or nothing, and return its content hash.

        With `expect` a hash: only when just that is there (ConcurrentModificationError else).
        With ABSENT: only when nothing is there (FileExistsError else); this needs no vault lock.
        Folders on the way are made. On return the bytes are on the disk.
        Raises WriteRefused, LockTimeout, OwnershipLost, StorageError.
        """

    def impatient(self) -> Self:
        """The same store, whose rewriting raises LockTimeout at once instead of waiting for the
        vault's lock. A store that waits for no lock is that already."""
        return self

    def write(self, locator: Locator, text: str, *, expect: Expect = None) -> str:
        """`write_bytes` of UTF-8 text, line ends untouched."""
        return self.write_bytes(locator, text.encode("utf-8"), expect=expect)

    @abstractmethod
    def list(self, locator: Locator) -> list[Locator]:
        """The children of a folder, sorted by name, without temp and dot files; [] when it is
        absent or a file."""

    @abstractmethod
    def exists(self, locator: Locator) -> bool: ...

    @abstractmethod
    def info(self, locator: Locator) -> Info:
        """Raises FileNotFoundError."""

    @abstractmethod
    def mkdir(self, locator: Locator) -> None:
        """Make the folder and those above it; one that is there stays as it is."""

    @abstractmethod
    def walk(
        self, locator: Locator, on_folder: Callable[[int], None] | None = None
    ) -> Iterator[Entry]:
        """Everything below, streamed, files and what was passed over. Raises StoreUnreachable when
        `locator` itself can't be listed. `on_folder` hears the count of files so far."""

    @abstractmethod
    def rename_unlinked(self, source: Locator, target: Locator, *, expect: str) -> None:
        """The one permitted move, for a note that nothing links to (the caller has made sure).
        Fails when the bytes differ from `expect` or `target` is taken."""

    @abstractmethod
    def watch(self, stop: Callable[[], bool], timeout_ms: int) -> Iterator[frozenset[str]]:
        """Batches of changed keys until `stop()`; an empty batch after a quiet `timeout_ms`."""

    def personal_write(
        self, locator: Locator, data: bytes, authorization: PersonalAuthorization, *, expect: Expect
    ) -> str:
        """Write below `personal/`, on the operator's word for this one call. Raises WriteRefused
        where the store has no such space."""
        raise WriteRefused(f"the store {self.name} has no personal space")
