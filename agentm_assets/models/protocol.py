"""What a generative model is asked and what it gives back, whoever serves it.

A provider turns a `ModelRequest` into one call and its reply into a `ModelReply`. Whether an answer
is any good is not its business: that is what the gates are for (agentm_assets/enrichment/gates).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

Tier = Literal["cheap", "strong"]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question.

    `key` names the piece of work and is the same for every try at it (a batch finds its answers by
    it): letters, digits, `-` and `_`, at most 64. `schema` is the JSON schema that the answer must
    have. The texts are scrubbed already.
    """

    key: str
    system: str
    user: str
    schema_name: str
    schema: Mapping[str, object]
    max_output_tokens: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call used. `cost` in US dollars, None where no price is known."""

    input_tokens: int
    output_tokens: int
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """An answer as the model wrote it, not looked at yet. `model`: as the server names it."""

    text: str
    model: str
    usage: Usage
    seconds: float


class ModelError(Exception):
    """A call gave no answer. The text says what was wrong and the cure, and never holds a key, nor
    what was asked, nor what was answered."""


class ModelUnavailable(ModelError):
    """Nobody answered, or the server is busy or broken: later it may go well. Nothing is remembered
    of the note. `retry_after`: seconds that the server asked for."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PerhapsTaken(ModelUnavailable):
    """The connection broke after a batch was sent: whether the server took it is not known, and
    `BatchProvider.find` tells later. Sent again at once it might be paid twice."""


class ModelMisconfigured(ModelError):
    """No try will go well until the operator mends something: a key, a model's name, a URL."""


class AnswerUnusable(ModelError):
    """The model answered, and what came is no answer: cut off, refused, too long, not text.

    `usage` was paid for."""

    def __init__(self, message: str, usage: Usage) -> None:
        super().__init__(message)
        self.usage = usage


class Provider(Protocol):
    """A model that answers at once. Thread-safe."""

    @property
    def model_id(self) -> str:
        """Such as "anthropic/claude-haiku-4-5": provider and exact model, as stamps hold it."""

    @property
    def batches(self) -> "BatchProvider | None":
        """The same model by its batch interface, None where it has none."""

    def ask(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """Ask, within `timeout` seconds, retries included. Raises ModelError."""

    def reachable(self, *, timeout: float) -> str | None:
        """None when a call would find the model, else why not and the cure. Costs no tokens."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """Where a batch stands. `ended`: its results can be read, also when it expired or was
    cancelled half-way."""

    status: Literal["in_progress", "ended", "expired", "cancelled", "failed"]
    done: int
    total: int

    @property
    def ended(self) -> bool:
        return self.status != "in_progress"


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What came of one request of a batch: a reply, or the error that it ended with."""

    key: str
    reply: ModelReply | None
    error: ModelError | None


class BatchProvider(Protocol):
    """Many requests at once, answered within a day at a lower price."""

    def submit(self, requests: Sequence[ModelRequest], *, timeout: float) -> str:
        """Hand them over; returns the batch's id. Raises ModelError: nothing was handed over;
        but for PerhapsTaken, which leaves that open."""

    def find(self, keys: Sequence[str], *, since: datetime, timeout: float) -> str | None:
        """The id of the batch of exactly these requests that was handed over at `since` or later,
        None when there is none: for a caller that was killed, or cut off, before it knew the id.
        Raises ModelError, ModelUnavailable also while the server can't tell yet."""

    def state(self, batch_id: str, *, timeout: float) -> BatchState:
        """Raises ModelError."""

    def results(self, batch_id: str, *, timeout: float) -> Iterator[BatchResult]:
        """One for each request that the batch answered, in no order; a request without a result was
        not run. Raises ModelError."""
