"""What reading needs, opened once for many questions."""

from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from agentm_assets.capture.journal import not_indexed
from agentm_assets.config.settings import Settings
from agentm_assets.config.vault import VaultLocation
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.recall.context import entity_context
from agentm_assets.recall.ranking import RankingRules, load_ranking
from agentm_assets.recall.sections import ReadNote
from agentm_assets.storage.selection import open_vault


@dataclass(frozen=True, slots=True)
class Library:
    """`facts` None: there is no usable index, and `trouble` says why. `rules` are those in force,
    the shipped ones when they are broken. `not_indexed`: notes that `facts` knows although the
    index does not yet, since they were captured a moment ago."""

    location: VaultLocation
    read_note: ReadNote
    rules: RankingRules
    entity_context: EntityContext
    facts: FactsReader | None
    trouble: str | None
    not_indexed: Set[str] = frozenset()

    def indexed_hash(self, path: str) -> str | None:
        """The content hash under which the index holds a note; None when it does not."""
        if self.facts is None or path in self.not_indexed:
            return None
        note = self.facts.note(path)
        return None if note is None else note.content_hash

    def waiting(self) -> tuple[str, ...]:
        """Paths of the captures that the index does not hold yet, newest first."""
        return tuple(entry.path for entry in reversed(not_indexed(self.location).entries))


@contextmanager
def open_library(settings: Settings, env: Mapping[str, str]) -> Iterator[Library]:
    """A library for a process that asks once. A missing index is no error here."""
    vault = open_vault(settings.location)
    rules, _remark = load_ranking(vault, env)
    make = partial(
        Library,
        location=settings.location,
        read_note=vault.read_bytes,
        rules=rules,
        entity_context=entity_context(settings.entities),
    )
    try:
        facts = FactsReader.open(settings.location.facts_file)
    except ServingUnreadable as error:
        yield make(facts=None, trouble=f"{error}")
        return
    with facts:
        yield make(facts=facts, trouble=None)
