"""What tokens cost, where that is known."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

BATCH_SHARE = 0.5
"""Of the price, in a batch (both vendors' price lists)."""

_DATED = re.compile(r"-20\d{2}-?\d{2}-?\d{2}\Z")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int, *, in_batch: bool) -> float:
        cost = (input_tokens * self.input + output_tokens * self.output) / 1_000_000
        return cost * BATCH_SHARE if in_batch else cost


PRICES: Mapping[str, Price] = MappingProxyType(
    {
        "anthropic/claude-opus-5-5": Price(4, 20),
        "anthropic/claude-opus-5": Price(5, 25),
        "anthropic/claude-sonnet-5-5": Price(2, 10),
        "anthropic/claude-sonnet-5": Price(2, 10),
        "anthropic/claude-sonnet-4-6": Price(3, 15),
        "anthropic/claude-opus-4-6": Price(5, 25),
        "anthropic/claude-haiku-4-5": Price(1, 5),
    }
)
"""Anthropic's price list of autumn 2026 (platform.claude.com, Models & pricing). What is not here,
or has several prices, is unknown until the configuration names it: a wrong price is worse."""


def price_of(model_id: str) -> Price | None:
    """The price of a model, also under its name with a date; None where it is unknown."""
    return PRICES.get(model_id) or PRICES.get(_DATED.sub("", model_id))


def cost_of(
    price: Price | None, input_tokens: int, output_tokens: int, *, in_batch: bool = False
) -> float | None:
    return None if price is None else price.of(input_tokens, output_tokens, in_batch=in_batch)
