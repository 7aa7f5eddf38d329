"""A change that renews one generated page."""

from collections.abc import Container, Iterable, Mapping, Sequence

from agentm_assets.capture.slug import with_suffix
from agentm_assets.dreaming.derived_page import written_page
from agentm_assets.dreaming.stage import Change, Kind
from agentm_assets.projects.declared import space_folder
from agentm_assets.projects.document import Property
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend, StorageError


def page_change(
    place: Locator,
    owned: Mapping[str, Property | None],
    lines: Sequence[str],
    kind: Kind = "rewrite",
) -> Change:
    """The page at `place` with these properties and lines. It carries no date: the same notes give
    the same bytes on any day. One that somebody wrote or took over is left alone."""
    return Change(place, kind, lambda held: written_page(held, owned, lines))


def memory_folder(backend: StorageBackend, name: str) -> Locator:
    """`Agent/memory/<name>`, with the name of `Agent` as it is on disk."""
    return (space_folder(backend, "Agent") or Locator("Agent")).child("memory").child(name)


def free_place(
    folder: Locator, slug: str, taken: Container[str], suffixes: Iterable[str] = ()
) -> Locator:
    """Where a new page goes: `slug.md`, else with one of the suffixes, else with a number. `taken`:
    the keys of places that others have. Raises StorageError when all are."""
    for suffix in ("", *suffixes, *map(str, range(2, 100))):
        place = folder.child(f"{with_suffix(slug, suffix) if suffix else slug}.md")
        if place.key not in taken:
            return place
    raise StorageError(f"{folder}/{slug}.md: every name for the page is taken; rename some")


def moc_properties(slug: str, title: str) -> dict[str, Property | None]:
    """The properties of a map of content: a record, never a memory."""
    return {"kind": "moc", "status": "active", "slug": slug, "title": title}
