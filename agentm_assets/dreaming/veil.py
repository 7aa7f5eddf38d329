"""What an open note says of a closed one: its name, where the open note links to it.

The note may say so; a derived page, or a model that writes one, does not pass it on.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final
from urllib.parse import unquote

import duckdb

from agentm_assets.extract.aliases import fold

HIDDEN: Final = "(private note)"

_WIKILINK: Final = re.compile(r"!?\[\[([^\[\]\r\n]{1,600})\]\]")
_LINK: Final = re.compile(r"!?\[[^\[\]\r\n]{0,300}\]\(\s*<?([^()\r\n]{1,600})\)")
_PATH: Final = re.compile(
    r"(?<![\w/.-])(?:\.{0,2}/)*(?:personal|\uff50ersonal)[/\\][^\s\[\]()<>\"'`|,;]+", re.IGNORECASE
)
_TARGET_END: Final = re.compile(r"[|#^]|\\\|")
_LINE_END: Final = ".,:!?"


class Veil:
    """`closed`: the folded names of closed notes. `is_closed`: whether a path is one of theirs."""

    def __init__(self, closed: Collection[str], is_closed: Callable[[str], bool]) -> None:
        self._closed = closed
        self._is_closed = is_closed

    def over(self, text: str) -> str:
        """The text with HIDDEN for each link to a closed note and each path into `personal/`."""
        if "[" in text:
            text = _WIKILINK.sub(self._instead, text)
            text = _LINK.sub(self._instead, text)
        return _PATH.sub(self._path_instead, text)

    def over_all(self, texts: Mapping[str, str]) -> dict[str, str]:
        return {key: self.over(text) for key, text in texts.items()}

    def _path_instead(self, path: re.Match[str]) -> str:
        written = path[0].rstrip(_LINE_END)
        # `personal/professional` is no path.
        is_path = written.endswith(".md") or self._names_closed(written.rpartition("/")[2])
        return HIDDEN + path[0][len(written) :] if is_path else path[0]

    def _instead(self, link: re.Match[str]) -> str:
        return HIDDEN if self._names_closed(link[1]) else link[0]

    def _names_closed(self, written: str) -> bool:
        target = unquote(_TARGET_END.split(written, maxsplit=1)[0]).strip().strip("<>")
        name = target.removesuffix(".md")
        if fold(name) in self._closed or fold(name.rpartition("/")[2]) in self._closed:
            return True
        steps = [step for step in target.replace("\\", "/").split("/") if step not in ("", ".")]
        while steps and steps[0] == "..":
            steps.pop(0)
        return len(steps) > 1 and self._is_closed("/".join(step for step in steps if step != ".."))


def veil_of(connection: duckdb.DuckDBPyConnection, is_closed: Callable[[str], bool]) -> Veil:
    """The veil over the names of the closed notes that the index knows."""
    return Veil(closed_names(connection, is_closed), is_closed)


def closed_names(
    connection: duckdb.DuckDBPyConnection, is_closed: Callable[[str], bool]
) -> frozenset[str]:
    """How notes are called that no page may name, folded: title, slug, aliases and file name. A
    name that an open note has as well says nothing of a closed one."""
    names: tuple[set[str], set[str]] = (set(), set())
    known: dict[str, bool] = {}
    for path, name in connection.execute(_NAMES).fetchall():
        if path not in known:
            known[path] = is_closed(path)
            names[known[path]].add(fold(path.rpartition("/")[2].removesuffix(".md")))
        if name:
            names[known[path]].add(fold(name))
    return frozenset(names[True] - names[False])


_NAMES: Final = """
SELECT path, title FROM notes WHERE NOT generated
UNION SELECT path, slug FROM notes WHERE NOT generated
UNION SELECT a.path, a.alias FROM aliases a JOIN notes n ON n.path = a.path WHERE NOT n.generated
"""
