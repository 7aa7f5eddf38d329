"""Typed readers of a note's properties: title, tags, aliases, dates.

They read what operators and their tools have written over the years, in every form that has one
sensible meaning, and never fail. Which forms deserve a word to the operator is `note`'s business.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

import yaml

from agentm_assets.contract.block import BlockError, block_text, compose, safe_text
from agentm_assets.contract.dates import parse_date as parse_date
from agentm_assets.contract.frontmatter import FieldValue, Frontmatter

CAPTURED_KEYS: Final = ("captured", "created", "date")
"""Where the day of capture is looked for, best first."""


@dataclass(frozen=True, slots=True)
class DateProperty:
    """A date as the operator wrote it. `value` is None when the text is no ISO date or datetime.

    A date is a calendar day and is never shifted by a time zone; a datetime keeps the offset it
    was written with, and has none when none was written.
    """

    key: str
    text: str
    line: int
    value: date | datetime | None


def text_of(frontmatter: Frontmatter, key: str) -> str | None:
    """A property's text without surrounding blanks; None when it is absent, null, empty or no
    scalar."""
    field = frontmatter.fields.get(key)
    if field is None or field.kind != "scalar":
        return None
    return field.text.strip() or None


def title(frontmatter: Frontmatter) -> str | None:
    """The note's title on one line; None when the block gives none. A `title` inside another
    property is not the note's."""
    text = text_of(frontmatter, "title")
    return " ".join(text.split()) if text else None


def tags(frontmatter: Frontmatter) -> tuple[str, ...]:
    """The tags, in the order written, without their `#`, without repeats (case is ignored).

    A list's items are taken whole (`red team` is one tag, if not a good one). A single text is
    split on commas, or on blanks when it has no comma.
    """
    found: list[str] = []
    for field in _named(frontmatter, "tags", "tag"):
        if field.kind == "scalar":
            listed = list_in_text(field.text)
            if listed is None:
                listed = field.text.split("," if "," in field.text else None)
            found.extend(listed)
        else:
            found.extend(_items(field))
    return _distinct(tag.strip().removeprefix("#").strip() for tag in found)


def aliases(frontmatter: Frontmatter) -> tuple[str, ...]:
    """The note's other names, in the order written, without repeats (case is ignored).

    A list's items are taken whole, commas and all. A single text is split on commas.
    """
    found: list[str] = []
    for field in _named(frontmatter, "aliases", "alias"):
        if field.kind == "scalar":
            listed = list_in_text(field.text)
            found.extend(field.text.split(",") if listed is None else listed)
        else:
            found.extend(_items(field))
    return _distinct(" ".join(alias.split()) for alias in found)


def captured(frontmatter: Frontmatter) -> DateProperty | None:
    """When the note was captured: the first of `CAPTURED_KEYS` that holds an ISO date."""
    return _first_date(frontmatter, CAPTURED_KEYS)


def updated(frontmatter: Frontmatter) -> DateProperty | None:
    """When the note was last changed, as `updated` or else `modified` says."""
    return _first_date(frontmatter, ("updated", "modified"))


def read_date(frontmatter: Frontmatter, key: str) -> DateProperty | None:
    """The date under one key; None when the key is absent, null or no scalar."""
    text = text_of(frontmatter, key)
    if text is None:
        return None
    return DateProperty(key, text, frontmatter.fields[key].line, parse_date(text))


def list_in_text(text: str) -> list[str] | None:
    """The items of a list that was written as a text, such as `'["a", "b"]'`.

    None when the text has no brackets around it. A text in brackets that is no list of plain
    values is refused: it gives no item, rather than pieces with brackets and quotes on them.
    """
    stripped = text.strip()
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return None
    try:
        listed = json.loads(stripped)
    except (ValueError, RecursionError):
        return _yaml_list(stripped)
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        return _yaml_list(stripped)
    return [safe_text(item) for item in listed]


def _yaml_list(text: str) -> list[str]:
    """The scalars of a YAML flow list; nothing when it is no such list or holds anything else."""
    source = block_text(text.encode())
    try:
        root = compose(source)
    except BlockError:
        return []
    if not isinstance(root, yaml.SequenceNode):
        return []
    if not all(isinstance(item, yaml.ScalarNode) for item in root.value):
        return []
    return [source.safe(item.value) for item in root.value]


def _named(frontmatter: Frontmatter, *names: str) -> Iterator[FieldValue]:
    """The fields with one of the names, whatever the case."""
    for key, field in frontmatter.fields.items():
        if key.casefold() in names:
            yield field


def _items(field: FieldValue) -> Iterator[str]:
    """A list's items; the brackets of an unquoted wikilink are no part of a name."""
    for item in field.items:
        linked = item.startswith("[[") and item.endswith("]]")
        yield item[2:-2] if linked else item


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for text in texts:
        if text:
            found.setdefault(text.casefold(), text)
    return tuple(found.values())


def _first_date(frontmatter: Frontmatter, keys: Iterable[str]) -> DateProperty | None:
    for key in keys:
        found = read_date(frontmatter, key)
        if found is not None and found.value is not None:
            return found
    return None
