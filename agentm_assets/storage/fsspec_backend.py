"""A vault in whatever fsspec reaches by a URL, such as object storage that a team shares.

On S3, conditional puts (If-Match, If-None-Match) make compare-and-swap and the reservation of a
name hold between machines. Other stores have no such thing here: writers of one machine exclude
each other by the vault's lock, and the backend does not promise `concurrent_writers`.

There is no git in such a store, so what needs a repository refuses there. Watching is polling.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from pathlib import Path
from typing import Any, ClassVar, Self

from agentm_assets.storage.locator import ROOT, Locator, LocatorInvalid
from agentm_assets.storage.names import check_name, is_hidden
from agentm_assets.storage.personal import refuse_personal, require_authorization
from agentm_assets.storage.seam import (
    Absent,
    Capabilities,
    ConcurrentModificationError,
    Entry,
    Expect,
    Info,
    NoteUnreadable,
    PersonalAuthorization,
    StorageBackend,
    StorageError,
    StoreUnreachable,
    WriteRefused,
    content_hash,
)

MOST_BYTES = 64 * 1024 * 1024
"""Larger writes are refused: they would go up in parts, and a part knows no condition."""

_LOCAL = frozenset({"file", "local"})
_IN_MEMORY = "memory"
_S3 = "s3"
_LOST_RACE = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412", "409"})
_STAMPS = ("LastModified", "last_modified", "updated", "mtime", "created")
_NOT_A_FILE = ("the place is a folder", "name a file")


class FsspecBackend(StorageBackend):
    """Notes below one URL. The store's own settings (endpoint, credentials) come from the
    environment or its configuration files, never from the URL."""

    name: ClassVar[str] = "fsspec"

    def __init__(self, url: str, locks_dir: Path) -> None:
        self._url = url.rstrip("/")
        self._locks_dir = locks_dir
        self._lock_timeout: float | None = None  # the mutex's own
        self._protocol = _protocol(url)
        self._fs, self._root = _file_system(self._url, self._protocol)

    @classmethod
    def open(cls, root: str, locks_dir: str) -> Self:
        return cls(root, Path(locks_dir))

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(concurrent_writers=self._conditional, sync=self._protocol != _IN_MEMORY)

    @property
    def identity(self) -> str:
        return self._url

    def read_bytes(self, locator: Locator, *, limit: int | None = None) -> bytes:
        status = self._status(locator)
        if status["type"] != "file":
            raise NoteUnreadable("not-a-file", *_NOT_A_FILE, locator.key)
        if limit is not None and status["size"] > limit:
            raise NoteUnreadable(
                "too-large",
                f"the file has {status['size']} bytes, over the limit of {limit}",
                "split it, or keep it in the vault as it is: it will not be recalled",
                locator.key,
            )
        with self._failures_named(locator):
            return bytes(self._fs.cat_file(self._at(locator)))

    def impatient(self) -> Self:
        other = copy(self)
        other._lock_timeout = 0.0
        return other

    def write_bytes(self, locator: Locator, data: bytes, *, expect: Expect = None) -> str:
        refuse_personal(locator)
        return self._put(locator, data, expect)

    def personal_write(
        self, locator: Locator, data: bytes, authorization: PersonalAuthorization, *, expect: Expect
    ) -> str:
        require_authorization(locator, authorization)
        return self._put(locator, data, expect)

    def list(self, locator: Locator) -> list[Locator]:
        path = self._at(locator)
        try:
            with self._failures_named(locator):
                found = self._fs.ls(path, detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        names = {self._key(each["name"]) for each in found if each["name"].rstrip("/") != path}
        return [Locator(key) for key in sorted(names) if not is_hidden(key) and _is_place(key)]

    def exists(self, locator: Locator) -> bool:
        try:
            self._status(locator)
        except FileNotFoundError:
            return False
        return True

    def info(self, locator: Locator) -> Info:
        status = self._status(locator)
        if status["type"] != "file":
            return Info(locator, True, 0, 0.0)
        return Info(locator, False, status["size"], _stamp(status))

    def mkdir(self, locator: Locator) -> None:
        refuse_personal(locator)
        check_name(locator)
        with self._failures_named(locator):
            if not self._conditional:
                self._fs.makedirs(self._at(locator), exist_ok=True)
            elif not self._fs.exists(self._at(locator)):
                # Object stores have no folders; an empty object of that name stands for one.
                bucket, key, _ = self._fs.split_path(self._at(locator))
                self._fs.call_s3("put_object", Bucket=bucket, Key=f"{key}/", Body=b"")

    def walk(
        self, locator: Locator, on_folder: Callable[[int], None] | None = None
    ) -> Iterator[Entry]:
        folder, files = "", 0
        for key, status in self._files(locator):
            above, _, name = key.rpartition("/")
            if above != folder and on_folder is not None:
                on_folder(files)
            folder = above
            if is_hidden(above):
                continue
            if is_hidden(name):
                yield Entry(key, "hidden")
            elif not _is_place(key):
                yield Entry(key, "nameless", reason="no place of a store")
            else:
                files += 1
                yield Entry(key, "file", status["size"], int(_stamp(status) * 1e9))
        if on_folder is not None:
            on_folder(files)

    def rename_unlinked(self, source: Locator, target: Locator, *, expect: str) -> None:
        """Written under the new name, then taken away under the old: a crash in between leaves
        both, never none."""
        refuse_personal(source)
        data, tag = self._tagged(source)
        if content_hash(data) != expect:
            raise _changed(source)
        self.write_bytes(target, data, expect=Absent.ABSENT)
        with self._failures_named(source):
            if not self._conditional:
                self._fs.rm_file(self._at(source))
                return
            bucket, key, _ = self._fs.split_path(self._at(source))
            self._fs.call_s3("delete_object", Bucket=bucket, Key=key, IfMatch=tag)

    def watch(self, stop: Callable[[], bool], timeout_ms: int) -> Iterator[frozenset[str]]:
        pause = threading.Event()
        before = self._stamps()
        while not stop():
            pause.wait(timeout_ms / 1000)
            now = self._stamps()
            changed = {key for key in before.keys() | now.keys() if before.get(key) != now.get(key)}
            before = now
            yield frozenset(changed)

    @property
    def _conditional(self) -> bool:
        return self._protocol == _S3

    def _put(self, locator: Locator, data: bytes, expect: Expect) -> str:
        check_name(locator)
        if len(data) > MOST_BYTES:
            raise WriteRefused(f"{locator} would have over {MOST_BYTES} bytes; split it")
        path = self._at(locator)
        with self._failures_named(locator), self._alone():
            try:
                if isinstance(expect, Absent):
                    self._create(locator, path, data)
                elif isinstance(expect, str):
                    self._swap(locator, path, data, expect)
                else:
                    self._fs.pipe_file(path, data)
            except FileNotFoundError as error:  # the bucket is gone, and is never made here
                raise self._unreachable(error) from error
        return content_hash(data)

    def _create(self, locator: Locator, path: str, data: bytes) -> None:
        if self._conditional:
            try:
                self._fs.pipe_file(path, data, mode="create")
                return
            except OSError as error:
                if not _lost_race(error):
                    raise
        elif not self._fs.exists(path):
            self._fs.pipe_file(path, data)
            return
        raise FileExistsError(f"{locator} is taken")

    def _swap(self, locator: Locator, path: str, data: bytes, expect: str) -> None:
        try:
            found, tag = self._tagged(locator)
        except FileNotFoundError as error:
            raise _changed(locator) from error
        if content_hash(found) != expect:
            raise _changed(locator)
        try:
            self._fs.pipe_file(path, data, **({"IfMatch": tag} if self._conditional else {}))
        except OSError as error:
            if self._conditional and (_lost_race(error) or isinstance(error, FileNotFoundError)):
                raise _changed(locator) from error
            raise

    def _tagged(self, locator: Locator) -> tuple[bytes, str]:
        """The bytes, and a tag that is at least as old as they are: a put on condition of it fails
        when anything came between."""
        tag = str(self._status(locator).get("ETag", ""))
        return self.read_bytes(locator), tag

    def _alone(self) -> AbstractContextManager[object]:
        if self._conditional:
            return nullcontext()
        from agentm_assets.storage.mutex import VaultMutex

        return VaultMutex(self.identity, self._locks_dir).held(self._lock_timeout)

    def _status(self, locator: Locator) -> Mapping[str, Any]:
        with self._failures_named(locator):
            if locator == ROOT and not self._fs.exists(self._root):
                return {"type": "directory", "size": 0}  # a prefix is there once a note is in it
            status: Mapping[str, Any] = self._fs.info(self._at(locator))
            return status

    def _files(self, locator: Locator) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if locator != ROOT and not self.exists(locator):
            raise StoreUnreachable(f"{locator} can't be listed: there is no such folder")
        try:
            with self._failures_named(locator):
                found: Mapping[str, Mapping[str, Any]]
                found = self._fs.find(self._at(locator), detail=True)
        except FileNotFoundError as error:
            raise self._unreachable(error) from error
        for path in sorted(found):
            status = found[path]
            if status["type"] == "file" and not path.endswith("/"):
                yield self._key(path), status

    def _stamps(self) -> dict[str, object]:
        return {
            key: (status["size"], status.get("ETag"), _stamp(status))
            for key, status in self._files(ROOT)
            if not is_hidden(key)
        }

    def _at(self, locator: Locator) -> str:
        return f"{self._root}/{locator}" if locator.key else self._root

    def _key(self, path: str) -> str:
        return path.rstrip("/").removeprefix(self._root).lstrip("/")

    @contextmanager
    def _failures_named(self, locator: Locator) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, FileExistsError, NotADirectoryError) as error:
            if _code(error) == "NoSuchBucket":  # the whole store is gone, not a note of it
                raise self._unreachable(error) from error
            raise
        except PermissionError as error:
            raise StorageError(
                f"{self._url} does not let this user at {locator.key or 'its root'} "
                f"({error}); check the credentials and what they allow"
            ) from error
        except self._failures() as error:
            raise self._unreachable(error) from error

    def _failures(self) -> tuple[type[Exception], ...]:
        return (OSError, *_client_errors(self._protocol))

    def _unreachable(self, error: Exception) -> StoreUnreachable:
        return StoreUnreachable(
            f"{self._url} can't be used ({str(error) or type(error).__name__}); check the network, "
            "the address and the store's own settings"
        )


def _protocol(url: str) -> str:
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", url, re.DOTALL)
    if found is None or not found[2].strip("/"):
        raise StorageError(
            "the store needs a URL with a place in it, for instance s3://BUCKET/FOLDER. Correct "
            "storage.root."
        )
    protocol = found[1].lower()
    if protocol in _LOCAL:
        raise StorageError(
            'a folder of this machine is no URL store: set storage.backend = "vault" and '
            "storage.root to its path."
        )
    if "@" in found[2].partition("/")[0]:
        raise StorageError(
            "the URL of the store holds a user or a password, which would be shown in messages. "
            "Give them to the store by its environment variables or configuration file."
        )
    return _S3 if protocol == "s3a" else protocol


def _file_system(url: str, protocol: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    try:
        # Listings are never cached: another machine may write at any time.
        fs, root = url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        wanted = "agentm[s3]" if protocol == _S3 else f"what fsspec needs for {protocol}://"
        raise StorageError(
            f"{protocol}:// stores need a package that is not installed ({error}). "
            f"Run: pip install '{wanted}'"
        ) from error
    except ValueError as error:
        raise StorageError(
            f"fsspec knows no {protocol}:// stores ({error}). Correct storage.root."
        ) from error
    return fs, root.rstrip("/")


def _client_errors(protocol: str) -> tuple[type[Exception], ...]:
    """What a store's client raises beside OSError."""
    if protocol != _S3:
        return ()
    from aiohttp import ClientError
    from botocore.exceptions import BotoCoreError
    from botocore.exceptions import ClientError as ResponseError

    return ClientError, BotoCoreError, ResponseError


def _lost_race(error: OSError) -> bool:
    if isinstance(error, FileExistsError):
        return True
    return _code(error) in _LOST_RACE


def _code(error: OSError) -> str:
    """The S3 code of a refused request, "" for other failures."""
    response: Mapping[str, Any] = getattr(error.__cause__, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))


def _changed(locator: Locator) -> ConcurrentModificationError:
    return ConcurrentModificationError(
        f"{locator} changed since it was read; read it again, then write"
    )


def _stamp(status: Mapping[str, Any]) -> float:
    """Seconds since the epoch; 0 where the store does not say."""
    for name in _STAMPS:
        value = status.get(name)
        if value is not None and hasattr(value, "timestamp"):
            return float(value.timestamp())
        if isinstance(value, int | float):
            return float(value)
    return 0.0


def _is_place(key: str) -> bool:
    try:
        Locator(key)
    except LocatorInvalid:
        return False
    return True
