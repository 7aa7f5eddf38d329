"""The pages of entities as they are in the vault, and what a page holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agentm_assets.capture.slug import NAMELESS, slugify
from agentm_assets.contract import properties
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.dreaming.entities.facts import TYPES, Fact
from agentm_assets.dreaming.entities.names import name_key
from agentm_assets.dreaming.entities.resolve import Entity, Known
from agentm_assets.dreaming.inputs import Input
from agentm_assets.dreaming.pages.page import free_place, memory_folder
from agentm_assets.projects.document import Property
from agentm_assets.projects.maps import link
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend, StorageError

VERSION: Final = "entities-1"
"""Of what the stage makes of the same inputs."""

MOST_SHOWN: Final = 60
"""Facts on a page; the older ones are counted."""

KEYS: Final = "entity"
"""The property that holds an entity's keys."""

GONE_QUIET: Final = "no note names it any more"


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is there. `inputs`: the hash of what it was made from; `prose_by`: who wrote its
    first paragraph, None while nobody did."""

    place: Locator
    data: bytes
    title: str
    slug: str
    status: str | None
    reason: str | None
    superseded_by: str | None
    keys: tuple[str, ...]
    names: tuple[str, ...]
    inputs: str | None
    prose_by: str | None

    @property
    def is_retired(self) -> bool:
        """Whether somebody else has expired or superseded it."""
        return self.status == "superseded" or (
            self.status == "expired" and self.reason != GONE_QUIET
        )


def read_pages(backend: StorageBackend) -> tuple[Page, ...]:
    """The pages of entities, by path. One that can't be read, or names no key, is left out."""
    found: list[Page] = []
    for place in sorted(
        backend.list(memory_folder(backend, "entities")), key=lambda each: each.key
    ):
        if not place.name.endswith(".md"):
            continue
        try:
            data = backend.read_bytes(place)
        except (FileNotFoundError, StorageError):
            continue
        page = _page(place, data)
        if page.keys:
            found.append(page)
    return tuple(found)


def _page(place: Locator, data: bytes) -> Page:
    frontmatter = read_frontmatter(data)
    title = properties.title(frontmatter) or place.name.removesuffix(".md")
    return Page(
        place=place,
        data=data,
        title=title,
        slug=properties.text_of(frontmatter, "slug") or place.name.removesuffix(".md"),
        status=properties.text_of(frontmatter, "status"),
        reason=properties.text_of(frontmatter, "status_reason"),
        superseded_by=properties.text_of(frontmatter, "superseded_by"),
        keys=_keys(frontmatter),
        names=(title, *properties.aliases(frontmatter)),
        inputs=properties.text_of(frontmatter, "source_hash"),
        prose_by=properties.text_of(frontmatter, "enriched_by"),
    )


def _keys(frontmatter: Frontmatter) -> tuple[str, ...]:
    field = frontmatter.fields.get(KEYS)
    if field is None:
        return ()
    listed = field.items or ((field.text,) if field.text else ())
    return tuple(key for key in listed if ":" in key)


def known_of(pages: Sequence[Page]) -> tuple[Known, ...]:
    """The entities with a page. What a page was superseded by has its keys and names as well."""
    by_slug = {page.slug: page for page in pages}
    found = []
    for page in pages:
        goal, seen = page, {page.slug}
        while goal.status == "superseded" and goal.superseded_by in by_slug:
            assert goal.superseded_by is not None
            if goal.superseded_by in seen:
                break
            seen.add(goal.superseded_by)
            goal = by_slug[goal.superseded_by]
        kind = page.keys[0].partition(":")[0]
        found.append(Known(goal.place.key, kind, page.keys, page.names))
    return tuple(found)


def title_of(entity: Entity) -> str:
    """The first name that was ever read of it, else its key without the kind."""
    plain = entity.keys[0].partition(":")[2]
    if entity.kind != "person":
        return entity.names[0] if entity.names else plain
    # A person's fuller name says more than a login that was read before.
    fuller = [name for name in entity.names if len(name_key(name).split()) > 1]
    name = next(iter(fuller or entity.names), plain)
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}" if comma and first.strip() else name


def place_for(entity: Entity, folder: Locator, taken: Mapping[str, object]) -> Locator:
    """Where a new page goes; `taken`: the keys of places that others have."""
    slug = slugify(title_of(entity).replace("/", " ")) or NAMELESS
    return free_place(folder, slug, taken, (entity.kind,))


def owned_properties(
    entity: Entity,
    place: Locator,
    notes: Sequence[Input],
    hash_of_inputs: str,
    derived_from: Sequence[str],
    rules: LoadedRules,
    prose_by: str | None,
) -> dict[str, Property | None]:
    """The properties of a page. All of it follows from the inputs."""
    title = title_of(entity)
    plain = [key.partition(":")[2] for key in entity.keys]
    seen = {title.casefold()}
    aliases = []
    for name in (*entity.names, *plain):
        if name.casefold() not in seen:
            seen.add(name.casefold())
            aliases.append(name)
    days = sorted(note.day for note in notes if note.day)
    declared = TYPES.get(entity.kind)
    return {
        "type": declared if declared in rules.rules.memory_types else None,
        "status": "active",
        "captured": days[0] if days else None,
        "updated": days[-1] if days else None,
        "slug": place.name.removesuffix(".md"),
        "title": title,
        "aliases": aliases,
        "source_hash": hash_of_inputs,
        "source_version": VERSION,
        "derived_from": tuple(derived_from),
        "enriched_by": prose_by,
        KEYS: entity.keys,
    }


def page_lines(
    facts: Sequence[Fact],
    more: int,
    together: Sequence[tuple[str, int]],
    prose: str | None,
) -> list[str]:
    """The generated part: the paragraph if there is one, the dated facts with their notes, newest
    first, and what is named with it. `more`: facts that are not shown."""
    lines = [*([prose, ""] if prose else []), "## Facts", ""]
    for fact in facts:
        shown = link(fact.note.path, fact.note.title)
        day = f"{fact.note.day} " if fact.note.day else ""
        lines.append(f"- {day}{shown}{': ' + fact.text if fact.text else ''}")
    if not facts:
        lines.append("No note names it any more.")
    if more:
        lines += ["", f"Older notes that name it: {more:,}."]
    if together:
        listed = ", ".join(f"`{key.partition(':')[2]}` ({count})" for key, count in together)
        lines += ["", f"Named together with (notes): {listed}."]
    return lines
