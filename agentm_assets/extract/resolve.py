"""Which file of the vault a link means.

A target is tried as an exact path, then as the end of a path at a `/`, then with `.md` added, then
as an alias. Names compare in NFC, without case, with a no-break space equal to a space. Of several
files the one in the spelling of the link wins, then the nearest to the note in the folder tree
(its own folder first), then the shortest path, then the first in code point order.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from agentm_assets.extract.model import Link
from agentm_assets.extract.percent import percent_decode

How = Literal["self", "path", "suffix", "name", "alias", "attachment", "folder"]

CANDIDATE_LIMIT = 50
"""Other candidates that are kept for an ambiguous link: thousands of notes may be `README.md`."""

_NOTE = ".md"
# What is named so is the attachment itself; any other dot is part of a note's name.
_ATTACHMENTS = frozenset(
    (
        *(".avif", ".bmp", ".gif", ".heic", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff"),
        *(".webp", ".flac", ".m4a", ".mp3", ".oga", ".ogg", ".opus", ".wav", ".3gp", ".mkv"),
        *(".mov", ".mp4", ".ogv", ".webm", ".pdf", ".epub", ".canvas", ".base", ".csv", ".tsv"),
        *(".json", ".xml", ".yaml", ".yml", ".toml", ".txt", ".log", ".html", ".htm", ".doc"),
        *(".docx", ".odp", ".ods", ".odt", ".ppt", ".pptx", ".xls", ".xlsx", ".rtf", ".tex"),
        *(".7z", ".gz", ".tar", ".tgz", ".zip", ".ipynb", ".sqlite", ".drawio", ".mmd"),
    )
)
_ALIAS_KEY = "="  # sets the keys of aliases apart from those of names


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a link means. `path` is None while nothing fits, and for a folder.

    `how` is None while nothing fits. `candidates` are the other files it could mean as well, by
    length of path and code points, at most `CANDIDATE_LIMIT`.
    """

    path: str | None
    how: How | None
    candidates: tuple[str, ...]


_UNRESOLVED = Resolution(None, None, ())
_FOLDER = Resolution(None, "folder", ())


class LinkIndex:
    """Finds the files that links mean, by lookup: building it is linear in the number of paths."""

    def __init__(
        self, notes: Iterable[tuple[str, Sequence[str]]], attachments: Iterable[str] = ()
    ) -> None:
        """`notes` are paths with aliases, both as written; paths are relative to the vault."""
        self._by_end: dict[str, list[str]] = {}  # folded end of a path, whole segments
        self._by_path: dict[str, list[str]] = {}  # folded path
        self._by_alias: dict[str, list[tuple[str, str]]] = {}  # folded alias: alias, path
        self._folders: set[str] = set()  # folded paths of folders that hold a file
        self._groups: dict[tuple[str, str], _Group] = {}
        for path, aliases in notes:
            self._add(path)
            for alias in aliases:
                self._by_alias.setdefault(_fold_alias(alias), []).append((alias, path))
        for path in attachments:
            self._add(path)

    def _add(self, path: str) -> None:
        folded = fold_name(path)
        self._by_path.setdefault(folded, []).append(path)
        folder = _folder(folded)
        while folder and folder not in self._folders:
            self._folders.add(folder)
            folder = _folder(folder)
        start = 0
        while True:
            self._by_end.setdefault(folded[start:], []).append(path)
            start = folded.find("/", start) + 1
            if not start:
                return

    def resolve(self, source_path: str, link: Link) -> Resolution:
        """What `link`, found in the note at `source_path`, means."""
        if not link.target:
            return Resolution(source_path, "self", ())
        if _is_folder(link.target):
            return _FOLDER
        for target in _spellings(link):
            found = self._as_file(source_path, target, _is_relative(link, target))
            if found is None and _may_be_alias(link):
                found = self._as_alias(source_path, target)
            if found is not None:
                return found
        if _may_be_folder(link) and any(
            fold_name(path) in self._folders
            for target in _spellings(link)
            for path in _paths(source_path, target, relative=True)
        ):
            return _FOLDER
        return _UNRESOLVED

    def _as_file(self, source_path: str, target: str, relative: bool) -> Resolution | None:
        rooted = target.startswith("/")
        exact = _paths(source_path, target, relative=relative)
        if not exact:
            return None
        from_root = exact[-1]
        for ending in _endings(from_root):
            for path in exact:
                found = self._as_path(source_path, self._by_path, path + ending, "path")
                if found is not None:
                    return found
            if not rooted:
                how: How = "suffix" if "/" in from_root else "name"
                found = self._as_path(source_path, self._by_end, from_root + ending, how)
                if found is not None:
                    return found
        return None

    def _as_alias(self, source_path: str, target: str) -> Resolution | None:
        found = self._by_alias.get(_fold_alias(target))
        if not found:
            return None
        spelled = _spell(target).strip()
        group = self._groups.get((_ALIAS_KEY, spelled))
        if group is None:
            same = [path for alias, path in found if _spell(alias).strip() == spelled]
            group = self._groups[_ALIAS_KEY, spelled] = _Group([p for _, p in found], same)
        return group.resolution(source_path, "alias")

    def _as_path(
        self, source_path: str, paths: dict[str, list[str]], spelled: str, how: How
    ) -> Resolution | None:
        matches = paths.get(fold_name(spelled))
        if matches is None:
            return None
        if len(matches) == 1:
            return _resolution(source_path, matches[0], how, ())
        key = ("path" if how == "path" else "end", spelled)
        group = self._groups.get(key)
        if group is None:
            depth = spelled.count("/") + 1
            same = [path for path in matches if _end(_spell(path), depth) == spelled]
            group = self._groups[key] = _Group(matches, same)
        return group.resolution(source_path, how)


class _Group:
    """The files that one spelling can mean. Made once for each ambiguous spelling."""

    def __init__(self, paths: Iterable[str], same_case: Iterable[str]) -> None:
        self._ranked = tuple(sorted(set(paths), key=_rank))
        # For each folder above a file: the steps down to the best file under it, and that file.
        self._best: dict[str, tuple[int, int, str]] = {}
        for path in set(same_case) or self._ranked:
            folder = _folder(path)
            down = 0
            while True:
                found = (down, *_rank(path))
                best = self._best.get(folder)
                if best is None or found < best:
                    self._best[folder] = found
                if not folder:
                    break
                folder, down = _folder(folder), down + 1

    def resolution(self, source_path: str, how: How) -> Resolution:
        """The file nearest to the folder of `source_path`; the others are candidates."""
        folder, up = _folder(source_path), 0
        reached: list[tuple[int, int, str]] = []
        while True:
            best = self._best.get(folder)
            if best is not None:
                reached.append((best[0] + up, best[1], best[2]))
            if not folder:
                break
            folder, up = _folder(folder), up + 1
        path = min(reached)[2]
        others = [other for other in self._ranked[: CANDIDATE_LIMIT + 1] if other != path]
        return _resolution(source_path, path, how, tuple(others[:CANDIDATE_LIMIT]))


def match_keys(link: Link) -> tuple[str, ...]:
    """The keys that decide what `link` means, sorted.

    Its resolution changes only when a file with one of these among its `note_keys` comes, goes or
    gets other aliases. A link into its own note has none, nor has one that ends with `/`.
    """
    if not link.target or _is_folder(link.target):
        return ()
    keys: set[str] = set()
    for target in _spellings(link):
        name = fold_name(target.rstrip("/").rpartition("/")[2])
        keys |= {name, name.removesuffix(_NOTE)}
        if _may_be_alias(link):
            keys.add(_ALIAS_KEY + _fold_alias(target))
        if _may_be_folder(link):
            keys.add(name + "/")
    return tuple(sorted(keys))


def note_keys(path: str, aliases: Iterable[str]) -> tuple[str, ...]:
    """The keys under which links can mean the file at `path`, or a folder around it, sorted."""
    *folders, name = fold_name(path).split("/")
    keys = {name.removesuffix(_NOTE), *(folder + "/" for folder in folders)}
    return tuple(sorted(keys.union(_ALIAS_KEY + _fold_alias(alias) for alias in aliases)))


def fold_name(name: str) -> str:
    """How names of files compare: NFC, no case, a no-break space is a space."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", _spell(name).casefold())


def _spell(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name).replace("\xa0", " ")


def _fold_alias(alias: str) -> str:
    return " ".join(fold_name(alias).split())


def _spellings(link: Link) -> tuple[str, ...]:
    """What the target may mean, best first: as written, then with what may not belong to the name.

    A file can be named `100%.md`, `C#.md` or `a^b.md`, though `%`, `#` and `^` mean something in
    links, so the literal name is always among them.
    """
    target = link.target
    if link.kind in ("wikilink", "embed"):
        found = [target]
        if link.anchor is not None:
            whole = f"{target}#{link.anchor}"
            found = [target, whole] if link.anchor else [whole, target]
        if "^" in target:
            found.append(target.partition("^")[0])
    else:
        found = [target, percent_decode(target)]
        if "?" in target:
            found.append(percent_decode(target.partition("?")[0]))
    return tuple(dict.fromkeys(spelling for spelling in found if spelling.strip("/ ")))


def _may_be_alias(link: Link) -> bool:
    return link.kind not in ("image", "html")


def _may_be_folder(link: Link) -> bool:
    """A wikilink names a note, whether or not a folder has that name too."""
    return link.kind not in ("wikilink", "embed")


def _is_folder(target: str) -> bool:
    return target.endswith("/") or target.rpartition("/")[2] in (".", "..")


def _is_relative(link: Link, target: str) -> bool:
    return link.kind not in ("wikilink", "embed") or target.startswith(("./", "../"))


def _endings(name: str) -> tuple[str, str]:
    """What to add to a target, in order, to get the name of a file."""
    folded = name.lower()
    dot = folded.rfind(".")
    if folded.endswith(_NOTE) or (dot >= 0 and folded[dot:] in _ATTACHMENTS):
        return "", _NOTE
    return _NOTE, ""


def _paths(source_path: str, target: str, *, relative: bool) -> list[str]:
    """The exact paths that a target can mean, best first; the one from the root is the last."""
    segments = [part for part in _spell(target).split("/") if part not in ("", ".")]
    from_root = "/".join(part for part in segments if part != "..")
    if not from_root:
        return []
    if relative and not target.startswith("/"):
        beside = _join(_folder(source_path), segments)
        if beside:
            return [beside, from_root]
    return [from_root]


def _join(folder: str, segments: Sequence[str]) -> str | None:
    """`segments` as a path from the vault's root, None when `..` leads out of the vault."""
    parts = folder.split("/") if folder else []
    for segment in segments:
        if segment != "..":
            parts.append(segment)
        elif parts:
            parts.pop()
        else:
            return None
    return "/".join(parts)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _end(path: str, segments: int) -> str:
    return "/".join(path.split("/")[-segments:])


def _rank(path: str) -> tuple[int, str]:
    return len(path), path


def _resolution(source_path: str, path: str, how: How, candidates: tuple[str, ...]) -> Resolution:
    if path == source_path:
        how = "self"
    elif not path.lower().endswith(_NOTE):
        how = "attachment"
    return Resolution(path, how, candidates)
