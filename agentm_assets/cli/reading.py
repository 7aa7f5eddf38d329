"""What the commands that read the vault share: opening it, and their exit codes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentm_assets.cli.output import BAD_INPUT, RED_STATE, failures_reported

if TYPE_CHECKING:
    from agentm_assets.reading.library import Library


@contextmanager
def library(vault: str | None, profile: str | None) -> Iterator["Library"]:
    """The vault and its facts, with every known failure turned into a sentence and a code."""
    from agentm_assets.config.settings import Settings
    from agentm_assets.reading.errors import NoteShut, ReadingRefused
    from agentm_assets.reading.library import open_library
    from agentm_assets.recall.errors import IndexMissing

    codes = {ReadingRefused: BAD_INPUT, NoteShut: RED_STATE, IndexMissing: RED_STATE}
    with failures_reported(codes):
        settings = Settings.load(os.environ, vault=vault, profile=profile)
        with open_library(settings, os.environ) as opened:
            yield opened
