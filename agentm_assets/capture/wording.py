"""Checking and cleaning what a capture was given, before anything is looked up or written."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import NamedTuple

from agentm_assets.capture.request import CaptureRefused, CaptureRequest
from agentm_assets.contract.lines import split_lines

MAX_TEXT_BYTES = 1024 * 1024
"""A memory answers one question; a longer text is a document and belongs into a file of its own."""

MAX_TITLE = 300
MAX_SOURCE = 4_000
MAX_INSTRUCTIONS = 8_000
MAX_NAME = 200
MAX_ALIASES = 24
MAX_TAGS = 50
"""In characters, and in names."""

_DERIVED_TITLE = 100
_READ_AHEAD = 64 * 1024  # of a long text, for a title

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
# A clause ends at such a mark before a blank, or at one of the scripts that write no blanks.
_CLAUSE_END = re.compile(
    "(?<![.\\s]\\w)[.!?;](?=\\s|\\Z)|[\u3002\uff01\uff1f\uff1b\u0964\u061f\u06d4]"
)
_SHORTEST_CLAUSE = 12  # "e.g." and "v2." end none; a script without blanks says more in less
_LINES_READ = 200
_TAG_EDGES = re.compile(r"\A[#\s-]+|[\s-]+\Z")
_LINE_MARKS = re.compile(r"(?:[#>*+|=~`-]+|\[[ xX]?\]|\d+[.)])(?:\s+|\Z)|[#>*+|=~`-]+\Z|`{3,}.*\Z")
_BRACKETS = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|\[([^\[\]]*)\]\([^()]*\)")
_CODE = re.compile(r"(`{1,3})([^`]{1,300})\1")
# Emphasis: a pair of marks outside of words that hugs what it encloses, which has no such mark.
_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3})(?P<starred>[^\s*.,;:/\\)](?:[^*\n]{0,300}[^\s*])?)\1(?![\w*])"
    r"|(?<!\w)(_{1,3})(?P<barred>[^\s_](?:(?:[^_\n]|(?<=\w)_(?=\w)){0,300}[^\s_])?)\3(?!\w)"
)
_EMPHASIS_DEPTH = 3
_SHIELD = str.maketrans("*_", "\ufdd0\ufdd1")  # no characters (Unicode 23.7), for marks in code
_UNSHIELD = str.maketrans("\ufdd0\ufdd1", "*_")
_DUNDER = re.compile(r"__[a-z0-9]+(?:_[a-z0-9]+)*__")  # a name in Python, and no bold word


class Wording(NamedTuple):
    """A request's words as they are stored. `derived_title`: the title is the text's first
    clause."""

    body: bytes
    title: str
    derived_title: bool
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    source: str | None
    instructions: str | None


def check_wording(request: CaptureRequest) -> Wording:
    """The words of a request, cleaned. Raises CaptureRefused."""
    body = _body(request.text)
    title = _one_line(request.title, "title", MAX_TITLE)
    return Wording(
        body=body,
        title=title or _first_clause(request.text),
        derived_title=title is None,
        tags=_names(request.tags, "tag", "tags", MAX_TAGS, _tag),
        aliases=_names(request.aliases, "alias", "aliases", MAX_ALIASES, _alias),
        source=_one_line(request.source, "source", MAX_SOURCE),
        instructions=_kept(request.instructions, "instructions", MAX_INSTRUCTIONS),
    )


def _body(text: str) -> bytes:
    if "\0" in text:
        raise CaptureRefused(
            "text-binary", "the text holds a NUL, so it is no text", "Give text as UTF-8"
        )
    try:
        body = text.encode()
    except UnicodeEncodeError as error:
        raise CaptureRefused(
            "text-not-utf8", "the text is not valid UTF-8", "Give text as UTF-8"
        ) from error
    if not text.strip():
        raise CaptureRefused("text-empty", "the text is empty", "Give the text to remember")
    if len(body) > MAX_TEXT_BYTES:
        raise CaptureRefused(
            "text-too-long",
            f"the text has {len(body):,} bytes, over the limit of {MAX_TEXT_BYTES:,}",
            "Capture what is worth asking for, or put the file into the vault itself",
        )
    return body


def _kept(text: str | None, name: str, limit: int) -> str | None:
    """Stripped, else as given; None when nothing is left."""
    if text is None or not text.strip():
        return None
    if _UNSTORABLE.search(text):
        raise CaptureRefused(f"{name}-not-utf8", f"the {name} is not valid text", "Give UTF-8 text")
    text = text.strip()
    if len(text) > limit:
        raise CaptureRefused(
            f"{name}-too-long",
            f"the {name} has {len(text):,} characters, over the limit of {limit:,}",
            f"Shorten the {name}, or put it into the text",
        )
    return text


def _one_line(text: str | None, name: str, limit: int) -> str | None:
    kept = _kept(text, name, limit)
    return None if kept is None else " ".join(kept.split())


def _names(
    given: Iterable[str], kind: str, plural: str, most: int, clean: Callable[[str], str]
) -> tuple[str, ...]:
    """Without repeats, in the order given, composed; what is empty falls away."""
    found: dict[str, str] = {}
    for each in given:
        name = clean(_one_line(each, kind, MAX_NAME) or "")
        if name:
            found.setdefault(name.casefold(), name)
    if len(found) > most:
        raise CaptureRefused(
            f"too-many-{plural}",
            f"{len(found)} {plural} were given; {most} are allowed",
            "Give fewer",
        )
    return tuple(found.values())


def _tag(text: str) -> str:
    """A tag without its `#`, on one word."""
    return "-".join(_TAG_EDGES.sub("", _alias(text)).split())


def _alias(text: str) -> str:
    """Without the brackets of a link, which are no part of a name."""
    while text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].strip()
    return text


def _first_clause(text: str) -> str:
    """A title from the first line that says something, up to the end of its first clause.

    A block of properties at the beginning is passed over: it is text here, and no title.
    """
    head = _without_block(text.encode())[:_READ_AHEAD].decode("utf-8", "ignore")
    for line in split_lines(head)[:_LINES_READ]:
        if not any(character.isalnum() for character in line):
            continue
        words = " ".join(_plain(line).split())
        if any(character.isalnum() for character in words):
            ends = (match.start() for match in _CLAUSE_END.finditer(words))
            end = next((at for at in ends if at >= _SHORTEST_CLAUSE or words[at] > "\x7f"), None)
            return _shortened(words[:end] if end else words)
    return _shortened(" ".join(text[:_READ_AHEAD].split()))


def _without_block(body: bytes) -> bytes:
    if not body.startswith((b"---", b"\xef\xbb\xbf---")):
        return body
    from agentm_assets.contract.block import find_fences  # brings YAML: a quarter of a capture

    fences = find_fences(body)
    return body if fences is None or fences.body is None else body[fences.body :]


def _plain(line: str) -> str:
    """A line without the marks of markdown. Only the beginning of a long line is looked at."""
    text = line[: 4 * MAX_TITLE].strip().lstrip("\ufeff")
    while (mark := _LINE_MARKS.match(text)) is not None:
        text = text[mark.end() :]
    text = _BRACKETS.sub(lambda match: match[1] or match[2] or "", text)
    return _without_emphasis(text)


def _without_emphasis(text: str) -> str:
    """Without marks that format; those which belong to a name (`max_retry_count`, `*.py`) stay."""
    text = _CODE.sub(lambda match: (match[2].strip() or match[0]).translate(_SHIELD), text)
    for _ in range(_EMPHASIS_DEPTH):
        text = _EMPHASIS.sub(_enclosed, text)
    return text.translate(_UNSHIELD)


def _enclosed(match: re.Match[str]) -> str:
    if _DUNDER.fullmatch(match[0]):
        return match[0]
    return match["starred"] or match["barred"]


def _shortened(clause: str) -> str:
    clause = unicodedata.normalize("NFC", clause)
    if len(clause) <= _DERIVED_TITLE:
        return clause
    cut = clause.rfind(" ", 0, _DERIVED_TITLE)
    end = cut if cut > _DERIVED_TITLE // 2 else _DERIVED_TITLE
    while end > 1 and unicodedata.category(clause[end])[0] == "M":
        end -= 1
    return clause[:end]
