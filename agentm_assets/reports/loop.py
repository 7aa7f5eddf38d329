"""How long a capture takes here, and how long until it is served: tried in a vault of its own.

The operator's vault is not touched: a folder in the temporary directory is filled, indexed, and is
gone afterwards.
"""

import os
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agentm_assets.capture.request import CaptureRequest
from agentm_assets.capture.transaction import capture
from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import load_rules
from agentm_assets.enrichment.reindex import reindex
from agentm_assets.evaluation.scratch import build_index, temporary_state, without_configuration
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.selection import open_backend, open_vault

_NOTES: Final = 12


@dataclass(frozen=True, slots=True)
class Loop:
    """Milliseconds in this process. `capture_ms`: the middle one of a dozen captures, file on the
    disk. `ingest_ms`: from there until tables and serving files hold one more note, without its
    vectors."""

    capture_ms: float
    ingest_ms: float


def measure_loop(env: Mapping[str, str], now: datetime) -> Loop:
    """Try it. Raises CaptureRefused, StorageError and OSError: then the loop does not work."""
    with temporary_state(env) as (folder, own):
        root = folder / "vault"
        root.mkdir()
        settled = {**without_configuration(own, folder), "AGENTM_VAULT": os.fspath(root)}
        settings = Settings.load(settled)
        backend = open_backend(settings.location)
        taken: list[float] = []

        def save(number: int) -> str:
            began = time.perf_counter()
            request = CaptureRequest(
                text=f"Gauge {number} of the trial loop showed {number * 7} units.\n",
                title=f"Trial {number}",
            )
            captured = capture(request, settings.location, settled, now, backend=backend)
            taken.append((time.perf_counter() - began) * 1000)
            return captured.path

        for number in range(_NOTES):
            save(number)
        build_index(settings, settled, None)
        path = save(_NOTES)
        began = time.perf_counter()
        store = IndexStore(settings.location.duckdb_file)
        rules = load_rules(open_vault(settings.location), settled)
        reindex(settings.location, backend, store, rules, None, [path])
        ingest = (time.perf_counter() - began) * 1000
        return Loop(round(statistics.median(taken), 1), round(ingest, 1))
