"""A line of a note as it may stand on a derived page: without markup that would act there."""

import re
from typing import Final

from agentm_assets.privacy.found import CONTACTS
from agentm_assets.privacy.scrub import PLACEHOLDER, restore, scrub
from agentm_assets.projects.document import one_line

LONGEST: Final = 280
"""Characters of a note that a list shows: about two lines."""

ORDER: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|any)\b"
    r".{0,40}\b(?:instruction|rule|prompt|message|context)"
    r"|\bsystem prompt\b|\byou (?:are now|must now|will now)\b|\bas an (?:ai|assistant)\b"
    r"|\b(?:do not|don't|never) (?:tell|inform|mention to) the (?:user|operator)\b"
    r"|\b(?:new|updated) instructions?\s*:",
    re.IGNORECASE,
)
"""What is written for an agent that reads it, not for a person."""

_WIKILINK = re.compile(r"!?\[\[([^\[\]\r\n|]{1,300})(?:\\?\|([^\[\]\r\n]{1,300}))?\]\]")
_LINK = re.compile(r"!?\[([^\[\]\r\n]{0,300})\]\([^()\r\n]{0,500}\)")
_MARKER = re.compile(
    r"\A(?:[ \t>]*(?:[-*+]|\d{1,9}[.)])?[ \t]+(?:\[[ xX]\][ \t])?|[ \t>]+|#{1,6}[ \t]+)"
)
_SENTENCE_END = re.compile(
    r"(?<=[.!?\u2026])[\"'\u201d\u2019)]*[ \t]+(?=[^\sa-z])|(?<=[\u3002\uff01\uff1f])"
)
_LINES = re.compile(r"[^\r\n]+")
_HEADER = re.compile(
    r"[ \t>*-]{0,8}[A-Za-z][A-Za-z-]{1,30}(?:\*\*)?:(?:\*\*)?[ \t]+[^\r\n]{0,200}@"
)
_NO_PROSE = re.compile(
    r"[ \t]{0,3}(?:#{1,6}[ \t]|[`~]{3}|\||---+[ \t]*\Z)"
    r"|[ \t>*-]{0,8}(?:From|To|Cc|Date|Sent|Subject|Attached|Sender|Reply-To|[A-Za-z-]{2,30}-by)"
    r"(?:\*\*)?:",
    re.IGNORECASE,
)
_ACTING: Final = (("[", " "), ("]", " "), ("<", "&lt;"), ("{{", "{ {"), ("%%", "%"), ("::", ":"))
"""What note editors and this one obey, and what stands instead."""


def quotable(text: str) -> str:
    """The text on one line, links by their labels, nothing in it that a page obeys, at most LONGEST
    characters. "" when it would show a secret, or pass on an order to an agent."""
    if ORDER.search(text):
        return ""
    cleared = _LINK.sub(r"\1", _WIKILINK.sub(lambda m: m[2] or m[1], text))
    cleared = one_line(_MARKER.sub("", cleared))
    scrubbed = scrub(cleared)
    if any(found[1] not in CONTACTS for found in PLACEHOLDER.finditer(scrubbed.text)):
        return ""
    cleared = restore(scrubbed.text, scrubbed)
    for marks, instead in _ACTING:
        cleared = cleared.replace(marks, instead)
    if cleared.count("`") % 2:
        cleared = cleared.replace("`", "'")
    return shortened(" ".join(cleared.split()))


def shortened(text: str) -> str:
    """At most LONGEST characters, cut between words where there are any."""
    if len(text) <= LONGEST:
        return text
    cut = text[: LONGEST - 1]
    blank = cut.rfind(" ")
    return (cut[:blank] if blank > LONGEST // 2 else cut).rstrip(" ,;:") + "\u2026"


def lead_sentence(text: str) -> str:
    """The first sentence of prose: no heading, no header of a mail, no trailer, no fence; "" when
    there is none."""
    for line in _LINES.finditer(text):
        if line[0].strip() and not _NO_PROSE.match(line[0]):
            return sentence_around(text, line.start())
    return ""


def is_header(line: str) -> bool:
    """Whether the line only says whose or from when something is (`From: Anna <a@example.org>`)."""
    return _HEADER.match(line) is not None


def sentence_around(text: str, at: int) -> str:
    """The sentence of the line in which the character at `at` stands."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    ends = [end for end in (text.find("\n", at), text.find("\r", at)) if end >= 0]
    line = text[start : min(ends, default=len(text))]
    first = 0
    for found in _SENTENCE_END.finditer(line):
        if found.end() > at - start:
            return line[first : found.start()]
        first = found.end()
    return line[first:]
