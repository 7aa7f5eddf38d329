"""What was captured last."""

from dataclasses import dataclass

from agentm_assets.contract.excludes import is_excluded
from agentm_assets.contract.spaces import space_of
from agentm_assets.index.build import build_note
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.rows import NoteRow
from agentm_assets.reading.errors import ReadingRefused
from agentm_assets.reading.library import Library
from agentm_assets.recall.errors import IndexMissing
from agentm_assets.storage.vault import FileEntry, NoteUnreadable, content_hash

MOST_NOTES = 100


@dataclass(frozen=True, slots=True)
class RecentNote:
    """`indexed` False: captured a moment ago, found by recall all the same."""

    path: str
    title: str
    type: str | None
    kind: str | None
    status: str | None
    captured: str
    indexed: bool


@dataclass(frozen=True, slots=True)
class Recent:
    """Newest capture first. `why`: what is missing from the list; None when nothing is."""

    notes: tuple[RecentNote, ...]
    why: str | None


def find_recent(library: Library, k: int = 10) -> Recent:
    """The newest captures that everyday recall would show: excluded notes and dampened spaces
    (personal/, unless the rules say otherwise) are left out, since nobody asked for them.

    Raises ReadingRefused for `k` outside 1 to MOST_NOTES, IndexMissing without an index and without
    a capture, ServingUnreadable.
    """
    if not 1 <= k <= MOST_NOTES:
        raise ReadingRefused(f"k is {k}; give a number from 1 to {MOST_NOTES}.")
    fresh = _waiting(library, k)
    known: list[NoteRow] = []
    if library.facts is not None:
        with library.facts.snapshot():
            known = _indexed(library, library.facts, k)
    elif not fresh:
        raise IndexMissing(f"there is no usable index ({library.trouble}). Run `agentm index`.")
    rows = {row.path: row for row in (*known, *fresh)}
    newest = sorted(rows.values(), key=lambda row: (row.captured or "", row.path))
    waiting = {row.path for row in fresh}
    return Recent(
        notes=tuple(
            RecentNote(
                path=row.path,
                title=row.title,
                type=row.type,
                kind=row.kind,
                status=row.status,
                captured=row.captured or "",
                indexed=row.path not in waiting,
            )
            for row in newest[: -k - 1 : -1]
        ),
        why=None
        if library.facts is not None
        else f"only captures of this machine that wait for the index: {library.trouble}. "
        "Run `agentm index`",
    )


def _indexed(library: Library, facts: FactsReader, k: int) -> list[NoteRow]:
    wanted = k
    while True:  # what is left out is rarely more than a few; then more are looked at
        listed = facts.captured_between(None, None, wanted)
        paths = [path for path, _captured in listed if _is_shown(library, path)][:k]
        if len(paths) == k or len(listed) < wanted:
            return list(facts.notes_by_path(paths).values())
        wanted *= 4


def _waiting(library: Library, k: int) -> list[NoteRow]:
    found: list[NoteRow] = []
    for path in library.waiting():
        if len(found) == k:
            break
        if not _is_shown(library, path) or library.indexed_hash(path) is not None:
            continue
        try:
            data = library.read_note(path)
        except (FileNotFoundError, NoteUnreadable):
            continue  # renamed or shut since: the next pass says so
        entry = FileEntry(path, len(data), 0)
        found.append(build_note(entry, data, content_hash(data), None).note)
    return found


def _is_shown(library: Library, path: str) -> bool:
    hidden = is_excluded(path, library.rules.excludes)
    return not hidden and space_of(path).space not in library.rules.dampened_spaces
