"""The last accepted result of a question set: kept in the vault, in `Agent/_meta/evaluation/`.

Later runs are held against it. It is replaced on the operator's word alone, by a run that the
history knows, so git has every earlier one.
"""

import re
from datetime import datetime

from agentm_assets.config.vault import VaultLocation
from agentm_assets.evaluation.saved import Kind, SavedResult, parse_result
from agentm_assets.history.outcome import Outcome
from agentm_assets.history.run import begin
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import ABSENT, StorageBackend

FOLDER = "Agent/_meta/evaluation"
PASS = "evaluation"

_OTHER = re.compile(r"[^a-z0-9]+")


def place_of_accepted(kind: Kind, name: str) -> Locator:
    """One file for each set that is measured."""
    slug = _OTHER.sub("-", name.casefold()).strip("-")[:80] or "set"
    return Locator(f"{FOLDER}/{kind}-{slug}.json")


def read_accepted(backend: StorageBackend, kind: Kind, name: str) -> SavedResult | None:
    """None when nothing was accepted yet. Raises ResultUnusable, StorageError."""
    place = place_of_accepted(kind, name)
    try:
        data = backend.read_bytes(place)
    except FileNotFoundError:
        return None
    return parse_result(data, str(place))


def accept(
    location: VaultLocation,
    backend: StorageBackend,
    kind: Kind,
    name: str,
    text: str,
    now: datetime,
) -> Outcome:
    """Put a result in the place of the last accepted one, and commit it. Raises StorageError."""
    place = place_of_accepted(kind, name)
    subject = f"Accept the evaluation of {place.name.removesuffix('.json')}"
    data = text.encode("utf-8", "replace")
    with begin(location, backend, pass_name=PASS, subject=subject, now=lambda: now) as run:
        if backend.exists(place):
            run.rewrite(place, lambda old: data)
        else:
            run.write(place, data, expect=ABSENT)
    return run.outcome
