"""A change that renews one generated page."""

from collections.abc import Mapping, Sequence

from agentm_assets.dreaming.derived_page import written_page
from agentm_assets.dreaming.stage import Change
from agentm_assets.projects.document import Property
from agentm_assets.storage.locator import Locator


def page_change(
    place: Locator, owned: Mapping[str, Property | None], lines: Sequence[str]
) -> Change:
    """The page at `place` with these properties and lines. It carries no date: the same notes give
    the same bytes on any day. One that somebody wrote or took over is left alone."""
    return Change(place, "rewrite", lambda held: written_page(held, owned, lines))


def moc_properties(slug: str, title: str) -> dict[str, Property | None]:
    """The properties of a map of content: a record, never a memory."""
    return {"kind": "moc", "status": "active", "slug": slug, "title": title}
