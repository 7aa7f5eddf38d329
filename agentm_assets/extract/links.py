"""The links of a note to other files of the vault.

Wikilinks and embeds as Obsidian reads them, inline and reference links and images after CommonMark
0.31 and GFM, local targets of HTML tags. Nothing inside code, comments or maths is a link. What
points outside the vault is an entity, not a link.
"""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentm_assets.contract.block import safe_text
from agentm_assets.contract.lines import line_of, line_starts
from agentm_assets.extract.mask import ALL, INLINE, blank, blocks_of, find_regions
from agentm_assets.extract.model import Link, LinkKind, LinkSource
from agentm_assets.extract.offsets import byte_offsets
from agentm_assets.extract.percent import percent_decode
from agentm_assets.extract.references import Definitions, find_definitions, reference_key

LABEL_LIMIT = 1000
"""Characters of a label that are kept: nested images would else repeat each other's text."""

_MARK = re.compile(
    r"\\[!-/:-@\[-`{-~]"
    r"|(?P<wikilink>(?P<embed>!)?\[\[(?P<target>[^\[\]|\r\n]*)"
    r"(?P<label>\|(?:[^\[\]\r\n]|\[[^\[\]\r\n]*\])*)?\]\])"
    r"|(?P<opener>[!^]?\[)"
    r"|(?P<closer>\])"
)
_FIRST = re.compile(r"[\\!\[\]^]")
"""What a mark begins with: searched for eight times as fast as the marks themselves."""
_GAP = r"[ \t]*+(?:(?:\r\n?|\n)[ \t>]*+)?+"
_TITLE = r"(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))"


def _balanced(depth: int) -> str:
    """A bare destination with parentheses nested up to `depth` deep (CommonMark: at least 3)."""
    inner = rf"|\({_balanced(depth - 1)}\)" if depth else ""
    return rf"(?:[^\x00-\x20\x7f()\\]++|\\[!-/:-@\[-`{{-~]|\\{inner})*+"


_DESTINATION = re.compile(
    rf"\({_GAP}(?:<(?P<angle>(?:[^<>\\\r\n]|\\.)*+)>|(?P<bare>(?!<){_balanced(6)}))"
    rf"(?:(?=[ \t\r\n]){_GAP}{_TITLE})?+{_GAP}\)",
    re.DOTALL,
)
_REFERENCE = re.compile(r"\[((?:[^\[\]\\]|\\.)*+)\]", re.DOTALL)
_REFERENCE_LABEL = re.compile(r"(?:[^\[\]\\]|\\.)++", re.DOTALL)
_MAX_REFERENCE = 999  # characters (CommonMark 4.7)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_HTML_OPEN = re.compile(r"<(?:(?:img|audio|video|source|embed|iframe)|(a))(?=\s)", re.IGNORECASE)
_HTML_ATTRIBUTE = re.compile(
    r"\s++([A-Za-z_:][\w.:-]*+)"
    r"(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'=<>`]++)))?+"
)
_HTML_CLOSE = re.compile(r"\s*+/?>")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
# fmt: off
_SCHEMES = frozenset((
    "about", "app", "blob", "chrome", "command", "data", "doi", "file", "ftp", "ftps", "geo", "git",
    "http", "https", "irc", "ircs", "javascript", "magnet", "mailto", "news", "obsidian", "sftp",
    "sms", "ssh", "tel", "urn", "vscode", "ws", "wss", "xmpp", "zotero",
))
# fmt: on
_OBSIDIAN = re.compile(
    r"obsidian://(?:open\?(?P<query>.*)|vault/[^/]*/(?P<path>.*))", re.IGNORECASE
)
_FILE_NAME = re.compile(r"\.[A-Za-z0-9]{1,9}\Z")
_VERBATIM = re.compile(r"[^\\'\"\r\n]*")
_LOOSE_TARGET = re.compile(r"\]\(([^()<>\r\n]*+)\)")
_NO_DEFINITIONS = Definitions({}, {})


@dataclass(frozen=True, slots=True)
class _Found:
    kind: LinkKind
    target: str
    anchor: str | None
    label: str | None
    start: int


def extract_links(
    data: bytes,
    body_start: int,
    frontmatter_values: Sequence[tuple[str, int, int]] = (),
) -> tuple[Link, ...]:
    """All links of the note `data` whose body starts at byte `body_start`, ordered by offset.

    `frontmatter_values` are values of properties, each with the byte offset where it starts and
    its line. A wikilink in an obsidian://open address is given as what it names. Every occurrence
    is a link of its own. Takes time linear in the length.
    """
    links: list[tuple[int, int, LinkSource, _Found]] = []
    for value, offset, line in sorted(frontmatter_values, key=lambda value: value[1]):
        if "[" in value:
            at = offset
            for link in _scan(value, value, ((0, len(value)),), _NO_DEFINITIONS):
                start = _offset_in_source(data, value, link, at, body_start)
                links.append((start, line, "frontmatter", link))
                at = start + 1
    text = data[body_start:].decode("utf-8", "surrogateescape")
    found = _body_links(text)
    if found:
        starts = line_starts(text)
        lines_before = len(line_starts(data[:body_start])) - 1
        offsets = byte_offsets(text, [link.start for link in found])
        for link, offset in zip(found, offsets, strict=True):
            line = lines_before + line_of(starts, link.start)
            links.append((body_start + offset, line, "body", link))
    return tuple(
        Link(
            ordinal=ordinal,
            kind=link.kind,
            target=safe_text(link.target),
            anchor=None if link.anchor is None else safe_text(link.anchor),
            label=None if link.label is None else safe_text(link.label),
            start=start,
            line=line,
            source=source,
        )
        for ordinal, (start, line, source, link) in enumerate(links)
    )


def malformed_links(data: bytes, body_start: int) -> tuple[int, ...]:
    """Lines (from 1 in the file) with a blank in a bare target, as in `[k](My Kettle.md)`.

    CommonMark reads no link there; the operator meant one. `%20` or `<…>` mends it.
    """
    text = data[body_start:].decode("utf-8", "surrogateescape")
    if "](" not in text:
        return ()
    masked = blank(text, find_regions(text), ALL)
    starts = line_starts(text)
    lines_before = len(line_starts(data[:body_start])) - 1
    found = []
    for loose in _LOOSE_TARGET.finditer(masked):
        target = loose[1].partition("#")[0].strip(" \t")
        if (" " in target or "\t" in target) and _FILE_NAME.search(target):
            found.append(lines_before + line_of(starts, loose.start()))
    return tuple(dict.fromkeys(found))


def _body_links(text: str) -> list[_Found]:
    found: list[_Found] = []
    if "]]" in text or "](" in text or "]:" in text:
        masked = blank(text, find_regions(text), INLINE)
        blocks = blocks_of(text)
        definitions = find_definitions(text, blocks.paragraphs)
        found += _scan(text, masked, blocks.segments, definitions)
    if _HTML_OPEN.search(text):
        found += _html_links(blank(text, find_regions(text), ALL))
        found.sort(key=lambda link: link.start)
    return found


def _scan(
    text: str,
    masked: str,
    segments: Sequence[tuple[int, int]],
    definitions: Definitions,
) -> list[_Found]:
    """The links of each segment, in order of where they start."""
    found: list[_Found] = []
    for start, end in segments:
        if masked.find("[", start, end) >= 0:
            start = definitions.ends.get(start, start)
            _scan_segment(text, masked, start, end, definitions.targets, found)
    found.sort(key=lambda link: link.start)
    return found


def _scan_segment(
    text: str,
    masked: str,
    start: int,
    end: int,
    defined: Mapping[str, str],
    found: list[_Found],
) -> None:
    openers: list[tuple[int, str]] = []  # offset and spelling of brackets that are not closed yet
    dead = 0  # so many of the openers stand before a link, and links hold no links (6.3)
    at = start
    while ahead := _FIRST.search(masked, at, end):
        mark = _MARK.match(masked, ahead.start(), end)
        if mark is None:
            at = ahead.end()
            continue
        at = mark.end()
        if mark["wikilink"]:
            destination = None if mark["embed"] else _path_after(masked, at, end)
            if destination is None:
                _add_wikilink(mark, found)
                continue
            # `[[1]](https://…)` is a markdown link whose label is in brackets.
            label = text[mark.start() + 1 : at - 1]
            _add_target("markdown", _written(destination), label, mark.start(), found)
            at = destination.end()
            dead = len(openers)
        elif mark["opener"]:
            openers.append((mark.start(), mark["opener"]))
        elif mark["closer"] and openers:
            opened, spelling = openers.pop()
            alive = len(openers) >= dead or spelling == "!["
            dead = min(dead, len(openers))
            if spelling == "^[" or not alive:
                continue
            label_start = opened + len(spelling)
            after, target = _target_after(text, masked, label_start, mark.start(), end, defined)
            if target is None:
                continue
            label = text[label_start : min(mark.start(), label_start + LABEL_LIMIT)]
            _add_target("image" if spelling == "![" else "markdown", target, label, opened, found)
            at = after
            if spelling == "[":
                dead = len(openers)


def _path_after(masked: str, at: int, end: int) -> re.Match[str] | None:
    """The destination that follows a wikilink, if it looks like a path or URL, unlike `(s)`."""
    if masked[at : at + 1] != "(":
        return None
    destination = _DESTINATION.match(masked, at, end)
    if destination is None:
        return None
    target = _written(destination)
    looks_like_path = "/" in target or target[:1] == "#" or _FILE_NAME.search(target)
    return destination if looks_like_path or is_external(target) else None


def _written(destination: re.Match[str]) -> str:
    bare: str | None = destination["bare"]
    return destination["angle"] if bare is None else bare


def _target_after(
    text: str, masked: str, label_start: int, closer: int, end: int, defined: Mapping[str, str]
) -> tuple[int, str | None]:
    """Where the link whose label ends at `closer` ends, and its target, None if it is no link."""
    at = closer + 1
    following = masked[at : at + 1]
    if following == "(":
        destination = _DESTINATION.match(masked, at, end)
        if destination is not None:
            return destination.end(), _written(destination)
    if not defined:
        return at, None
    reference = _REFERENCE.match(masked, at, end) if following == "[" else None
    if reference is not None:
        at = reference.end()
        label = text[reference.start(1) : reference.end(1)]
        if label.strip():
            return at, defined.get(reference_key(label))
    if closer - label_start > _MAX_REFERENCE:
        return at, None
    if not _REFERENCE_LABEL.fullmatch(masked, label_start, closer):
        return at, None
    return at, defined.get(reference_key(text[label_start:closer]))


def _add_wikilink(mark: re.Match[str], found: list[_Found]) -> None:
    target, label = mark["target"], mark["label"]
    if label is not None:
        # In a table the bar is escaped; the backslash belongs to the bar.
        target = target.removesuffix("\\")
        label = label[1:].strip()
    target = target.strip()
    if is_external(target, wikilink=True):
        return
    name, hash_mark, anchor = target.partition("#")
    if not name.strip() and not anchor.strip():
        return
    found.append(
        _Found(
            "embed" if mark["embed"] else "wikilink",
            name.strip(),
            anchor if hash_mark else None,
            label if label is None else label[:LABEL_LIMIT],
            mark.start(),
        )
    )


def _add_target(
    kind: LinkKind, written: str, label: str | None, start: int, found: list[_Found]
) -> None:
    """Add a link with a markdown or HTML target, unless it points outside the vault or nowhere."""
    target = _ENTITY.sub(lambda entity: html.unescape(entity[0]), written)
    target = (target if kind == "html" else _ESCAPE.sub(r"\1", target)).strip()
    opened = _OBSIDIAN.match(target)
    if opened is not None:
        kind, target = "wikilink", _opened_note(opened)
    elif is_external(target) or target[:1] == "?":
        return
    path, _, fragment = target.partition("#")
    if path or fragment:
        anchor = percent_decode(fragment) if fragment else None
        found.append(_Found(kind, path, anchor, label, start))


def _opened_note(address: re.Match[str]) -> str:
    """The note that an obsidian:// address opens: a name or a path from the vault's root."""
    if address["path"] is not None:
        return percent_decode(address["path"])
    for parameter in address["query"].split("&"):
        name, _, value = parameter.partition("=")
        if name == "file":
            return percent_decode(value)
    return ""


def is_external(target: str, *, wikilink: bool = False) -> bool:
    """Whether a target leaves the vault: it has a scheme (RFC 3986 3.1) or a host.

    A drive letter is no scheme, and names may hold a colon: `Note: x`, `Jobs:Tasks.md`. In a
    wikilink only schemes in common use count, since it names a note.
    """
    if target.startswith("//"):
        return not wikilink
    scheme = _SCHEME.match(target)
    if scheme is None:
        return False
    rest = target[scheme.end() :]
    if rest.startswith("//"):
        return True
    if not rest or rest[0].isspace() or rest.startswith("%20"):
        return False
    if scheme[1].lower() in _SCHEMES:
        return True
    return not wikilink and not rest.partition("#")[0].lower().endswith(".md")


def _html_links(masked: str) -> list[_Found]:
    found: list[_Found] = []
    at = 0
    while opened := _HTML_OPEN.search(masked, at):
        at = opened.end()
        wanted = "href" if opened[1] else "src"
        target: str | None = None
        while attribute := _HTML_ATTRIBUTE.match(masked, at):
            at = attribute.end()
            if target is None and attribute[1].lower() == wanted:
                target = next((value for value in attribute.groups()[1:] if value is not None), "")
        if target and _HTML_CLOSE.match(masked, at):
            _add_target("html", target, None, opened.start(), found)
    return found


def _offset_in_source(data: bytes, value: str, link: _Found, at: int, body_start: int) -> int:
    """Where a property's link stands in the file: at or after `at`, where its value starts.

    Quotes and escapes of YAML can make the source differ from the value.
    """
    source = _VERBATIM.match(value, link.start)
    assert source is not None  # the pattern matches nothing as well
    found = data.find(source[0].encode("utf-8", "surrogateescape"), at, body_start)
    return found if found >= 0 else at
