"""Locators, the names a note may have, and the operator's own space."""

from typing import cast

from agentm_assets.storage.conformance.store import Store, refused, require
from agentm_assets.storage.locator import ROOT, Locator, LocatorInvalid
from agentm_assets.storage.names import NAME_BYTES
from agentm_assets.storage.seam import (
    ABSENT,
    PersonalAuthorization,
    StorageError,
    WriteRefused,
    content_hash,
)

INVALID = (
    "../a.md",
    "a/../b.md",
    "a/./b.md",
    "a//b.md",
    "/etc/hostname",
    "a\\b.md",
    "a\0.md",
    "C:/a.md",
    "\udcff.md",
)


def locators(store: Store) -> None:
    backend = store.open()
    place = backend.resolve("Agent/memory", "Ünïcode note.md")
    require(place == Locator("Agent/memory/Ünïcode note.md"), "parts are not joined as they are")
    require(backend.resolve() == ROOT, "resolving nothing is not the root")
    require(place.parts == ("Agent", "memory", "Ünïcode note.md"), "parts differ")
    require(place.name == "Ünïcode note.md", "the name is not the last part")
    require(backend.resolve("Agent").child("x.md").key == "Agent/x.md", "a child is elsewhere")
    require(len({place, backend.resolve(place.key)}) == 1, "equal places differ as keys")


def invalid_locators(store: Store) -> None:
    backend = store.open()
    for key in INVALID:
        with refused(LocatorInvalid, f"the key {key!r} is taken"):
            backend.resolve(key)
        with refused(LocatorInvalid, f"{key!r} is taken for a child"):
            backend.resolve("notes").child(key)


def names(store: Store) -> None:
    backend = store.open()
    odd = (
        "100%.md",
        "a b  c.md",
        "[x].md",
        "what?.md",
        "#tag*.md",
        "日本語" * 20 + ".md",
        "a'\".md",
    )
    for name in (*odd, "n" * 200 + ".md"):
        backend.write(Locator(name), name, expect=ABSENT)
        require(backend.read(Locator(name)) == name, f"{name} is not read back")
    require({each.name for each in backend.list(ROOT)} >= set(odd), "an odd name is not listed")
    hidden = (".hidden.md", ".git/config", "notes/.agentm-x.tmp")
    for key in (*hidden, "x" * (NAME_BYTES + 1), "é" * NAME_BYTES):
        with refused(StorageError, f"{key[:20]} is written"):
            backend.write(Locator(key), "x")
        require(not backend.exists(Locator(key)), f"{key[:20]} was refused and written")
    with refused(StorageError, "the root is written"):
        backend.write(ROOT, "x")


def personal(store: Store) -> None:
    backend = store.open()
    word = PersonalAuthorization("flag")
    keys = ("personal/diary.md", "Personal/diary.md", "PERSONAL/a/b.md", "ｐersonal/wide.md")
    for key in keys:
        place = Locator(key)
        for expect in (None, ABSENT, "0" * 64):
            with refused(WriteRefused, f"{key} is written without the operator's word"):
                backend.write(place, "x", expect=expect)
        with refused(WriteRefused, f"{key} is made without the operator's word"):
            backend.mkdir(place.parent)
        require(not backend.exists(place), f"{key} was refused and written")
    backend.personal_write(Locator(keys[0]), b"mine", word, expect=ABSENT)
    require(backend.read(Locator(keys[0])) == "mine", "the operator's word does not count")
    with refused(WriteRefused, "the operator's verb writes elsewhere"):
        backend.personal_write(Locator("Agent/x.md"), b"x", word, expect=None)
    for forged in (None, True, "flag"):
        with refused(WriteRefused, "anything counts as the operator's word"):
            given = cast("PersonalAuthorization", forged)
            backend.personal_write(Locator("personal/y.md"), b"x", given, expect=None)
    backend.write(Locator("a.md"), "a", expect=ABSENT)
    for source, target in (("a.md", "personal/a.md"), (keys[0], "b.md")):
        held = "a" if source == "a.md" else "mine"
        with refused(WriteRefused, "a move reaches the operator's space"):
            place = Locator(source)
            backend.rename_unlinked(place, Locator(target), expect=content_hash(held.encode()))
    require(backend.exists(Locator("personally/x.md")) is False, "a new store is not empty")
    backend.write(Locator("personally/x.md"), "x")
