"""The stage that keeps the pages of entities in line with the notes that name them.

Finding what is out of date only enters it in a queue; the queue is drained oldest first. A page of
dated facts needs no model. Its paragraph does, and comes whenever the answer is there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import duckdb

from agentm_assets.contract.edit import remove_key, set_key
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.properties import text_of
from agentm_assets.dreaming.asking import Asking, asking_of
from agentm_assets.dreaming.derived_page import OperatorsPage, written_page
from agentm_assets.dreaming.draining import Jobs, most_tonight, remember, take
from agentm_assets.dreaming.entities.facts import (
    LEAST_NOTES,
    Fact,
    Mentions,
    kinds_with_pages,
    named_together,
    read_facts,
    read_mentions,
)
from agentm_assets.dreaming.entities.pages import (
    GONE_QUIET,
    MOST_SHOWN,
    VERSION,
    Page,
    known_of,
    owned_properties,
    page_lines,
    place_for,
    read_pages,
)
from agentm_assets.dreaming.entities.prose import ask_for_prose, paragraph
from agentm_assets.dreaming.entities.resolve import Entity, Registry, entities
from agentm_assets.dreaming.grounded import Grounded, Refused
from agentm_assets.dreaming.inputs import Input, Names, inputs_hash
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.pages.page import memory_folder
from agentm_assets.dreaming.stage import Applied, Change, Kind, Leave, Plan
from agentm_assets.dreaming.veil import Veil
from agentm_assets.ledger import queue
from agentm_assets.projects.document import Property

NAME: Final = "entity-rollups"
PROSE: Final = "entity-prose"
"""Owners in the queue: pages to be made or made anew, and paragraphs to be asked for."""

PROSE_FROM: Final = 3
"""Facts that may be shown from which a page has a paragraph: fewer speak for themselves."""


@dataclass(frozen=True, slots=True)
class Target:
    """An entity and its page, with the notes that name it, newest first, and their hash."""

    entity: Entity
    page: Page | None
    notes: tuple[Input, ...]
    inputs: str

    @property
    def name(self) -> str:
        """In queues and the ledger: the page's first key, which stays while others join."""
        return self.page.keys[0] if self.page is not None else self.entity.keys[0]

    @property
    def reason(self) -> str | None:
        """Why the page is out of date; None when it is not."""
        if self.page is None:
            return "new"
        return "inputs-changed" if self.page.inputs != self.inputs else None


@dataclass(frozen=True, slots=True)
class _Job:
    """A page to be written: as a whole when `item` is of the owner NAME, else for its paragraph."""

    target: Target
    item: queue.Item
    facts: tuple[Fact, ...]
    together: tuple[tuple[str, int], ...]


class EntityRollups:
    """A page for each entity that at least two settled notes name."""

    name: Final = NAME
    version: Final = VERSION
    needs_model: Final = True
    description: Final = (
        "Pages of people, repositories and issues: dated facts with links to their notes; a "
        "paragraph above them where a model is configured."
    )

    def plan(self, night: Night) -> Plan:
        kinds = kinds_with_pages(night.rules)
        pages = read_pages(night.backend)
        with night.index() as connection:
            mentions = read_mentions(connection, night.rules, kinds)
            names = Names(connection)
        targets, retired = find_targets(mentions, pages, kinds)
        asking = asking_of(night, NAME)
        due = {target.name: target for target in targets if target.reason is not None}
        bare = {_prose_name(target): target for target in targets if _lacks_prose(target)}
        most = most_tonight(night, NAME)
        items = [
            (due[item.target], item)
            for item in take(night, NAME, {n: t.reason or "" for n, t in due.items()}, most)
        ]
        if asking.model_id is not None:
            lacking = dict.fromkeys(bare, "no-paragraph")
            items += [(bare[item.target], item) for item in take(night, PROSE, lacking, most)]
        with night.index() as connection:
            veil = night.veil(connection)
            jobs = [_job(connection, target, item, veil) for target, item in items]
        work = _worked(night, asking, names, jobs)
        handed = asking.finish()
        if asking.model_id is None:
            work.waiting = len(bare)
        planned = sum(job.item.owner == NAME for job in jobs)
        notes = [*asking.remarks(), *([handed.because] if handed.because else [])]
        if len(due) > planned:
            notes.append(f"{len(due) - planned:,} pages of entities wait for the next nights")
        return Plan(
            changes=tuple(work.changes),
            waiting_for_model=work.waiting,
            skipped={"retired": retired} if retired else {},
            notes=tuple(notes),
            measured={
                "entities": len(targets),
                "current": len(targets) - len(due),
                "share": round(1 - len(due) / len(targets), 4) if targets else 1.0,
            },
            spent=asking.spent,
            settle=lambda applied: _settle(night, asking, targets, work, applied),
        )


def find_targets(
    mentions: Mentions, pages: Sequence[Page], kinds: Sequence[str]
) -> tuple[list[Target], int]:
    """The entities that have a page or are to get one, by name, and how many pages somebody else
    has retired. A page that no note names any more is there with no notes."""
    by_place = {page.place.key: page for page in pages}
    found: dict[str, Target] = {}
    retired = 0
    met: set[str] = set()
    for entity in entities(mentions.references, Registry(known_of(pages))):
        notes = mentions.of(entity)
        page = by_place[entity.page] if entity.page is not None else None
        if page is not None:
            met.add(page.place.key)
            if page.is_retired:
                retired += 1
                continue
        elif len(notes) < LEAST_NOTES:
            continue
        target = Target(entity, page, notes, inputs_hash(notes))
        found[target.name] = target
    for page in pages:
        kind = page.keys[0].partition(":")[0]
        if page.place.key in met or page.is_retired or kind not in kinds:
            continue
        entity = Entity(tuple(sorted(page.keys)), (), page.place.key)
        target = Target(entity, page, (), inputs_hash(()))
        found.setdefault(target.name, target)
    return [found[name] for name in sorted(found)], retired


def _lacks_prose(target: Target) -> bool:
    """Whether the page, as it is, has no paragraph yet. One that is out of date gets its own when
    it is made anew."""
    page = target.page
    return (
        page is not None
        and target.reason is None
        and page.prose_by is None
        and len(target.notes) >= PROSE_FROM
    )


def _prose_name(target: Target) -> str:
    """With the inputs in it: what was refused for some is another question for others."""
    return f"{target.name} {target.inputs[:12]}"


def _job(
    connection: duckdb.DuckDBPyConnection, target: Target, item: queue.Item, veil: Veil
) -> _Job:
    shown = target.notes[:MOST_SHOWN]
    return _Job(
        target,
        item,
        read_facts(connection, target.entity, shown, veil),
        named_together(connection, target.entity, target.notes),
    )


def _worked(night: Night, asking: Asking, names: Names, jobs: Sequence[_Job]) -> Jobs:
    """The changes of the jobs. Of a page that is made anew the paragraph is asked for, too."""
    work = Jobs()
    folder = memory_folder(night.backend, "entities")
    taken: dict[str, object] = {place.key: None for place in night.backend.list(folder)}
    for job in jobs:
        target = job.target
        prose: str | None = None
        stamp: str | None = None
        keys: tuple[str, ...] = ()
        if sum(bool(fact.text) for fact in job.facts) >= PROSE_FROM:
            said = ask_for_prose(asking, target.entity, job.facts, target.inputs)
            if isinstance(said, Grounded):
                prose, stamp, keys = paragraph(said.answer), asking.stamp(VERSION), said.keys
            elif isinstance(said, Refused):
                if job.item.owner == PROSE:
                    work.refuse(job.item, said)
            else:
                work.waiting += 1
        if job.item.owner == PROSE and stamp is None:
            continue
        place = target.page.place if target.page else place_for(target.entity, folder, taken)
        taken[place.key] = None
        owned = owned_properties(
            target.entity,
            place,
            target.notes,
            target.inputs,
            names.of_all(target.notes),
            night.rules,
            stamp,
        )
        more = len(target.notes) - len(job.facts)
        lines = page_lines(job.facts, more, job.together, prose)
        kind: Kind = "rewrite" if target.page else "new"
        work.add(job.item, Change(place, kind, _builder(owned, lines)), keys)
    return work


def _builder(
    owned: Mapping[str, Property | None], lines: Sequence[str]
) -> Callable[[bytes | None], bytes]:
    is_quiet = not owned["derived_from"]

    def build(old: bytes | None) -> bytes:
        try:
            page = written_page(old, owned, lines)
        except OperatorsPage as error:
            raise Leave("taken-over") from error
        held = read_frontmatter(page)
        if is_quiet:
            page = set_key(page, "status", "expired")
            return set_key(page, "status_reason", GONE_QUIET)
        if text_of(held, "status_reason") == GONE_QUIET:
            return remove_key(set_key(page, "status", "active"), "status_reason")
        return page

    return build


def _settle(
    night: Night, asking: Asking, targets: Sequence[Target], work: Jobs, applied: Applied
) -> None:
    work.settle(night, asking, applied)
    standing = {
        item.target
        for key, items in work.by_file.items()
        if applied.stands(key)
        for item in items
        if item.owner == NAME
    }
    done = {e.name: e.inputs for e in targets if e.reason is None or e.name in standing}
    remember(night, NAME, VERSION, done)
