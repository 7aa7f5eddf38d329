"""The block structure of a note's body: which lines are code, raw HTML, headings, paragraphs.

One forward pass over the lines after CommonMark 0.31 (sections 4 and 5): containers (block quotes,
list items, footnote definitions) are matched line by line, so that a fence inside a quote ends with
the quote and an indented line inside a list item is text. Inline constructs (code spans, comments,
maths) are found later, within the segments that this pass leaves: see `mask.py`.
"""

import re
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["fence", "indented", "comment", "html"]
Container = Literal["", "quote", "list"]

_MAX_DEPTH = 100
"""Containers nested deeper are text (real notes reach about 10): bounds the work per line."""

_EOL = re.compile(r"\r\n?|\n")
_BLANKS = re.compile(r"[ \t]*")
# Lines of which the first characters tell that they start no block.
_PLAIN_LINES = re.compile(
    r"(?:(?:[^\W\d_]|[^\w\s#>\-+*=~`<\[]|\[(?!\^)|\d++(?![.)])|#++(?![\s#]|\Z)|\*{1,2}(?=[^\s*])"
    r"|-(?=[^\s-])|\+(?=[^\s+])|_(?=[^\s_])|`{1,2}(?=[^`\r\n])|~{1,2}(?=[^~\r\n]))"
    r"[^\r\n]*(?:\r\n?|\n|\Z))++"
)
_FENCE_END = {
    "`": re.compile(r"(?<![^\r\n]) {0,3}(`{3,})[ \t]*(?=[\r\n]|\Z)"),
    "~": re.compile(r"(?<![^\r\n]) {0,3}(~{3,})[ \t]*(?=[\r\n]|\Z)"),
}
_ATX = re.compile(r"(#{1,6})(?:[ \t]|(?=[\r\n])|\Z)")
_FENCE = re.compile(r"(`{3,}(?=[^`\r\n]*(?:[\r\n]|\Z))|~{3,})")
_SETEXT = re.compile(r"(?:=+|-+)[ \t]*(?=[\r\n]|\Z)")
_THEMATIC = re.compile(r"(?:(?:\*[ \t]*){3,}+|(?:-[ \t]*){3,}+|(?:_[ \t]*){3,}+)(?=[\r\n]|\Z)")
_LIST_MARK = re.compile(r"([-+*]|(\d{1,9})[.)])(?=[ \t\r\n]|\Z)")
_FOOTNOTE_MARK = re.compile(r"\[\^[^\]\s]{1,200}\]:")
_DEFINITIONS = re.compile(
    r"(?:[ \t>]*\[(?!\^)(?:[^\[\]\\]|\\.)++\]:[ \t]*(?:<[^<>\r\n]*>|[^\s<]\S*)"
    r"(?:[ \t]+(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|\([^()\r\n]*\)))?[ \t]*(?:\r\n?|\n|\Z))+"
)
_TABLE_RULE = re.compile(
    r"[ \t>]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+\Z"
)
# GFM would end the cell at the bar of `[[note|label]]`; whoever writes that means the link.
_TABLE_CELL = re.compile(r"(?:\[\[[^\[\]|\r\n]*\|[^\[\]|\r\n]*\]\]|[^|\\]|\\.|\\\Z)+", re.DOTALL)

_TAG_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details"
    "|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5"
    "|h6|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup"
    "|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_ATTRIBUTE = (
    r"(?:[ \t]++[A-Za-z_:][\w.:-]*+"
    r"(?:[ \t]*+=[ \t]*+(?:[^\s\"'=<>`]++|'[^'\r\n]*+'|\"[^\"\r\n]*+\"))?+)"
)
_HTML_OPEN = re.compile(
    r"<(?:(?P<raw>pre|script|style|textarea)(?=[ \t>\r\n]|\Z)"
    r"|(?P<comment>!--)|(?P<instruction>\?)|(?P<declaration>![A-Za-z])|(?P<cdata>!\[CDATA\[)"
    rf"|(?P<block>/?(?:{_TAG_NAMES})(?=[ \t>\r\n]|/>|\Z))"
    rf"|(?P<tag>(?:[A-Za-z][A-Za-z0-9-]*+{_ATTRIBUTE}*+[ \t]*+/?>|/[A-Za-z][A-Za-z0-9-]*+[ \t]*+>)"
    r"[ \t]*+(?=[\r\n]|\Z)))",
    re.IGNORECASE,
)
_HTML_END = {
    "raw": re.compile(r"</(?:pre|script|style|textarea)>", re.IGNORECASE),
    "comment": re.compile(r"-->"),
    "instruction": re.compile(r"\?>"),
    "declaration": re.compile(r">"),
    "cdata": re.compile(r"\]\]>"),
}


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch that holds no markdown. `info` is the info string of a fence, else empty."""

    kind: BlockKind
    start: int
    end: int
    info: str


@dataclass(frozen=True, slots=True)
class BlockHeading:
    """A heading as it stands in the text: `start` is its marker's or paragraph's first character.

    `content_start` to `content_end` is what is between the marks; `end` is where its last line
    ends, line end excluded. `container` tells whether a quote holds it, else whether a list item
    does. `depth` counts the containers around it, `scope_end` is where the innermost one ends.
    """

    level: int
    start: int
    end: int
    content_start: int
    content_end: int
    container: Container
    depth: int
    scope_end: int


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of one text, each list in text order; offsets are characters.

    `segments` are the stretches in which an inline construct can start and end: a paragraph, the
    content of a heading, a table cell. `paragraphs` are those segments that may open with link
    reference definitions.
    """

    blocks: tuple[Block, ...]
    headings: tuple[BlockHeading, ...]
    segments: tuple[tuple[int, int], ...]
    paragraphs: tuple[tuple[int, int], ...]


def scan_blocks(text: str) -> Blocks:
    """Find the blocks of `text` in time linear in its length."""
    scanner = _Scanner(text)
    scanner.run()
    return Blocks(
        tuple(scanner.blocks),
        scanner.headings_found(),
        tuple(scanner.segments),
        tuple(scanner.paragraphs),
    )


class _Scanner:
    """State of the pass. `stack` holds open containers: 0 for a quote, else an item's width."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.stack: list[int] = []
        self.blocks: list[Block] = []
        self.headings: list[tuple[int, int, int, int, int, Container, int]] = []
        self.scope_ends: dict[int, int] = {}  # by position in `headings`
        self.scopes: list[tuple[int, int]] = []  # depth and position of those still in scope
        self.line_start = 0
        self.segments: list[tuple[int, int]] = []
        self.paragraphs: list[tuple[int, int]] = []
        self.paragraph = -1  # start of the open paragraph
        self.paragraph_end = 0
        self.fence = ""  # the marks that opened the open fence
        self.fence_start = 0
        self.fence_info = ""
        self.html: re.Pattern[str] | None = None  # what ends the open raw HTML
        self.html_kind: BlockKind = "html"
        self.html_flow = False  # an HTML block that a blank line ends; its text is content
        self.leaf_start = -1  # start of the open indented or HTML block
        self.leaf_end = 0  # where the open fence, indented or HTML block ends so far
        self.empty_item = False  # the innermost item has no content yet

    def run(self) -> None:
        text = self.text
        size = len(text)
        find_eol = _EOL.search
        plain = _PLAIN_LINES.match
        at = 0
        while at < size:
            if self.fence and not self.stack:
                at = self._skip_fence(at)
                continue
            if text[at] == "\n" and not self.stack and self.leaf_start < 0:
                self._close_leaf()
                at += 1
                continue
            if not self.fence and self.html is None and not self.html_flow:
                # Such lines are paragraph text, lazily even inside containers.
                run = plain(text, at)
                if run is not None:
                    self._plain_text(at, run.end())
                    at = run.end()
                    continue
            eol = find_eol(text, at)
            end, following = (eol.start(), eol.end()) if eol is not None else (size, size)
            self._line(at, end)
            at = following
        self._close_leaf()

    def _skip_fence(self, at: int) -> int:
        """Close the open fence, which no container holds. Returns where the next line starts."""
        text = self.text
        for mark in _FENCE_END[self.fence[0]].finditer(text, at):
            if mark.end(1) - mark.start(1) >= len(self.fence):
                break
        else:
            self.leaf_end = len(text.rstrip("\r\n"))
            self._close_leaf()
            return len(text)
        self.leaf_end = mark.end()
        self._close_leaf()
        eol = _EOL.match(text, mark.end())
        return eol.end() if eol is not None else len(text)

    def _plain_text(self, start: int, end: int) -> None:
        text = self.text
        if text[end - 1] == "\n":
            end -= 1
        if text[end - 1] == "\r":
            end -= 1
        if self.paragraph < 0:
            self._close_leaf()
            self.line_start = start
            self._leave(0)
            self.paragraph = start
        self.empty_item = False
        self.paragraph_end = end

    def _indent(self, at: int, column: int) -> tuple[int, int]:
        """The first offset at or after `at` that is no blank, and its column."""
        text = self.text
        stop = _BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if text.find("\t", at, stop) < 0:
            return stop, column + stop - at
        for char in text[at:stop]:
            column += 4 - column % 4 if char == "\t" else 1
        return stop, column

    def _advance(self, at: int, column: int, columns: int) -> tuple[int, int]:
        """Step over `columns` columns of blanks; a tab may be left half consumed."""
        goal = column + columns
        text = self.text
        while column < goal:
            step = 4 - column % 4 if text[at] == "\t" else 1
            if column + step > goal:
                return at, goal
            column += step
            at += 1
        return at, column

    def _line(self, start: int, end: int) -> None:
        text = self.text
        stack = self.stack
        self.line_start = start
        at, column = start, 0
        depth = 0
        word, word_column = self._indent(at, column)
        blank = word >= end
        if blank and self.empty_item:
            self._close_leaf()
            self._leave(len(stack) - 1)
        was_empty, self.empty_item = self.empty_item and not blank, False
        for width in stack:
            if width == 0:
                if blank or word_column - column > 3 or text[word] != ">":
                    break
                at, column = self._after_quote_mark(word, word_column)
                word, word_column = self._indent(at, column)
                blank = word >= end
            elif not blank:
                if word_column - column < width:
                    break
                at, column = self._advance(at, column, width)
            depth += 1
        matched = depth == len(stack)
        if not matched and self.paragraph < 0:
            self._close_leaf()
            self._leave(depth)
            matched = True
        if self.fence:
            self._fence_line(word, word_column - column, end)
            return
        if self.html is not None:
            self._html_line(end)
            return
        if self.html_flow:
            if not blank:
                self.leaf_end = end
                return
            self._close_leaf()
        if blank:
            if self.leaf_start < 0:
                self._close_leaf()
            if not matched:
                self._leave(depth)
            return
        self._open_blocks(at, column, word, word_column, end, depth, matched, was_empty)

    def _after_quote_mark(self, word: int, word_column: int) -> tuple[int, int]:
        at, column = word + 1, word_column + 1
        if self.text[at : at + 1] in (" ", "\t") and at < len(self.text):
            at, column = self._advance(at, column, 1)
        return at, column

    def _fence_line(self, word: int, indent: int, end: int) -> None:
        text, fence = self.text, self.fence
        self.leaf_end = end
        if indent <= 3 and text.startswith(fence, word):
            rest = text[word:end].rstrip(" \t")
            if rest.count(fence[0]) == len(rest):
                self._close_leaf()

    def _html_line(self, end: int) -> None:
        assert self.html is not None
        found = self.html.search(self.text, self.leaf_end, end)
        self.leaf_end = end
        if found is not None:
            self._close_html(found.end(), end)

    def _close_html(self, at: int, line_end: int) -> None:
        """Raw HTML ends at `at`; what follows on its line is shown, so it is a segment."""
        self.leaf_end = at
        self._close_leaf()
        if at < line_end:
            self.segments.append((at, line_end))

    def _open_blocks(
        self,
        at: int,
        column: int,
        word: int,
        word_column: int,
        end: int,
        depth: int,
        matched: bool,
        was_empty: bool,
    ) -> None:
        """Open the containers and the leaf that the rest of a line starts."""
        text, stack = self.text, self.stack
        thematic_from = word  # before this offset the line is known to be no thematic break
        while True:
            in_paragraph = matched and self.paragraph >= 0
            if word_column - column >= 4:
                if self.paragraph < 0:
                    self._indented_line(at, end)
                    return
                break
            mark = text[word]
            if mark == ">" and depth < _MAX_DEPTH:
                self._drop(depth)
                stack.append(0)
                at, column = self._after_quote_mark(word, word_column)
            elif mark == "#" and (atx := _ATX.match(text, word)):
                self._drop(depth)
                self._heading(len(atx[1]), word, end, atx.end(1), end)
                return
            elif mark in "`~" and (opened := _FENCE.match(text, word)):
                self._drop(depth)
                self.fence = opened[1]
                self.fence_start = word
                self.fence_info = text[opened.end(1) : end].strip(" \t")
                self.leaf_end = end
                return
            elif (
                mark == "<"
                and (opened := _HTML_OPEN.match(text, word))
                and (opened.lastgroup != "tag" or self.paragraph < 0)
            ):
                self._drop(depth)
                self._html_open(opened.lastgroup or "", word, end)
                return
            elif mark in "=-" and in_paragraph and _SETEXT.match(text, word):
                if self._setext(1 if mark == "=" else 2, end):
                    return
                if mark == "=":
                    break
                self._close_leaf()
                return
            elif mark in "*-_" and word >= thematic_from and _THEMATIC.match(text, word):
                self._drop(depth)
                return
            elif (
                (mark in "-+*" or mark.isdigit())
                and depth < _MAX_DEPTH
                and (item := _LIST_MARK.match(text, word))
                and self._may_open_item(item, end, in_paragraph)
            ):
                self._drop(depth)
                if mark in "*-":
                    thematic_from = self._first_other(word, end, mark)
                at, column, width, empty = self._item(word, word_column - column, word_column, item)
                stack.append(width)
                if empty:
                    self.empty_item = True
                    return
            elif mark == "[" and depth < _MAX_DEPTH and (note := _FOOTNOTE_MARK.match(text, word)):
                self._drop(depth)
                stack.append(4)
                at, column = note.end(), word_column + note.end() - word
            else:
                break
            depth += 1
            matched = True
            word, word_column = self._indent(at, column)
            if word >= end:
                return
        if self.paragraph < 0:
            self._close_leaf()
            self.paragraph = word
        self.paragraph_end = end

    def _drop(self, depth: int) -> None:
        """Close the open leaf and all containers that the line did not match."""
        self._close_leaf()
        self._leave(depth)

    def _leave(self, depth: int) -> None:
        """Close the containers beyond `depth`."""
        del self.stack[depth:]
        while self.scopes and self.scopes[-1][0] > depth:
            self.scope_ends[self.scopes.pop()[1]] = self.line_start

    def _first_other(self, at: int, end: int, mark: str) -> int:
        rest = self.text[at:end]
        return end - len(rest.lstrip(mark + " \t"))

    def _may_open_item(self, item: re.Match[str], end: int, in_paragraph: bool) -> bool:
        """An item interrupts a paragraph only with content and, if numbered, from 1 (5.2)."""
        if not in_paragraph:
            return True
        if item[2] is not None and int(item[2]) != 1:
            return False
        return self._indent(item.end(), 0)[0] < end

    def _item(
        self, word: int, indent: int, word_column: int, item: re.Match[str]
    ) -> tuple[int, int, int, bool]:
        """Offset and column of the item's content, the item's width, and whether it is empty."""
        mark_size = item.end() - word
        after, after_column = item.end(), word_column + mark_size
        content, content_column = self._indent(after, after_column)
        blanks = content_column - after_column
        if content >= len(self.text) or self.text[content] in "\r\n":
            return content, content_column, indent + mark_size + 1, True
        if blanks > 4:  # the item starts with indented code
            at, column = self._advance(after, after_column, 1)
            return at, column, indent + mark_size + 1, False
        return content, content_column, indent + mark_size + blanks, False

    def _indented_line(self, at: int, end: int) -> None:
        if self.leaf_start < 0:
            self.leaf_start = at
        self.leaf_end = end

    def _html_open(self, group: str, word: int, end: int) -> None:
        self.leaf_start = word
        self.leaf_end = end
        if group in ("block", "tag"):
            self.html_flow = True
            return
        self.html = _HTML_END[group]
        self.html_kind = "comment" if group == "comment" else "html"
        # `<!-->` and `<!--->` are whole comments (6.6): the end may overlap the start.
        found = self.html.search(self.text, word + 2, end)
        if found is not None:
            self._close_html(found.end(), end)

    def _heading(self, level: int, start: int, end: int, content: int, content_end: int) -> None:
        text = self.text
        shown = text[content:content_end].rstrip(" \t")
        opened = shown.rstrip("#")
        if opened != shown and (not opened or opened[-1] in " \t"):
            shown = opened.rstrip(" \t")
        content_end = content + len(shown)
        content = min(self._indent(content, 0)[0], content_end)
        self._add_heading(level, start, end, content, content_end)
        self.segments.append((content, content_end))

    def _setext(self, level: int, end: int) -> bool:
        """Turn the open paragraph into a heading, unless it only holds link definitions (4.7)."""
        start, stop = self.paragraph, self.paragraph_end
        if self.text[start] == "[" and (held := _DEFINITIONS.match(self.text, start, stop)):
            if held.end() == stop:
                return False
            self.paragraphs.append((start, held.end()))
            start = held.end()
        self.paragraph = -1
        self._add_heading(level, start, end, start, stop)
        self.segments.append((start, stop))
        return True

    def _add_heading(
        self, level: int, start: int, end: int, content: int, content_end: int
    ) -> None:
        container: Container = "quote" if 0 in self.stack else "list" if self.stack else ""
        if self.stack:
            self.scopes.append((len(self.stack), len(self.headings)))
        self.headings.append((level, start, end, content, content_end, container, len(self.stack)))

    def headings_found(self) -> tuple[BlockHeading, ...]:
        size = len(self.text)
        return tuple(
            BlockHeading(*heading, scope_end=self.scope_ends.get(position, size))
            for position, heading in enumerate(self.headings)
        )

    def _close_leaf(self) -> None:
        if self.paragraph >= 0:
            self._close_paragraph()
        elif self.fence:
            self.blocks.append(Block("fence", self.fence_start, self.leaf_end, self.fence_info))
            self.fence = ""
        elif self.leaf_start >= 0:
            if self.html_flow:
                self.segments.append((self.leaf_start, self.leaf_end))
            else:
                kind: BlockKind = "indented" if self.html is None else self.html_kind
                self.blocks.append(Block(kind, self.leaf_start, self.leaf_end, ""))
            self.html_flow = False
            self.html = None
            self.leaf_start = -1

    def _close_paragraph(self) -> None:
        start, end = self.paragraph, self.paragraph_end
        self.paragraph = -1
        if self.text[start] == "[":
            self.paragraphs.append((start, end))
        if self.text.find("|", start, end) < 0 or not self._table(start, end):
            self.segments.append((start, end))

    def _table(self, start: int, end: int) -> bool:
        """Split a paragraph that holds a GFM table into its cells."""
        text = self.text
        cuts = [start, *(m.end() for m in _EOL.finditer(text, start, end))]
        ends = [*(m.start() for m in _EOL.finditer(text, start, end)), end]
        rules = (
            row
            for row in range(1, len(cuts))
            if _TABLE_RULE.match(text, cuts[row], ends[row])
            and ("|" in text[cuts[row] : ends[row]] or "|" in text[cuts[row - 1] : ends[row - 1]])
        )
        rule = next(rules, None)
        if rule is None:
            return False
        if rule > 1:
            self.segments.append((start, ends[rule - 2]))
        for row in range(rule - 1, len(cuts)):
            self.segments.extend(
                cell.span() for cell in _TABLE_CELL.finditer(text, cuts[row], ends[row])
            )
        return True
