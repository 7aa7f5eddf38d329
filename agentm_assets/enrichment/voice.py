"""How rewritten notes sound: a specification that is part of the prompt, and so of its version."""

from functools import cache
from importlib import resources


@cache
def voice() -> str:
    """The text of voice.md, which is packaged beside this module."""
    text = resources.files("agentm_assets.enrichment").joinpath("voice.md").read_text("utf-8")
    return text.strip()
