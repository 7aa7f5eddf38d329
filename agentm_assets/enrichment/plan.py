"""What a backfill would do, and about what it would cost, before anybody is asked anything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.gates.privacy import ScrubbedSubject, scrub_subject
from agentm_assets.enrichment.population import Reason, Waiting
from agentm_assets.enrichment.prompt import judgment_request
from agentm_assets.enrichment.reading import subject_of
from agentm_assets.extract.tokens import estimated_tokens
from agentm_assets.models.prices import Price, cost_of
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import NoteUnreadable, StorageBackend
from agentm_assets.storage.vault import MAX_NOTE_BYTES

_SAMPLED: Final = 20
"""Notes that are read for an estimate, evenly over the queue: enough to say what order of magnitude
it is, and done in a moment."""

_CALLS: Final = 2
"""A judgment, and the question whether it is grounded."""

_FIELDS: Final = 300
_VERDICT: Final = 100
"""Tokens of an answer beside the body, and of a verdict, as tests with small models gave them."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """About what a model would take. `cost` in US dollars, None where nobody knows the price."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None


FREE: Final = Estimate(0, 0, 0, 0.0)
"""The extractive judge calls nobody."""


def months_of(items: Sequence[Waiting], reasons: frozenset[Reason]) -> Mapping[str, int]:
    """How many notes wait for these reasons in each month; the month of the oldest comes first."""
    counts: dict[str, int] = {}
    for each in sorted(items, key=lambda each: each.position):
        if each.reason in reasons:
            counts[each.month] = counts.get(each.month, 0) + 1
    return counts


def estimate(
    items: Sequence[Waiting],
    backend: StorageBackend,
    rules: LoadedRules,
    price: Price | None,
    *,
    in_batch: bool,
) -> Estimate:
    """What a model would take for these notes, from a sample of them. Raises StorageError."""
    sampled = 0
    asked = answered = 0
    for waiting in items[:: max(1, len(items) // _SAMPLED)][:_SAMPLED]:
        scrubbed = _scrubbed(waiting, backend)
        if scrubbed is None:
            continue
        request = judgment_request(scrubbed, rules, "batch")
        note = estimated_tokens(scrubbed.source.text)
        sampled += 1
        asked += estimated_tokens(request.system) + estimated_tokens(request.user) + 2 * note
        answered += note + _FIELDS + _VERDICT
    if not sampled:
        return FREE
    share = len(items) / sampled
    input_tokens, output_tokens = round(asked * share), round(answered * share)
    cost = cost_of(price, input_tokens, output_tokens, in_batch=in_batch)
    return Estimate(len(items) * _CALLS, input_tokens, output_tokens, cost)


def _scrubbed(waiting: Waiting, backend: StorageBackend) -> ScrubbedSubject | None:
    locator = Locator(waiting.path)
    try:
        data = backend.read_bytes(locator, limit=MAX_NOTE_BYTES)
    except (FileNotFoundError, NoteUnreadable):
        return None
    scrubbed = scrub_subject(subject_of(locator, data, "batch", is_linked=waiting.is_linked))
    return scrubbed if isinstance(scrubbed, ScrubbedSubject) else None
