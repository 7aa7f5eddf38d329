"""What an answer must not bring into a note: HTML, text that no reader sees, odd characters."""

import re
import unicodedata
from typing import Final

from agentm_assets.extract.mask import Region, RegionKind, blank, find_regions

_LITERAL: Final[frozenset[RegionKind]] = frozenset({"fence", "indented", "code", "math"})
"""Where a tag is shown, not obeyed. Raw HTML blocks are not among them."""

_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:(?=[>/])|\s|\Z)[^<>]{0,500}>?|<[!?][^<>]{0,500}>?")
_TEMPLATE = re.compile(r"<%|\{\{|^[ \t>*-]*[\w -]{1,60}::(?=[ \t])", re.MULTILINE)
_OBEYED = re.compile(
    r"^[ \t>]*(?:`{3,}|~{3,})[ \t]*(?:dataview(?:js)?|tasks|query|button|js-engine|templater"
    r"|meta-bind[\w-]*|base)\b",
    re.MULTILINE | re.IGNORECASE,
)
"""Fences that note editors run instead of showing them."""
_DEFINITION = re.compile(
    r"^[ \t>]{0,8}\[[^\]\n]{1,200}\]:[ \t]*(?:<[^>\n]*>|\S+)[ \t]*(?:[\"'(].*)?$", re.MULTILINE
)
_SHOWN_DEFINITION = re.compile(r"^[ \t>]{0,8}\[(?!//)[^\]\n]+\]:[ \t]*<?(?!#)[^\s>]+>?[ \t]*$")
_LINK_TITLE = re.compile(r"\]\([^()\s]{0,500}[ \t]+(?P<title>\"[^\"\n]{1,300}\"|'[^'\n]{1,300}')")
_KEPT: Final = "\t\n\r"
_STYLED = re.compile("(?<=[\u00a9-\u00ae\u203c-\u3299\U0001f000-\U0001faff0-9#*])[\ufe0e\ufe0f]")
"""The sign that shows an emoji as picture or text, behind one."""
_INVISIBLE: Final = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2065, 0x2065)),
    *((0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8)),
    (0xE0000, 0xE0FFF),
)
"""Code points that show nothing, beside the categories of control and format signs (Unicode 15.1,
DerivedCoreProperties, Default_Ignorable_Code_Point; and the blank of Braille)."""


def new_html(text: str, before: str) -> bool:
    """Whether `text` holds a tag, declaration or template that `before` lacks, code apart; or code
    that note editors run."""
    known = set(_tags(before))
    return any(tag not in known for tag in _tags(text))


def hidden_text(text: str, before: str) -> bool:
    """Whether `text` has a comment (`%%…%%`, `<!--…-->`), drawing data, or words in a definition
    or title of a link, that `before` lacks."""
    known = {before[region.start : region.end] for region in _hidden(before)}
    if any(text[region.start : region.end] not in known for region in _hidden(text)):
        return True
    titles = {found["title"][1:-1] for found in _LINK_TITLE.finditer(text)}
    lines = {found[0].strip() for found in _DEFINITION.finditer(text)}
    told = {line for line in lines if not _SHOWN_DEFINITION.match(line)}
    return any(each not in before for each in titles | told)


def new_characters(text: str, before: str) -> bool:
    """Whether `text` has control or format characters (bidirectional marks, zero-width signs) or
    halves of surrogate pairs that `before` lacks."""
    bare = _STYLED.sub("", text)
    odd = {char for char in set(bare) if _is_odd(char)}
    return bool(odd - set(before))


def _tags(text: str) -> list[str]:
    bare = blank(text, find_regions(text), _LITERAL)
    found = [found[0] for form in (_TAG, _TEMPLATE) for found in form.finditer(bare)]
    return found + [found[0].strip() for found in _OBEYED.finditer(text)]


def _hidden(text: str) -> list[Region]:
    return [region for region in find_regions(text) if region.kind in ("comment", "payload")]


def _is_odd(char: str) -> bool:
    if char in _KEPT:
        return False
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co"):
        return True
    return any(first <= ord(char) <= last for first, last in _INVISIBLE)
