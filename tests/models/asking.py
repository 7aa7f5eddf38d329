"""What the tests of the providers share: a question, and a pace that never really sleeps."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from agentm_assets.models.pace import Pace
from agentm_assets.models.protocol import ModelRequest

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
SCHEMA = {
    "type": "object",
    "properties": {
        "type": {"enum": ["fix", "reference"]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 8},
    },
    "required": ["type", "confidence", "tags"],
    "additionalProperties": False,
}


def question(
    key: str = "note-1", user: str = "The kettle leaks: the seal had perished."
) -> ModelRequest:
    return ModelRequest(key, "You file memories.", user, "judgment", SCHEMA, 500)


@dataclass
class Waits:
    """A clock that only sleeping moves."""

    slept: list[float] = field(default_factory=list)
    at: float = 0.0

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds

    @property
    def pace(self) -> Pace:
        return Pace(self.sleep, lambda: self.at, lambda: 0.0, lambda: NOW)
