"""The tokens by which a note is looked for and which no rewrite may lose: code, URLs, dates,
identifiers, numbers and names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from agentm_assets.enrichment.gates.dates import find_dates
from agentm_assets.enrichment.gates.plain_words import NO_NAMES, SCAFFOLDING
from agentm_assets.extract.headings import find_headings
from agentm_assets.extract.identifiers import find_identifiers
from agentm_assets.extract.mask import ALL, Region, blank, find_regions

TokenKind = Literal["code", "url", "date", "identifier", "number", "name"]

URL: Final = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s<>\"'`|\\^{}\[\]]+")
NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")

_RUN = re.compile(
    r"[^\s\"'`<>()\[\]{}|,;*\u201c\u201d\u201e\u00ab\u00bb]+"
    r"(?:,\d[^\s\"'`<>()\[\]{}|;*]*)?"
)
_EDGES: Final = ".:!?\u2026~-\u2013\u2014/=+&^%#@$\\"
_SENTENCE_END: Final = (".", "!", "?", ":", "\u2026", "\u3002", "\uff01", "\uff1f")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_MARKER = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])(?=[ \t]))?[ \t]*(?:\[[ xX]\][ \t])?[ \t]*")
_TICKET = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d+(?:-\d+)*")
_VERSION = re.compile(r"[vV]?(\d+(?:\.\d+)+)")
_WITH_UNIT = re.compile(r"(\d+(?:[.,]\d+)*)[A-Za-z\u00b5\u00b0%\u20ac$\u03a9]{1,5}")
_MONEY = re.compile(r"[$\u20ac\u00a3](\d+(?:[.,]\d+)*)[A-Za-z]?")
_DOTTED = re.compile(r"[^\W\d_][\w-]*(?:\.[\w-]+)+")
_UNDERSCORED = re.compile(r"\w*[^\W_]_+[^\W_]\w*")
_CAMEL = re.compile(r"[a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]{2,}\w*|[A-Z][a-z0-9]+[A-Z]\w*")
_MIXED = re.compile(r"(?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{4,}")
_CAPS = re.compile(r"[A-Z][A-Z0-9]+")
_PIECES = re.compile(r"[-/=\u2013\u2014\u2192\\:+&]+")
_FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*")
_NO_NAMES: Final = NO_NAMES | SCAFFOLDING
_POSSESSIVE = re.compile(r"['\u2019]s?\Z")
_HEX_GROUPS = re.compile(r"(?=[0-9a-fA-F-]*\d)[0-9a-fA-F]{4,}(?:-[0-9a-fA-F]{4,}){2,}")
"""A UUID."""


@dataclass(frozen=True, slots=True)
class Distinctive:
    """`text` as it is written. Code and identifiers count in their exact case, names in any."""

    kind: TokenKind
    text: str


def distinctive_tokens(text: str) -> tuple[Distinctive, ...]:
    """The distinctive tokens of a text, in order of kinds, each once. Linear.

    Headings give no names and no numbers, comments give nothing. Mid-sentence capitalised words are
    names; a word that opens a sentence, an item or a cell may be capitalised for that reason alone.
    """
    regions = find_regions(text)
    prose = blank(text, regions, ALL)
    found: dict[Distinctive, None] = {}
    for token in (
        *_in_code(text, regions),
        *_in_prose(prose, text),
    ):
        found.setdefault(token)
    return tuple(found)


def _in_code(text: str, regions: tuple[Region, ...]) -> Iterator[Distinctive]:
    for region in regions:
        inner = text[region.start : region.end]
        if region.kind == "code":
            content = " ".join(inner.strip("`").split())
            if content:
                yield Distinctive("code", content)
        elif region.kind in ("fence", "indented"):
            yield from _in_block(inner)


def _in_block(block: str) -> Iterator[Distinctive]:
    """Of a block of code its names, options, addresses and numbers, not each word."""
    for url in URL.finditer(block):
        yield Distinctive("url", trimmed_url(url[0]))
    bare = URL.sub(" ", block)
    for name in find_identifiers(bare, in_code=True):
        yield Distinctive("code", name)
    for flag in _FLAG.finditer(bare):
        yield Distinctive("code", flag[0])
    for number in NUMBER.finditer(bare):
        if _is_distinctive_number(number[0]):
            yield Distinctive("number", number[0])


def _in_prose(prose: str, text: str) -> Iterator[Distinctive]:
    for url in URL.finditer(prose):
        yield Distinctive("url", trimmed_url(url[0]))
    prose = URL.sub(lambda url: " " * len(url[0]), prose)
    headings = {heading.start: heading.end for heading in find_headings(text)}
    bare = list(prose)
    for start, end in headings.items():
        for at in range(start, end):
            if bare[at] not in "\r\n":
                bare[at] = " "
    for start, end in headings.items():
        for token in _of_runs(prose[start:end], starts=True):
            if token.kind == "identifier":
                yield token
    body = "".join(bare)
    for date in find_dates(body):
        yield Distinctive("date", body[date.start : date.end])
        for at in range(date.start, date.end):
            bare[at] = " "
    yield from _of_lines("".join(bare))


def _of_lines(prose: str) -> Iterator[Distinctive]:
    """A line goes on the sentence of the one above, unless that ended or this is an item."""
    continues = False
    for line in _LINE.finditer(prose):
        content = line[0].rstrip()
        marker = _MARKER.match(content)
        start = marker.end() if marker else 0
        is_item = bool(content[:start].strip())
        if not content.strip():
            continues = False
            continue
        yield from _of_runs(content[start:], starts=is_item or not continues)
        continues = not content.rstrip("*_\"')\u201d ").endswith(_SENTENCE_END)


def _of_runs(line: str, *, starts: bool) -> Iterator[Distinctive]:
    """`starts`: the line opens a sentence."""
    opens = starts
    end = 0
    for match in _RUN.finditer(line):
        between = line[end : match.start()]
        if "|" in between or any(mark in between for mark in '"\u201c\u201e\u00ab'):
            opens = True
        run = match[0]
        end = match.end()
        core = run.strip(_EDGES)
        if core:
            yield from _of_run(core, opens=opens)
            opens = False
        opens = opens or run.rstrip("_").endswith(_SENTENCE_END)


def _of_run(run: str, *, opens: bool) -> Iterator[Distinctive]:
    run = run.strip("_")
    if "@" in run or _TICKET.fullmatch(run) or _HEX_GROUPS.fullmatch(run):
        yield Distinctive("identifier", run)
        return
    for at, piece in enumerate(_PIECES.split(run)):
        piece = piece.strip(_EDGES)
        if piece:
            yield from _of_piece(piece, opens=opens and at == 0)


def _of_piece(piece: str, *, opens: bool) -> Iterator[Distinctive]:
    number = _VERSION.fullmatch(piece) or _WITH_UNIT.fullmatch(piece) or _MONEY.fullmatch(piece)
    if number or NUMBER.fullmatch(piece):
        written = number[1] if number else piece
        if _is_distinctive_number(written):
            yield Distinctive("number", written)
    elif _UNDERSCORED.fullmatch(piece):
        yield Distinctive("identifier", piece)
    elif _DOTTED.fullmatch(piece):
        yield from _of_dotted(piece, opens=opens)
    elif _CAPS.fullmatch(piece.removesuffix("s")):
        if piece.casefold() not in SCAFFOLDING:
            yield Distinctive("name", piece.removesuffix("s"))
    elif _CAMEL.fullmatch(piece) or _MIXED.fullmatch(piece):
        yield Distinctive("identifier", piece)
    elif not opens:
        yield from _name(piece)


def _of_dotted(piece: str, *, opens: bool) -> Iterator[Distinctive]:
    """`os.path`, `kettle.toml`, `api.acme.example`; not `e.g` nor `end.Start`."""
    segments = piece.split(".")
    if all(len(segment) == 1 for segment in segments):
        return
    last = segments[-1]
    if len(segments) == 2 and last[:1].isupper() and last[1:].islower():
        yield from _of_piece(segments[0], opens=opens) if segments[0] else ()
        return
    yield Distinctive("identifier", piece)


def _name(word: str) -> Iterator[Distinctive]:
    bare = _POSSESSIVE.sub("", word)
    folded = bare.casefold()
    if len(bare) > 1 and bare[0].isupper() and folded not in _NO_NAMES:
        yield Distinctive("name", bare)


def _is_distinctive_number(written: str) -> bool:
    return len(written) > 1


def trimmed_url(url: str) -> str:
    """Without what follows a URL in a sentence."""
    url = url.rstrip(".,;:!?*~_")
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1].rstrip(".,;:!?*~_")
    return url
