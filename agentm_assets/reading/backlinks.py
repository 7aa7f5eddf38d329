"""What links to a note."""

from dataclasses import dataclass

from agentm_assets.contract.excludes import is_excluded
from agentm_assets.reading.errors import ReadingRefused
from agentm_assets.reading.library import Library
from agentm_assets.reading.places import note_path, shown
from agentm_assets.recall.errors import IndexMissing

MOST_LINKS = 200


@dataclass(frozen=True, slots=True)
class Backlink:
    """A link of another note. `line` counts from 1; `kind` is wikilink, embed or markdown."""

    path: str
    title: str
    status: str | None
    line: int
    kind: str
    anchor: str | None
    label: str | None


@dataclass(frozen=True, slots=True)
class Backlinks:
    """`total` counts all links that lead here, `links` holds the first MOST_LINKS."""

    path: str
    title: str
    total: int
    links: tuple[Backlink, ...]


def find_backlinks(library: Library, path: str) -> Backlinks:
    """The links that lead to a note, in the order of their notes.

    Raises ReadingRefused for a path that can't be used or that the index does not hold,
    IndexMissing, ServingUnreadable.
    """
    path = note_path(path, library.rules.excludes)
    facts = library.facts
    if facts is None:
        raise IndexMissing(f"links are known only to the index ({library.trouble}). {_CURE}")
    with facts.snapshot():
        note = facts.note(path)
        if note is None:
            raise ReadingRefused(
                f"the index holds no note {shown(path)}. Check the spelling; a note that was "
                "written just now has no backlinks yet."
            )
        found = [
            link
            for link in facts.backlinks(path)
            if not is_excluded(link.path, library.rules.excludes)
        ]
        sources = facts.notes_by_path([link.path for link in found[:MOST_LINKS]])
    return Backlinks(
        path=path,
        title=note.title,
        total=len(found),
        links=tuple(
            Backlink(
                path=link.path,
                title=sources[link.path].title,
                status=sources[link.path].status,
                line=link.line,
                kind=link.kind,
                anchor=link.anchor,
                label=link.label,
            )
            for link in found[:MOST_LINKS]
        ),
    )


_CURE = "Run `agentm index`."
