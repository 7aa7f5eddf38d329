"""Reading, writing, looking, walking and watching."""

import multiprocessing
import pickle

from agentm_assets.storage.conformance.store import Store, refused, require
from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.seam import (
    ABSENT,
    Entry,
    NoteUnreadable,
    StorageBackend,
    StorageError,
    content_hash,
)

EXACT = {
    "lf.md": b"one\ntwo\n",
    "crlf.md": b"one\r\ntwo\r\n",
    "mixed.md": b"one\r\ntwo\nthree\rfour\r\n",
    "open end.md": b"one\ntwo",
    "empty.md": b"",
    "words.md": "Grüße, 記憶, \u2028 and 🗂️\n".encode(),
    "mark.md": b"\xef\xbb\xbf---\n---\n",
    "binary.png": bytes(range(256)) * 64,
}
QUIET_BATCHES = 60
"""How many times a watcher is asked before it counts as deaf; each takes at most WATCH_MS."""

WATCH_MS = 50


def absent(store: Store) -> None:
    backend = store.open()
    for key in ("gone.md", "no/such/folder/gone.md"):
        place = Locator(key)
        for read in (backend.read, backend.read_bytes, backend.info):
            with refused(FileNotFoundError, f"{read.__name__} of an absent note finds something"):
                read(place)
        require(not backend.exists(place), "an absent note exists")
    backend.write(Locator("a.md"), "a")
    with refused(FileNotFoundError, "there is a note below a note"):
        backend.read_bytes(Locator("a.md/b.md"))
    require(not backend.exists(Locator("a.md/b.md")), "a note has children")


def write_and_read(store: Store) -> None:
    backend, other = store.open(), store.open()
    require(backend.identity == other.identity, "one store has two identities")
    place = Locator("Agent/memory/deep/er/note.md")
    for text in ("first\n", "second, longer\n", "3"):
        written = backend.write(place, text)
        require(written == content_hash(text.encode()), "the hash is not that of the bytes")
        require(backend.read(place) == text, "what is written is not read")
        require(other.read(place) == text, "what is written is not read through another opening")


def exact_bytes(store: Store) -> None:
    backend = store.open()
    for name, data in EXACT.items():
        for expect in (ABSENT, content_hash(data), None):
            backend.write_bytes(Locator(name), data, expect=expect)
            require(backend.read_bytes(Locator(name)) == data, f"{name} changed on the way")
        if name != "binary.png":
            text = data.decode()
            require(backend.read(Locator(name)) == text, f"{name} changed when read as text")
            backend.write(Locator(f"text {name}"), text)
            written = backend.read_bytes(Locator(f"text {name}"))
            require(written == data, f"{name} changed when written as text")
    with refused(StorageError, "bytes that are not UTF-8 are read as text"):
        backend.read(Locator("binary.png"))


def exists_flips(store: Store) -> None:
    backend = store.open()
    place, folder = Locator("here/note.md"), Locator("made")
    require(not backend.exists(place), "a note is there before it is written")
    backend.write(place, "x")
    require(backend.exists(place), "a note is not there after it is written")
    require(backend.exists(place.parent), "its folder is not there")
    require(not backend.exists(folder), "a folder is there before it is made")
    backend.mkdir(folder)
    require(backend.exists(folder), "a folder is not there after it is made")


def info(store: Store) -> None:
    backend = store.open()
    place = Locator("Agent/grüße.md")
    backend.write(place, "grüße, 記憶\n")
    found = backend.info(place)
    require(found.locator == place, "the place is another")
    require(not found.is_dir, "a note is a folder")
    require(found.size == len("grüße, 記憶\n".encode()), "the size is not in bytes")
    require(found.mtime >= 0, "the time is none")
    require(backend.info(Locator("Agent")).is_dir, "a folder is none")
    require(backend.info(ROOT).is_dir, "the root is no folder")


def limit(store: Store) -> None:
    backend = store.open()
    place = Locator("big.md")
    backend.write_bytes(place, b"x" * 1000)
    require(len(backend.read_bytes(place, limit=1000)) == 1000, "a note of the limit is refused")
    try:
        backend.read_bytes(place, limit=999)
    except NoteUnreadable as error:
        require(error.code == "too-large", "another reason is given for a note over the limit")
    else:
        raise AssertionError("a note over the limit is read")
    backend.mkdir(Locator("folder.md"))
    try:
        backend.read_bytes(Locator("folder.md"))
    except NoteUnreadable as error:
        require(error.code == "not-a-file", "another reason is given for a folder")
    else:
        raise AssertionError("a folder is read")


def mkdir_twice(store: Store) -> None:
    backend = store.open()
    folder = Locator("a/b/c")
    backend.mkdir(folder)
    backend.write(folder.child("kept.md"), "kept")
    backend.mkdir(folder)
    backend.mkdir(folder.parent)
    require(backend.info(folder).is_dir, "what was made is no folder")
    require(backend.read(folder.child("kept.md")) == "kept", "making a folder again empties it")


def list_children(store: Store) -> None:
    backend = store.open()
    for key in ("b.md", "a.md", "C.md", "sub/x.md", "sub/deep/y.md", "ä.md", "pic.png"):
        backend.write(Locator(key), key)
    backend.mkdir(Locator("emptied"))
    expected = sorted(["b.md", "a.md", "C.md", "sub", "ä.md", "pic.png", "emptied"])
    listed = backend.list(ROOT)
    require([each.key for each in listed] == expected, "the children of the root are others")
    listed = backend.list(Locator("sub"))
    require([each.key for each in listed] == ["sub/deep", "sub/x.md"], "a folder's are others")
    require(backend.list(Locator("emptied")) == [], "an empty folder has children")


def list_of_absent_and_file(store: Store) -> None:
    backend = store.open()
    backend.write(Locator("sub/x.md"), "x")
    for key in ("nowhere", "no/where", "sub/x.md", "sub/x.md/y", "su"):
        require(backend.list(Locator(key)) == [], f"{key} has children")


def walk(store: Store) -> None:
    backend = store.open()
    written = {
        "b.md": 1,
        "a/deep/er/y.md": 300,
        "a/x.md": 20,
        "a/grüße.png": 4000,
        "Agent/memory/z.md": 0,
    }
    for key, size in written.items():
        backend.write_bytes(Locator(key), b"x" * size)
    backend.mkdir(Locator("empty"))
    require(_files(backend, ROOT) == written, "what is walked is not what was written")
    below = {key: size for key, size in written.items() if key.startswith("a/")}
    require(
        _files(backend, Locator("a")) == below, "what is below a folder is not what was written"
    )
    require(_files(backend, Locator("a/deep")) == {"a/deep/er/y.md": 300}, "keys lose their folder")
    counts: list[int] = []
    entries = [entry for entry in backend.walk(ROOT, counts.append) if entry.kind == "file"]
    require(counts != [] and counts[-1] == len(entries), "the count of files is not told")
    with refused(StorageError, "an absent folder is walked"):
        list(backend.walk(Locator("nowhere")))


class _Looks:
    """Says stop after so many batches, so that a deaf watcher does not hang its check."""

    def __init__(self) -> None:
        self.batches = 0
        self.over = False

    def stop(self) -> bool:
        return self.over or self.batches >= QUIET_BATCHES


def watch(store: Store) -> None:
    backend, writer = store.open(), store.open()
    writer.write(Locator("before.md"), "x")
    looks = _Looks()
    written = told = False
    for batch in backend.watch(looks.stop, WATCH_MS):
        looks.batches += 1
        told = told or "during.md" in batch
        if told:
            looks.over = True
            require(looks.batches <= 2 * QUIET_BATCHES, "watching does not end")
        elif not batch and not written:
            writer.write(Locator("during.md"), "x")
            written = True
    require(written, "no quiet batch comes")
    require(told, "a change is not told")


def handed_on(store: Store) -> None:
    backend = store.open()
    backend.write(Locator("note.md"), "for another process")
    copy: StorageBackend = pickle.loads(pickle.dumps(backend))
    require(copy.read(Locator("note.md")) == "for another process", "a copy reads something else")
    if backend.capabilities.concurrent_writers:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            read = pool.apply(_read, (backend, "note.md"))
        require(read == "for another process", "another process reads something else")


def _read(backend: StorageBackend, key: str) -> str:
    return backend.read(Locator(key))


def _files(backend: StorageBackend, below: Locator) -> dict[str, int]:
    entries: list[Entry] = list(backend.walk(below))
    require(all(entry.kind == "file" for entry in entries), "what was not written is met")
    return {entry.path: entry.size for entry in entries}
