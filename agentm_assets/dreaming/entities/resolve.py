"""Which page an entity belongs to, before a new one is made.

By its key where a page lists it, else by an exact match of normalised names and aliases. A name
that two pages have decides nothing: a wrong merge spoils the page that recall finds first.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agentm_assets.dreaming.entities.names import name_key, tells_who


@dataclass(frozen=True, slots=True)
class Reference:
    """An entity as notes name it: its key and the names that stand with it."""

    key: str
    names: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return self.key.partition(":")[0]

    @property
    def own_name(self) -> str:
        """The key without its kind: `anna@example.org`, `acme/kettle#12`."""
        return self.key.partition(":")[2]


@dataclass(frozen=True, slots=True)
class Known:
    """An entity that has a page. `page` names it; `names` are its title and aliases."""

    page: str
    kind: str
    keys: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing under all its keys, sorted. `page` None: it has none yet."""

    keys: tuple[str, ...]
    names: tuple[str, ...]
    page: str | None

    @property
    def kind(self) -> str:
        return self.keys[0].partition(":")[0]


class Registry:
    """The entities that have a page."""

    def __init__(self, known: Iterable[Known]) -> None:
        self._by_key: dict[str, str] = {}
        self._by_name: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for each in known:
            for key in each.keys:
                self._by_key.setdefault(key, each.page)
            for name in (*each.names, *(key.partition(":")[2] for key in each.keys)):
                # An alias on a page is the word of whoever wrote it, however short.
                if name_key(name):
                    self._by_name[each.kind, name_key(name)].add(each.page)

    def page_of(self, reference: Reference) -> str | None:
        """The page of the entity, None when it has none, or none for sure."""
        held = self._by_key.get(reference.key)
        if held is not None:
            return held
        own = self._by_name.get((reference.kind, name_key(reference.own_name)), set())
        if len(own) == 1:
            return next(iter(own))
        pages: set[str] = set()
        for name in reference.names:
            if tells_who(reference.kind, name):
                pages |= self._by_name.get((reference.kind, name_key(name)), set())
        return next(iter(pages)) if len(pages) == 1 else None


def entities(references: Sequence[Reference], registry: Registry) -> tuple[Entity, ...]:
    """The references put together: those of one page, and new ones that share a telling name.

    In the order of their first key. The order of `references` makes no difference.
    """
    paged: defaultdict[str, list[Reference]] = defaultdict(list)
    fresh: list[Reference] = []
    for each in sorted(references, key=lambda one: one.key):
        page = registry.page_of(each)
        if page is None:
            fresh.append(each)
        else:
            paged[page].append(each)
    found = [_entity(group, page) for page, group in paged.items()]
    found += [_entity(group, None) for group in _by_shared_names(fresh)]
    return tuple(sorted(found, key=lambda entity: entity.keys))


def _entity(group: Sequence[Reference], page: str | None) -> Entity:
    names = dict.fromkeys(name for each in group for name in each.names)
    return Entity(tuple(sorted({each.key for each in group})), tuple(names), page)


def _by_shared_names(references: Sequence[Reference]) -> list[list[Reference]]:
    groups: list[list[Reference]] = []
    at: dict[tuple[str, str], int] = {}
    for each in references:
        telling = [
            (each.kind, name_key(name))
            for name in (each.own_name, *each.names)
            if tells_who(each.kind, name)
        ]
        held = sorted({at[name] for name in telling if name in at})
        if not held:
            groups.append([])
            held = [len(groups) - 1]
        first = held[0]
        groups[first].append(each)
        for other in held[1:]:
            groups[first] += groups[other]
            groups[other] = []
            at = {name: first if group == other else group for name, group in at.items()}
        at |= dict.fromkeys(telling, first)
    return [group for group in groups if group]


def with_names(reference: Reference, names: Iterable[str]) -> Reference:
    """The reference with further names."""
    return replace(reference, names=tuple(dict.fromkeys((*reference.names, *names))))
