"""Which notes mention a thing outside the vault: an issue, a commit, a repository, a page."""

from dataclasses import dataclass

from agentm_assets.contract.excludes import is_excluded
from agentm_assets.extract.entities import entities_in_question
from agentm_assets.index.facts_reader import EntityFacts, FactsReader
from agentm_assets.reading.errors import ReadingRefused
from agentm_assets.reading.library import Library
from agentm_assets.reading.places import shown
from agentm_assets.recall.errors import IndexMissing

MOST_NOTES = 200
_LONGEST = 2_048  # characters


@dataclass(frozen=True, slots=True)
class Mention:
    """A note that mentions the entity. `surface` is how it spells it, `count` how often."""

    path: str
    title: str
    status: str | None
    captured: str | None
    entity: str
    surface: str
    count: int


@dataclass(frozen=True, slots=True)
class Mentions:
    """`entities` are the keys that were looked up. `total` counts notes, `notes` holds the newest
    MOST_NOTES of them."""

    entities: tuple[str, ...]
    total: int
    notes: tuple[Mention, ...]


def find_entity(library: Library, uri: str) -> Mentions:
    """The notes that mention `uri`: a key ("issue:acme/kettle#12"), any spelling that a note could
    hold ("acme/kettle#12", a URL), newest capture first.

    Raises ReadingRefused when it names no entity, IndexMissing, ServingUnreadable.
    """
    text = " ".join(uri.split())
    if not text or len(text) > _LONGEST:
        raise ReadingRefused(f"name one entity, in at most {_LONGEST} characters. {_FORMS}")
    facts = library.facts
    if facts is None:
        raise IndexMissing(
            f"entities are known only to the index ({library.trouble}). Run `agentm index`."
        )
    with facts.snapshot():
        keys, found = _look_up(library, facts, text)
        best: dict[str, EntityFacts] = {}
        for mention in found:
            if not is_excluded(mention.path, library.rules.excludes):
                best.setdefault(mention.path, mention)
        notes = facts.notes_by_path(list(best))
    newest = sorted(best, key=lambda path: (notes[path].captured or "", path), reverse=True)
    return Mentions(
        entities=keys,
        total=len(best),
        notes=tuple(
            Mention(
                path=path,
                title=notes[path].title,
                status=notes[path].status,
                captured=notes[path].captured,
                entity=best[path].key,
                surface=best[path].surface,
                count=best[path].count,
            )
            for path in newest[:MOST_NOTES]
        ),
    )


_FORMS = (
    "For instance acme/kettle#12, https://github.com/acme/kettle/pull/12, issue:acme/kettle#12, "
    "@login or a commit hash."
)


def _look_up(
    library: Library, facts: FactsReader, text: str
) -> tuple[tuple[str, ...], list[EntityFacts]]:
    exact = facts.notes_with_entity(text)  # a key, as a hit shows it
    if exact:
        return (text,), list(exact)
    keys = entities_in_question(text, library.entity_context)
    if not keys:
        kind, _, rest = text.partition(":")
        keys = entities_in_question(rest, library.entity_context) if kind.isalpha() else ()
    if not keys:
        raise ReadingRefused(f"{shown(text)} names no entity that agentm knows. {_FORMS}")
    # the thing itself, without the repository that every issue and commit also stands for
    wanted = tuple(key for key in keys if not key.startswith("repo:")) or keys
    found: list[EntityFacts] = []
    for key in wanted:
        is_commit = key.startswith("commit:")
        found += facts.notes_with_commit(key) if is_commit else facts.notes_with_entity(key)
    return wanted, found
