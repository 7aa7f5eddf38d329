"""Where links keep their targets: the places in which a bare reference means nothing.

`[x](page.md#12)`, `[[n#12]]`, `[k]: page.md#12` and `href="#12"` hold fragments, not issue
numbers. The text of a link does count, once: where it only repeats what the target names, the
target speaks for both.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_RUN = re.compile(r"\S+")
_MARKS = re.compile(r"\\.|[()\[\]]", re.DOTALL)
_INLINE = "]("
_WIKILINK = re.compile(r"\[\[([^\[\]\n\r|]*)(?:\|[^\[\]\n\r]*)?\]\]")
_DEFINITION = re.compile(
    r"(?:^|(?<=[\n\r])) {0,3}\[(?!\^)((?:\\.|[^\[\]\\\n\r]){1,999})\]:"
    r"[ \t]*+(?:\r?\n)?[ \t]*+(\S+)"
)
_ATTRIBUTE = re.compile(r"(?<=[\w-])=(?:\"[^\"\n\r]*\"|'[^'\n\r]*')")
_REFERENCE = re.compile(r"\[([^\[\]\n\r]{0,999})\]")
_LABEL_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class LinkSpan:
    """One link: the text it shows and the target behind it, as character ranges."""

    text_start: int
    text_end: int
    target_start: int
    target_end: int


@dataclass(frozen=True, slots=True)
class LinkSpans:
    links: tuple[LinkSpan, ...]
    """Links that show a text of their own. Texts are disjoint and in order."""
    targets: tuple[tuple[int, int], ...]
    """Every range that is a target, not text."""


def find_link_spans(masked: str) -> LinkSpans:
    """Targets of inline, reference-style and wiki links and of HTML attributes.

    `masked` is the text with code, comments and maths blanked. Linear: brackets are matched in
    one pass.
    """
    inline = _inline_links(masked) if _INLINE in masked else []
    targets = [(link.target_start, link.target_end) for link in inline]
    if "[[" in masked:
        targets.extend(match.span(1) for match in _WIKILINK.finditer(masked))
    definitions: dict[str, tuple[int, int]] = {}
    if "]:" in masked:
        for match in _DEFINITION.finditer(masked):
            definitions.setdefault(_fold_label(match[1]), match.span(2))
            targets.append((match.start(1), match.end(2)))
    if '="' in masked or "='" in masked:
        targets.extend(match.span() for match in _ATTRIBUTE.finditer(masked))
    links = inline + (_reference_links(masked, definitions) if definitions else [])
    return LinkSpans(_disjoint(links), tuple(sorted(targets)))


def blank_spans(text: str, spans: Iterable[tuple[int, int]], filler: str) -> str:
    """`text` with every character of the ordered spans replaced by `filler`: same length."""
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        if end > done:
            start = max(start, done)
            pieces.append(text[done:start])
            pieces.append(filler * (end - start))
            done = end
    pieces.append(text[done:])
    return "".join(pieces)


def _inline_links(masked: str) -> list[LinkSpan]:
    """`[text](target)`: brackets are matched by a stack that a blank line empties."""
    targets = _TargetReader(masked)
    open_brackets: list[int] = []
    links: list[LinkSpan] = []
    last_mark = 0
    for match in _MARKS.finditer(masked):
        mark, at = match[0], match.start()
        if mark == "[":
            if open_brackets and _has_blank_line(masked, last_mark, at):
                open_brackets.clear()
            open_brackets.append(at)
            last_mark = at
        elif mark == "]" and open_brackets:
            opened = open_brackets.pop()
            if masked.startswith(_INLINE, at):
                links.append(LinkSpan(opened + 1, at, *targets.read(at + 2)))
    return links


def _has_blank_line(masked: str, start: int, end: int) -> bool:
    return masked.find("\n\n", start, end) != -1 or masked.find("\n\r\n", start, end) != -1


class _TargetReader:
    """Reads the targets of inline links from front to back.

    What one search learned (where this run of non-blanks ends, that this line has no `>` left) is
    kept for the next: `](](](…` would otherwise cost a search to the end for every link.
    """

    def __init__(self, masked: str) -> None:
        self._masked = masked
        self._closing = _matching_parens(masked)
        self._run_start = self._run_end = 0
        self._no_angle_before = 0

    def read(self, start: int) -> tuple[int, int]:
        """The target that begins at or after `start`, just behind `](`.

        It ends at `>` if it began with `<`, else at the bracket that closes it or at a blank.
        """
        if not self._run_start <= start < self._run_end:
            run = _RUN.search(self._masked, start)
            if run is None:
                return start, start
            self._run_start, self._run_end = run.span()
        begin = max(start, self._run_start)
        if self._masked[begin] == "<" and (angle := self._closing_angle(begin)) != -1:
            return begin, angle + 1
        closing = self._closing.get(start - 1)
        if closing is not None and closing <= self._run_end:
            return min(begin, closing), closing
        return begin, self._run_end

    def _closing_angle(self, begin: int) -> int:
        if begin < self._no_angle_before:
            return -1
        line_end = self._masked.find("\n", begin)
        line_end = line_end if line_end != -1 else len(self._masked)
        angle = self._masked.find(">", begin, line_end)
        if angle == -1:
            self._no_angle_before = line_end
        return angle


def _matching_parens(masked: str) -> dict[int, int]:
    """Opening to closing parenthesis; one that no other closes is left out."""
    stack: list[int] = []
    matching: dict[int, int] = {}
    for match in _MARKS.finditer(masked):
        if match[0] == "(":
            stack.append(match.start())
        elif match[0] == ")" and stack:
            matching[stack.pop()] = match.start()
    return matching


def _reference_links(masked: str, definitions: dict[str, tuple[int, int]]) -> list[LinkSpan]:
    """`[text][id]`, `[id][]` and `[id]` whose id is defined."""
    links: list[LinkSpan] = []
    previous: re.Match[str] | None = None
    for match in _REFERENCE.finditer(masked):
        text = previous if previous is not None and previous.end() == match.start() else None
        label = match[1] or (text[1] if text is not None else "")
        target = definitions.get(_fold_label(label))
        if target is not None:
            shown = text if text is not None else match
            links.append(LinkSpan(*shown.span(1), *target))
        previous = match
    return links


def _fold_label(label: str) -> str:
    return _LABEL_BLANKS.sub(" ", label.strip()).casefold()


def _disjoint(links: list[LinkSpan]) -> tuple[LinkSpan, ...]:
    """Links in order, each text cut back to what no earlier link covers (an image in a link)."""
    kept: list[LinkSpan] = []
    covered = 0
    for link in sorted(links, key=lambda each: (each.text_end, each.text_start)):
        start = max(link.text_start, covered)
        if start < link.text_end:
            kept.append(LinkSpan(start, link.text_end, link.target_start, link.target_end))
        covered = max(covered, link.text_end)
    return tuple(kept)
