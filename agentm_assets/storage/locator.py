"""Where something stands in a store: an opaque name, never a path of a file system."""

from dataclasses import dataclass


class LocatorInvalid(ValueError):
    """The key can't name anything inside a store; the text says which part and why."""


@dataclass(frozen=True, slots=True)
class Locator:
    """A place relative to the root of a store.

    `key` is POSIX style ("Agent/memory/note.md"); "" is the root. Two locators of one key are
    equal. Nothing here touches a disk. Raises LocatorInvalid for `..`, `.`, empty parts, a
    backslash, NUL, a lone surrogate, a drive letter, and an absolute key.
    """

    key: str

    def __post_init__(self) -> None:
        key = self.key
        if "\\" in key or "\0" in key:
            raise LocatorInvalid("a backslash or NUL can't stand in a place of a store")
        try:
            key.encode("utf-8")
        except UnicodeEncodeError as error:
            raise LocatorInvalid("a place of a store is UTF-8") from error
        if key.startswith("/"):
            raise LocatorInvalid("the place is absolute; name it relative to the store")
        if not key:
            return
        parts = key.split("/")
        if "" in parts or "." in parts or ".." in parts:
            raise LocatorInvalid("an empty part, '.' or '..' can't stand in a place of a store")
        drive = parts[0]
        # "C: notes.md" is a good name here; only a part that is nothing but a drive is refused.
        if len(drive) == 2 and drive[1] == ":" and drive[0].isascii() and drive[0].isalpha():
            raise LocatorInvalid("a drive letter can't begin a place of a store")

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.key.split("/")) if self.key else ()

    @property
    def name(self) -> str:
        """The last part; "" for the root."""
        return self.key.rpartition("/")[2]

    @property
    def parent(self) -> "Locator":
        """The folder it stands in; the root is its own."""
        return Locator(self.key.rpartition("/")[0])

    def child(self, name: str) -> "Locator":
        """A place directly inside this one. Raises LocatorInvalid when `name` is no single part."""
        if not name or "/" in name:
            raise LocatorInvalid("a child has one part; use resolve for a longer key")
        return Locator(f"{self.key}/{name}" if self.key else name)

    def __str__(self) -> str:
        return self.key


ROOT = Locator("")
