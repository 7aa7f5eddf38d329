"""What is derived from a store can be thrown away: rebuilt from the notes, it is the same."""

from collections.abc import Callable

from agentm_assets.storage.conformance.store import Store, require
from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.seam import ABSENT, StorageBackend, content_hash

Rebuild = Callable[[StorageBackend], bytes]
"""Derives something from all notes of a store, through the verbs alone."""

SOURCES = tuple(Locator(key) for key in ("a.md", "Agent/memory/b.md", "projects/x/c.md"))
DERIVED = Locator("derived/index.md")
THROWN_AWAY = Locator("derived/thrown-away.md")


def digest_of_notes(backend: StorageBackend) -> bytes:
    """A line a note: its key, its size as walked and the hash of its bytes."""
    entries = sorted(backend.walk(ROOT), key=lambda entry: entry.path)
    lines = (
        f"{entry.path} {entry.size} {content_hash(backend.read_bytes(Locator(entry.path)))}\n"
        for entry in entries
        if entry.kind == "file" and not entry.path.startswith("derived/")
    )
    return "".join(lines).encode()


def check_rebuild(store: Store, rebuild: Rebuild = digest_of_notes) -> None:
    """Raises AssertionError unless `rebuild` gives the same bytes after the derived file is gone,
    and others after each change of a source, in one and the same opening of the store."""
    backend = store.open()
    for number, source in enumerate(SOURCES):
        backend.write(source, f"source {number}, Grüße\r\n", expect=ABSENT)
    first = rebuild(backend)
    written = backend.write_bytes(DERIVED, first, expect=ABSENT)
    # Nothing deletes: the derived file is moved out of the way.
    backend.rename_unlinked(DERIVED, THROWN_AWAY, expect=written)
    backend.write_bytes(DERIVED, rebuild(backend), expect=ABSENT)
    require(backend.read_bytes(DERIVED) == first, "a second build differs from the first")
    before = first
    for source in SOURCES:
        data = backend.read_bytes(source)
        backend.write_bytes(source, data + b"changed\n", expect=content_hash(data))
        after = rebuild(backend)
        require(after != before, f"a change of {source} does not reach what is derived")
        require(rebuild(backend) == after, "two builds of one state differ")
        before = after
    for source in SOURCES:
        data = backend.read_bytes(source)
        backend.write_bytes(source, data.removesuffix(b"changed\n"), expect=content_hash(data))
    require(rebuild(backend) == first, "the first state again does not give the first build")
    backend.write(Locator("new.md"), "x", expect=ABSENT)
    require(rebuild(backend) != first, "a new note does not reach what is derived")
