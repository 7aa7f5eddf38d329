"""Local model servers as the models of a night."""

import json
import re
from collections.abc import Callable

from model_servers import KEY, Asked, ModelServer

from agentm_assets.models.anthropic import AnthropicProvider
from agentm_assets.models.openai_compatible import OpenAICompatibleProvider
from agentm_assets.models.pace import Pace
from agentm_assets.models.prices import Price
from agentm_assets.models.protocol import Provider
from agentm_assets.models.tiers import Tiers

FAITHFUL = json.dumps({"faithful": True, "claim": None})


def _pace() -> Pace:
    return Pace(lambda seconds: None, lambda: 0.0)


def by_batch(server: ModelServer) -> Tiers:
    """A strong model that answers in batches."""
    provider = AnthropicProvider(
        "claude-test", KEY, base_url=server.url, price=Price(1.0, 5.0), pace=_pace()
    )
    return _tiers(provider)


def at_once(server: ModelServer) -> Tiers:
    """A strong model without batches."""
    provider = OpenAICompatibleProvider(
        "test-model",
        KEY,
        base_url=server.url,
        price=Price(1.0, 5.0),
        has_batches=False,
        pace=_pace(),
    )
    return _tiers(provider)


def _tiers(provider: Provider) -> Tiers:
    return Tiers(None, provider, (), {"strong": 10.0}, {})


def is_grounding(asked: Asked) -> bool:
    return "You compare a rewritten note" in asked.system


def numbers_of(asked: Asked) -> list[int]:
    """The numbers of the notes in a question."""
    return [int(found) for found in re.findall(r"^\[(\d+)\] ", asked.user, re.MULTILINE)]


def answering(answer: Callable[[Asked], object]) -> Callable[[Asked], str]:
    """Calls everything faithful, and answers the other questions with what `answer` gives."""

    def answered(asked: Asked) -> str:
        return FAITHFUL if is_grounding(asked) else json.dumps(answer(asked))

    return answered
