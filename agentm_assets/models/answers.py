"""What every provider makes of an answer: the text, or why it is none."""

import json
from collections.abc import Mapping
from typing import Any

from agentm_assets.models.protocol import AnswerUnusable, Usage

MOST_ANSWER_BYTES = 1_000_000
NOTHING_USED = Usage(0, 0)

ROOM_FOR_THOUGHT = 8_000
"""Tokens allowed on top of the answer's where a model thinks before it writes: thinking counts
against the most tokens of an answer, and can't be switched off in the current ones."""


def usable(text: str, usage: Usage) -> str:
    """The text, unless it is empty or too long."""
    if not text.strip():
        raise AnswerUnusable("the model answered with nothing.", usage)
    if len(text) > MOST_ANSWER_BYTES or len(text.encode("utf-8", "replace")) > MOST_ANSWER_BYTES:
        raise too_long(usage)
    return text


def too_long(usage: Usage) -> AnswerUnusable:
    return AnswerUnusable(f"the answer is longer than {MOST_ANSWER_BYTES:,} bytes.", usage)


def cut_off(usage: Usage) -> AnswerUnusable:
    return AnswerUnusable("the answer was cut off at the most tokens that it may have.", usage)


def refused(usage: Usage) -> AnswerUnusable:
    return AnswerUnusable("the model refused to answer.", usage)


def no_answer(what: str) -> AnswerUnusable:
    """`what` came instead of an answer, and nobody knows what it cost."""
    return AnswerUnusable(f"what came is no answer: {what}.", NOTHING_USED)


def over_long_question() -> AnswerUnusable:
    return AnswerUnusable("the note and the prompt are too long for this model.", NOTHING_USED)


def count(usage: Mapping[str, Any], *names: str) -> int:
    """The sum of token counts, of which any may be missing."""
    found = [usage.get(name) for name in names]
    return sum(n for n in found if isinstance(n, int) and not isinstance(n, bool) and n > 0)


def table(value: Any) -> Mapping[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def parsed_json(data: bytes | str) -> Any:
    """JSON, None for what is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
