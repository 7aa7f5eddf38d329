"""What goes before a prompt: the notes that a recall of it gives. Standard library at the top."""

from collections.abc import Mapping
from datetime import datetime

from agentm_assets.config.vault import VaultLocation
from agentm_assets.hooks.block import context_block
from agentm_assets.warm.client import WarmRequest, ask

MOST_NOTES = 5
LONGEST_QUESTION = 1_000
"""Characters of a prompt that are asked with: what is pasted below them is no question."""


def prompt_block(
    prompt: str,
    location: VaultLocation,
    env: Mapping[str, str],
    now: datetime,
    *,
    tokens: int,
    seconds: float,
) -> str:
    """The context block for a prompt; "" when there is nothing worth saying.

    A running server answers with all that recall has; else words alone, in this process: what they
    find is only printed when they are sure, since most prompts share a word with some note.
    `seconds` bounds each step of the asking. Raises WarmTrouble and what recall raises.
    """
    question = prompt.strip()[:LONGEST_QUESTION]
    if not question or question.startswith("/"):  # a command of the host, not a question
        return ""
    answer = ask(location.state_dir, WarmRequest(question, MOST_NOTES), seconds)
    if answer is None:
        from agentm_assets.recall.haste import recall_by_words
        from agentm_assets.recall.shape import json_of

        found = recall_by_words(question, MOST_NOTES, location, env, now)
        if found.verdict != "answer":
            return ""
        answer = json_of(found)
    return context_block(answer, tokens)
