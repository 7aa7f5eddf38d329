"""The operator's own space, which the ordinary write never reaches."""

import unicodedata

from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import PersonalAuthorization, WriteRefused

PERSONAL = "personal"


def is_personal(locator: Locator) -> bool:
    """Does the first segment name the operator's space, whatever its case or composition?"""
    first = locator.key.partition("/")[0]
    return unicodedata.normalize("NFKC", first).casefold() == PERSONAL


def refuse_personal(locator: Locator) -> None:
    """Raises WriteRefused for a place in the operator's space."""
    if is_personal(locator):
        raise WriteRefused(
            f"{locator} lies in {PERSONAL}/, which is the operator's alone; file it elsewhere, or "
            "let the operator write it with --personal"
        )


def require_authorization(locator: Locator, authorization: PersonalAuthorization) -> None:
    """Raises WriteRefused unless the place is personal and the operator's word is there."""
    if not isinstance(authorization, PersonalAuthorization):
        raise WriteRefused(f"{locator}: {PERSONAL}/ is written on the operator's word alone")
    if not is_personal(locator):
        raise WriteRefused(f"{locator} lies outside {PERSONAL}/; use the ordinary write")
