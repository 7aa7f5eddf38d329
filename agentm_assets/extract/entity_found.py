"""One reference as a scanner finds it, before the spellings of one thing are merged."""

from dataclasses import dataclass
from typing import Literal

Confidence = Literal["high", "low"]


@dataclass(frozen=True, slots=True)
class Named:
    """What a URL names.

    `repo` is the repository it speaks of as spelled there; `number` the part that a link text may
    give alone (the issue's number, the commit's hash).
    """

    key: str
    kind: str
    detail: str | None = None
    repo: str | None = None
    number: str | None = None


@dataclass(frozen=True, slots=True)
class UrlReading:
    """What a site's own grammar makes of a URL. Not `complete`: the URL is an entity as well."""

    named: tuple[Named, ...] = ()
    complete: bool = False


UNREAD = UrlReading()
"""The URL is a page like any other."""


@dataclass(frozen=True, slots=True)
class Found:
    """A reference at `text[start:end]` (character offsets).

    `guessed`: the form does not say which repository or host it belongs to.
    """

    key: str
    kind: str
    start: int
    end: int
    confidence: Confidence
    detail: str | None = None
    repo: str | None = None
    number: str | None = None
    guessed: bool = False
