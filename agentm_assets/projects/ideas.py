"""`ideas.md`: the shared list of ideas. It only grows here; nothing in it is rewritten."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from agentm_assets.contract.lines import split_lines
from agentm_assets.projects.declared import folded
from agentm_assets.projects.document import one_line
from agentm_assets.projects.region import line_end_of
from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.seam import StorageBackend

Author = Literal["operator", "agent"]

IDEAS = "ideas.md"
NEW_PAGE = b"# Ideas\n\n"
MAX_IDEA_CHARACTERS = 2_000
"""A line; what is longer is a note of its own (`agentm capture --type idea`)."""


class IdeaRefused(Exception):
    """The text is no idea that fits on a line; nothing was written."""


@dataclass(frozen=True, slots=True)
class Idea:
    """An idea as it was put on the page: `line` counts from 1 in the file."""

    path: str
    line: int
    text: str


def idea_line(text: str, author: Author, day: date) -> str:
    """The text of the list item: on one line, and signed when the agent had the idea.

    Raises IdeaRefused for an empty or a very long text.
    """
    written = one_line(text)
    if not written:
        raise IdeaRefused("the idea is empty. Give it a few words")
    if len(written) > MAX_IDEA_CHARACTERS:
        raise IdeaRefused(
            f"the idea is over {MAX_IDEA_CHARACTERS} characters. Save it as a note: agentm capture "
            "--type idea"
        )
    signed = f"{written} (added by the agent, {day.isoformat()})"
    return signed if author == "agent" else written


def with_idea(page: bytes, line: str) -> bytes:
    """The page with a list item at its end; every byte before it stays.

    The item takes the line end that the page uses most (LF for an empty one), and a last line
    that has no end gets one first. An empty page gets its heading. Raises IdeaRefused for a page
    that is UTF-16.
    """
    if page.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise IdeaRefused(f"{IDEAS} is UTF-16, which agentm does not write. Save it as UTF-8")
    end = line_end_of(page)
    gap = b"" if page.endswith((b"\n", b"\r")) else end
    start = page + gap if page else NEW_PAGE
    return start + b"- " + line.encode("utf-8") + end


def ideas_page(backend: StorageBackend) -> Locator:
    """The page under its name on disk, whatever the case."""
    found = [place for place in backend.list(ROOT) if folded(place.name) == IDEAS]
    found.sort(key=lambda place: place.name != IDEAS)
    return found[0] if found else Locator(IDEAS)


def last_line(page: bytes) -> int:
    """The number of the page's last line."""
    return len(split_lines(page))
