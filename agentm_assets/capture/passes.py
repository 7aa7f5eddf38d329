"""What an index pass does for captures: three calls, in the order of their names' meaning.

A mark that can't be written costs later readers some work and loses nothing, so none of this stops
a pass.
"""

from contextlib import suppress
from datetime import datetime

from agentm_assets.capture import journal
from agentm_assets.capture.reinforcement import work_off
from agentm_assets.config.vault import VaultLocation
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical_files import read_manifest
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.storage.seam import StorageBackend


def before_walk(location: VaultLocation, backend: StorageBackend, now: datetime) -> journal.Mark:
    """Work off the reinforcements that wait, and mark the journal's end: whatever it holds by now
    has its file in the vault, so that the walk that follows sees it."""
    with suppress(OSError):  # the status counts what waits
        work_off(location, backend, now)
    try:
        return journal.end_of_journal(location)
    except OSError:
        return journal.START


def after_facts(location: VaultLocation, captured: journal.Mark) -> None:
    """The published facts hold all that the walk saw. Not to be called when the pass left changed
    notes for later."""
    if captured != journal.START:
        with suppress(OSError):
            journal.mark_indexed(location, captured)


def after_vectors(location: VaultLocation) -> None:
    """The vectors hold what the facts do; if the words do as well, recall need not look at the
    captures any more."""
    try:
        words = read_manifest(location.lexical_dir)
        with FactsReader.open(location.facts_file) as facts:
            meta = facts.meta
    except ServingUnreadable:
        return
    if words.index_id == meta["index_id"] and words.rev >= int(meta["rev"]):
        with suppress(OSError):
            journal.mark_served(location)
