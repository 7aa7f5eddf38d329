"""What the assets of the group have in common."""

from typing import Final

GROUP: Final = "dreaming"
CODE_VERSION: Final = "1"
"""Raise it by hand when the steps here do something else. Stages have versions of their own."""


def asset_name(stage: str) -> str:
    """The asset of a stage: `reference-footers` is `reference_footers`."""
    return stage.replace("-", "_")
