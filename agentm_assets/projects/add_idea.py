"""Putting an idea on the shared page."""

from dataclasses import dataclass
from datetime import datetime

from agentm_assets.config.vault import VaultLocation
from agentm_assets.history.outcome import Outcome
from agentm_assets.history.run import begin
from agentm_assets.projects.ideas import (
    IDEAS,
    Author,
    Idea,
    idea_line,
    ideas_page,
    last_line,
    with_idea,
)
from agentm_assets.projects.turn import turn, write_or_rewrite
from agentm_assets.storage.seam import StorageBackend

PASS = "idea"


@dataclass(frozen=True, slots=True)
class AddedIdea:
    """What stands on the page now. `announcement` is for the reply of an agent, None when the
    operator had the idea. `outcome` is what git said."""

    idea: Idea
    announcement: str | None
    outcome: Outcome


def add_idea(
    location: VaultLocation,
    backend: StorageBackend,
    text: str,
    author: Author,
    now: datetime,
) -> AddedIdea:
    """Append an idea to `ideas.md`, which is made when there is none; nothing else changes in it.

    Raises IdeaRefused and StorageError; then nothing was written.
    """
    line = idea_line(text, author, now.date())
    pages: list[bytes] = [b""]

    def longer(page: bytes) -> bytes:
        pages[:] = [with_idea(page, line)]
        return pages[0]

    with turn(location, backend, IDEAS).held():
        place = ideas_page(backend)
        with begin(location, backend, pass_name=PASS, subject=f"Add an idea to {place}") as run:
            write_or_rewrite(backend, run, place, longer)
    idea = Idea(place.key, last_line(pages[0]), line)
    said = f"I added an idea to {place} (line {idea.line}): {line}" if author == "agent" else None
    return AddedIdea(idea, said, run.outcome)
