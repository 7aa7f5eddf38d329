"""A memory that was distilled from a source and is not written yet."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

OUTCOME: Final = "outcome"
"""`Draft.part` of what came of a session, or of a stretch of it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """`body`: markdown without secrets. `type`: what the importer takes it for, "" when it can't
    tell. `digest`: of what it was made of. `captured`: when it was said or written, aware."""

    source: str
    digest: str
    title: str
    body: str
    captured: datetime
    type: str = ""
    tags: tuple[str, ...] = ()
    part: str = ""
