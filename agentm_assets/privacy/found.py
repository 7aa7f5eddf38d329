"""A stretch of a text that a model must not see."""

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal[
    "private-key",
    "password",
    "aws-key",
    "github-token",
    "slack-token",
    "google-key",
    "openai-key",
    "anthropic-key",
    "token",
    "jwt",
    "secret",
    "email",
    "phone",
    "card",
    "iban",
    "bracket",
]
"""`token`: of any other service. `secret`: what is assigned to a name that says so. `bracket`: what
only looks like a placeholder, so that it comes back as it was."""

CONTACTS: Final[frozenset[Kind]] = frozenset({"email", "phone"})
"""What says how to reach somebody; everything else opens something."""


@dataclass(frozen=True, slots=True)
class Found:
    """Offsets are characters."""

    kind: Kind
    start: int
    end: int
