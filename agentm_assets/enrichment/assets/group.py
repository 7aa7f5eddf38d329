"""What the assets of the group have in common."""

from typing import Final

GROUP: Final = "enrichment"
CODE_VERSION: Final = "1"
"""Raise it by hand when the steps here do something else. Prompt, model and rules have versions of
their own, in every note."""
