"""What an answer must not bring into a note: HTML, text that no reader sees, odd characters."""

import re
import unicodedata
from typing import Final

from agentm_assets.extract.mask import Region, RegionKind, blank, find_regions

_LITERAL: Final[frozenset[RegionKind]] = frozenset({"fence", "indented", "code", "math"})
"""Where a tag is shown, not obeyed. Raw HTML blocks are not among them."""

_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:(?=[>/])|\s|\Z)[^<>]{0,500}>?|<[!?][^<>]{0,500}>?")
_TEMPLATE = re.compile(r"<%")
_KEPT: Final = "\t\n\r"


def new_html(text: str, before: str) -> bool:
    """Whether `text` holds a tag, declaration or template that `before` lacks, code apart."""
    known = set(_tags(before))
    return any(tag not in known for tag in _tags(text))


def hidden_text(text: str, before: str) -> bool:
    """Whether `text` has a comment (`%%…%%`, `<!--…-->`) or drawing data that `before` lacks."""
    known = {before[region.start : region.end] for region in _hidden(before)}
    return any(text[region.start : region.end] not in known for region in _hidden(text))


def new_characters(text: str, before: str) -> bool:
    """Whether `text` has control or format characters (bidirectional marks, zero-width signs) or
    halves of surrogate pairs that `before` lacks."""
    odd = {char for char in set(text) if _is_odd(char)}
    return bool(odd - set(before))


def _tags(text: str) -> list[str]:
    bare = blank(text, find_regions(text), _LITERAL)
    return [found[0] for form in (_TAG, _TEMPLATE) for found in form.finditer(bare)]


def _hidden(text: str) -> list[Region]:
    return [region for region in find_regions(text) if region.kind in ("comment", "payload")]


def _is_odd(char: str) -> bool:
    return char not in _KEPT and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co")
