"""What the migration does to the bytes of one note. Pure; whatever is not plain is left and said.

Each step is an edit of one property (contract.edit): line ends, byte order mark, comments, order
and quotes of every other line stay as they are.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from agentm_assets.contract import properties
from agentm_assets.contract.edit import EditRefused, remove_key, rename_key, set_key
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.rules_model import StorageRules
from agentm_assets.contract.spaces import space_of
from agentm_assets.contract.vocabulary import OBSERVATIONAL_CLASSES, Status
from agentm_assets.migration.words import kebab

Part = Literal["types", "status", "fields"]
PARTS: Final[tuple[Part, ...]] = ("types", "status", "fields")
"""`types`: retired types and kinds become those that stand for them, under the right property.
`status`: older words become one of the four. `fields`: what every memory carries is added where it
is known without judging: status, day of capture, slug."""


_KEYS: Final = frozenset({"type", "kind", "status", "captured", "slug"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """How notes are migrated. `status_words`: see `words.STATUS_WORDS`. `dated`: the day of capture
    that a path tells where the properties tell none, as the index reads it."""

    rules: StorageRules
    status_words: Mapping[str, Status]
    dated: Callable[[str], str | None]
    parts: Collection[Part] = PARTS


@dataclass(frozen=True, slots=True)
class Edit:
    """One edited line. `before` is None for a line that is new, `after` for one that went."""

    line: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Left:
    """What was not edited, and why. `line` counts from 1 in the file, 0 where none applies."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Migrated:
    """A note as the migration would have it. `data` are the very bytes given for no edits."""

    data: bytes
    edits: tuple[Edit, ...]
    left: tuple[Left, ...]


def migrate_note(path: str, data: bytes, wanted: Wanted) -> Migrated:
    """The note at the vault-relative `path`, brought onto the contract as far as that is plain."""
    before = read_frontmatter(data)
    if before.state in ("unclosed", "unreadable"):
        why = f"the properties can't be read: {before.error}; mend them by hand"
        return Migrated(data, (), (Left(before.error_line or 1, why),))
    cased = [
        field
        for key, field in before.fields.items()
        if key not in _KEYS and key.lower() in _KEYS and key.lower() not in before.fields
    ]
    if cased:
        # To agentm it is another property: completing the note would contradict it.
        why = "a property's name is in capitals; write it in small letters"
        return Migrated(data, (), tuple(Left(field.line, why) for field in cased))
    note = _Note(path, data, wanted)
    if "types" in wanted.parts:
        note.collapse()
    if "status" in wanted.parts:
        note.rewrite_status()
    if "fields" in wanted.parts:
        note.complete()
    return Migrated(note.data, tuple(note.edits), tuple(note.left))


class _Note:
    """A note while it is edited."""

    def __init__(self, path: str, data: bytes, wanted: Wanted) -> None:
        self.data = data
        self.edits: list[Edit] = []
        self.left: list[Left] = []
        self._wanted = wanted
        self._path = path
        self._place = space_of(path)

    def collapse(self) -> None:
        """Types and kinds as the rules have them, under the property that they belong to."""
        written = [key for key in ("type", "kind") if self._field(key)]
        for key in ("type", "kind"):
            field = self._fields().fields.get(key)
            if field is not None and field.kind in ("list", "map"):
                self._leave(key, f"`{key}` holds a list or a mapping; give it one value")
        if len(written) == 2:
            self._collapse_both()
        elif written:
            self._collapse_one(written[0])

    def rewrite_status(self) -> None:
        """An older word for the status becomes one of the four, for what is a memory."""
        if not self._is_memory():
            return
        field = self._fields().fields.get("status")
        if field is not None and field.kind in ("list", "map"):
            self._leave("status", "`status` holds a list or a mapping; give it one value")
        old = self._field("status")
        if old is None:
            return
        status = self._wanted.status_words.get(kebab(old))
        if status is None:
            self._leave("status", "the status is none that agentm knows; say what it stands for")
        elif status != old:
            self._set("status", status)

    def complete(self) -> None:
        """What a memory carries and what is known without judging it."""
        if self._place.memory_class not in OBSERVATIONAL_CLASSES or self._field("kind"):
            return
        if "status" not in self._fields().fields:
            self._set("status", "active" if self._field("type") else "unfiled")
        if "captured" not in self._fields().fields:
            dated = properties.captured(self._fields())
            day = self._wanted.dated(self._path) if dated is None else dated.text
            if day is not None:
                self._set("captured", day)
        if "slug" not in self._fields().fields:
            self._set("slug", self._path.rpartition("/")[2][:-3])

    def _collapse_one(self, key: str) -> None:
        target = self._target(key)
        if target is None:
            return
        right, value = target
        if right != key and right in self._fields().fields:
            self._merge(right, value, key)  # a property that is there and empty takes the value
        elif right != key:
            self._rename(key, right, value)
        else:
            self._set(key, value)

    def _collapse_both(self) -> None:
        """A type and a kind: one of them goes where both say the same, else the operator decides.

        A record's kind that the rules register says more than the type beside it.
        """
        targets = [self._target(key) for key in ("type", "kind")]
        of_type, of_kind = targets
        if of_type is None or of_kind is None:
            return  # said already
        if of_type == of_kind:
            right, value = of_type
            self._merge(right, value, "kind" if right == "type" else "type")
        else:
            self._leave("kind", "the note has a type and a kind; keep one of the two")

    def _target(self, key: str) -> tuple[str, str] | None:
        """The property and the value that stand for what `key` holds; None when it is left."""
        rules = self._wanted.rules
        value = kebab(self._field(key) or "")
        value = rules.deprecations.get(value, value)
        if value in rules.memory_types:
            return "type", value
        if value in rules.record_kinds:
            return "kind", value
        if self._place.space != "other":
            self._leave(key, f"the {key} is neither registered nor retired in the storage rules")
        return None

    def _is_memory(self) -> bool:
        """Does the note's status belong to the contract? That of a project or a page does not."""
        if self._place.space == "memory":
            return True
        types = self._wanted.rules.memory_types
        return not self._field("kind") and self._field("type") in types

    def _fields(self) -> Frontmatter:
        return read_frontmatter(self.data)

    def _field(self, key: str) -> str | None:
        return properties.text_of(self._fields(), key)

    def _leave(self, key: str, why: str) -> None:
        self.left.append(Left(self._fields().fields[key].line, why))

    def _rename(self, key: str, right: str, value: str) -> None:
        old, line = self._field(key), self._fields().fields[key].line
        if self._try(key, lambda data: set_key(rename_key(data, key, right), right, value)):
            self.edits.append(Edit(line, f"{key}: {old}", f"{right}: {value}"))

    def _merge(self, right: str, value: str, wrong: str) -> None:
        """The value under `right`, and the line of `wrong` away: both or neither."""
        before = self._fields()
        if not self._try(right, lambda data: remove_key(set_key(data, right, value), wrong)):
            return
        old = properties.text_of(before, right)
        if old != value:
            line = self._fields().fields[right].line
            self.edits.append(Edit(line, f"{right}: {old or ''}".rstrip(), f"{right}: {value}"))
        gone = properties.text_of(before, wrong)
        self.edits.append(Edit(before.fields[wrong].line, f"{wrong}: {gone}", None))

    def _set(self, key: str, value: str) -> None:
        old = self._fields().fields.get(key)
        text = self._field(key)
        if text == value:
            return
        if self._try(key, lambda data: set_key(data, key, value)):
            before = None if old is None else f"{key}: {text or ''}".rstrip()
            self.edits.append(Edit(self._fields().fields[key].line, before, f"{key}: {value}"))

    def _try(self, key: str, change: Callable[[bytes], bytes]) -> bool:
        try:
            self.data = change(self.data)
        except EditRefused as error:
            self.left.append(Left(error.line or 0, f"`{key}` can't be edited: {error.reason}"))
            return False
        return True
