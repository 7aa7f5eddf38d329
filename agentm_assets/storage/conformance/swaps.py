"""Writes on a condition, and the one move."""

from agentm_assets.storage.conformance.store import Store, refused, require
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import (
    ABSENT,
    ConcurrentModificationError,
    StorageError,
    content_hash,
)

NOTE, OTHER = Locator("Agent/note.md"), Locator("Agent/desk/other.md")


def compare_and_swap(store: Store) -> None:
    backend, other = store.open(), store.open()
    first = backend.write(NOTE, "first")
    second = backend.write(NOTE, "second", expect=first)
    require(backend.read(NOTE) == "second", "a swap with the right hash does not write")
    with refused(ConcurrentModificationError, "a swap with a stale hash writes"):
        other.write(NOTE, "lost", expect=first)
    require(backend.read(NOTE) == "second", "a refused swap has written")
    third = other.write(NOTE, "third", expect=second)
    with refused(ConcurrentModificationError, "a change from elsewhere is not seen"):
        backend.write(NOTE, "lost", expect=second)
    backend.write(NOTE, "third", expect=third)
    with refused(ConcurrentModificationError, "a swap makes an absent note"):
        backend.write(OTHER, "x", expect=content_hash(b"never there"))
    require(not backend.exists(OTHER), "a refused swap has made a note")


def only_when_absent(store: Store) -> None:
    backend = store.open()
    backend.write(NOTE, "first", expect=ABSENT)
    require(backend.read(NOTE) == "first", "a new note is not written")
    for text in ("second", "first"):
        with refused(FileExistsError, "a note that is there is written anew"):
            backend.write(NOTE, text, expect=ABSENT)
    require(backend.read(NOTE) == "first", "a refused note has been written")
    backend.write(NOTE, "", expect=None)
    with refused(FileExistsError, "an empty note counts as absent"):
        backend.write(NOTE, "second", expect=ABSENT)


def rename(store: Store) -> None:
    backend = store.open()
    held = backend.write(NOTE, "moved")
    with refused(ConcurrentModificationError, "a note with other bytes is moved"):
        backend.rename_unlinked(NOTE, OTHER, expect=content_hash(b"other"))
    require(backend.read(NOTE) == "moved", "a refused move has moved")
    require(not backend.exists(OTHER), "a refused move has written")
    backend.rename_unlinked(NOTE, OTHER, expect=held)
    require(backend.read(OTHER) == "moved", "a moved note is not at its new place")
    require(not backend.exists(NOTE), "a moved note is still at its old place")
    backend.write(NOTE, "in the way")
    with refused(FileExistsError, "a move overwrites"):
        backend.rename_unlinked(OTHER, NOTE, expect=held)
    require(backend.read(NOTE) == "in the way", "a refused move has overwritten")
    require(backend.read(OTHER) == "moved", "a refused move has lost the note")
    with refused((FileNotFoundError, StorageError), "an absent note is moved"):
        backend.rename_unlinked(Locator("gone.md"), Locator("x.md"), expect=held)
