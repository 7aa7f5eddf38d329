"""The stages of a night in the order in which they run: each works on what those before it left."""

from collections.abc import Sequence
from typing import Final

from agentm_assets.dreaming.stage import Stage

STAGES: Final[Sequence[Stage]] = ()


def stage_named(name: str) -> Stage | None:
    """The stage of that name; None when there is none."""
    return next((stage for stage in STAGES if stage.name == name), None)
