"""One note whole, or one section of it, as it stands in the vault now."""

from dataclasses import dataclass

from agentm_assets.contract.block import safe_text
from agentm_assets.index.build import build_note
from agentm_assets.reading.errors import NoteShut, ReadingRefused
from agentm_assets.reading.library import Library
from agentm_assets.reading.places import note_path, shown
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageError
from agentm_assets.storage.selection import open_vault
from agentm_assets.storage.vault import FileEntry, NoteUnreadable, content_hash

MOST_CHARACTERS = 200_000
"""Characters of one reply: some 50,000 tokens, more than an agent has use for at once."""

_MOST_NAMED = 30  # sections that an error lists
_UNFIT = frozenset({"symlink-skipped", "not-a-file", "too-large"})
_UNDER = " > "


@dataclass(frozen=True, slots=True)
class NoteText:
    """`text` is the file with its frontmatter, or the section that was asked for, as it stands.

    `start` and `end` are its byte offsets in the file. `sections` are the header paths of the
    note, in order. `truncated`: the text was cut at MOST_CHARACTERS. `indexed`: the index holds
    these very bytes.
    """

    path: str
    title: str
    type: str | None
    kind: str | None
    status: str | None
    captured: str | None
    section: str | None
    start: int
    end: int
    text: str
    truncated: bool
    sections: tuple[str, ...]
    content_hash: str
    indexed: bool


def get_note(library: Library, path: str, section: str | None = None) -> NoteText:
    """Read a note, whether the index holds it or not.

    `section` is a header path ("Kettle > Descaling") or its last heading, whatever the case; what
    stands under it comes along. Raises ReadingRefused, NoteShut, ServingUnreadable.
    """
    path = note_path(path, library.rules.excludes)
    data = _read(library, path)
    digest = content_hash(data)
    built = build_note(FileEntry(path, len(data), 0), data, digest, None)
    names = tuple(dict.fromkeys(chunk.header_path for chunk in built.chunks if chunk.header_path))
    start, end, found = 0, len(data), None
    if section is not None:
        found = _named(section, names, path)
        under = [
            chunk
            for chunk in built.chunks
            if chunk.header_path == found or chunk.header_path.startswith(found + _UNDER)
        ]
        start, end = under[0].start, under[-1].end
    text = safe_text(data[start:end].decode("utf-8", "surrogateescape"))
    return NoteText(
        path=path,
        title=built.note.title,
        type=built.note.type,
        kind=built.note.kind,
        status=built.note.status,
        captured=built.note.captured,
        section=found,
        start=start,
        end=end,
        text=text[:MOST_CHARACTERS],
        truncated=len(text) > MOST_CHARACTERS,
        sections=names,
        content_hash=digest,
        indexed=library.indexed_hash(path) == digest,
    )


def _read(library: Library, path: str) -> bytes:
    try:
        return library.read_note(path)
    except FileNotFoundError as error:
        raise ReadingRefused(
            f"there is no note {shown(path)} in the vault. Search for it, or check the spelling; "
            "paths are relative to the vault."
        ) from error
    except NoteUnreadable as error:
        if error.code == "not-a-file" and _is_folder(library, path):
            raise ReadingRefused(
                f"{shown(path)} is a folder. Give the path of a note in it, as a hit shows it."
            ) from error
        text = f"{shown(path)} can't be read: {error.message}; {error.cure}."
        raise (ReadingRefused if error.code in _UNFIT else NoteShut)(text) from error


def _is_folder(library: Library, path: str) -> bool:
    try:
        return open_vault(library.location).store.info(Locator(path)).is_dir
    except (FileNotFoundError, StorageError):
        return False


def _named(section: str, names: tuple[str, ...], path: str) -> str:
    wanted = " ".join(section.casefold().split())
    for name in names:
        if name.casefold() == wanted:
            return name
    for name in names:
        if name.rpartition(_UNDER)[2].casefold() == wanted:
            return name
    listed = "; ".join(names[:_MOST_NAMED]) or "none"
    raise ReadingRefused(
        f"{shown(path)} has no section {shown(section)}. Its sections: {listed}. Name one of "
        "these, or leave the section out."
    )
