"""What a judge says of a note. Made by the schema gate from a model's answer, or by the extractive
judge; nothing of it is written before the other gates have seen it."""

from dataclasses import dataclass
from typing import Literal

Altitude = Literal["canonical", "artifact"]

MOST_TAGS = 8
MOST_ALIASES = 6


@dataclass(frozen=True, slots=True)
class Judgment:
    """`body` None: the body stays as it is. `slug` None: the name stays. `memory_class` is the
    folder that the note belongs in, by the routing of its type unless the judge says otherwise.
    `aliases` and `tags` are new ones, to be added; none is ever taken away. `confidence` is 0 to 1.
    `summary` None: the note is too short to want one."""

    type: str
    altitude: Altitude
    memory_class: str
    title: str
    slug: str | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    summary: str | None
    body: str | None
    confidence: float
