"""Is each part of the system in order tonight? Every look is a line: PASS or FAIL, and how long."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import duckdb

from agentm_assets.capture.request import CaptureRefused
from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import RulesError, load_rules
from agentm_assets.dreaming.entities.benchmark import benchmark_rows, score
from agentm_assets.evaluation.scratch import open_embedder
from agentm_assets.index.integrity import broken_rules
from agentm_assets.index.store import IndexBusy, IndexDamaged, IndexStore
from agentm_assets.models.export import ExportFailed
from agentm_assets.models.manifest import ModelFolderUnusable
from agentm_assets.models.weights import ModelUnavailable, WeightsRefused
from agentm_assets.reports.loop import Loop, measure_loop
from agentm_assets.reports.mcp_call import McpFailed, call_once
from agentm_assets.reports.probe import ProbeResult
from agentm_assets.reports.text import count, span
from agentm_assets.storage.seam import StorageError
from agentm_assets.storage.selection import open_vault

CAPTURE_MS: Final = 100.0
"""A capture takes less than that, as a whole process (design: capture)."""

_DAILY: Final = timedelta(hours=26)
"""An older probe says nothing of tonight."""

_SENTENCE: Final = "The kettle boils at 96 degrees."


@dataclass(frozen=True, slots=True)
class Component:
    """`ok` None: there was nothing to look at, and `said` tells why. `ms`: what was timed."""

    name: str
    ok: bool | None
    ms: float | None
    said: str


@dataclass(frozen=True, slots=True)
class Looked:
    """The components, and what the trial of the capture loop measured."""

    components: tuple[Component, ...]
    loop: Loop | None


def look(
    settings: Settings,
    env: Mapping[str, str],
    store: IndexStore,
    now: datetime,
    probe: ProbeResult | None,
) -> Looked:
    """Look at all of them; takes some seconds, most of them for starting an MCP server."""
    loop: list[Loop] = []

    def capture_loop() -> str:
        loop.append(measure_loop(env, now))
        if loop[0].capture_ms > CAPTURE_MS:
            raise _Bad(f"{loop[0].capture_ms:.0f} ms, over {CAPTURE_MS:.0f}")
        return f"a capture in {loop[0].capture_ms:.1f} ms, served {loop[0].ingest_ms:.0f} ms later"

    found = [
        _timed("storage rules", lambda: _rules(settings, env)),
        _timed("index integrity", lambda: _index(store)),
        _timed("embedder", lambda: _embedder(settings)),
        _timed("capture loop", capture_loop),
        _mcp(settings),
        _timed("entity resolution", _entities),
        _round_trip(probe, now),
    ]
    if loop:
        at = next(n for n, each in enumerate(found) if each.name == "capture loop")
        old = found[at]
        found[at] = Component(old.name, old.ok, loop[0].capture_ms, old.said)
    return Looked(tuple(found), loop[0] if loop else None)


class _Bad(Exception):
    """What was looked at is not as it should be."""


_FAILURES = (
    *(_Bad, RulesError, StorageError, OSError, duckdb.Error, IndexBusy, IndexDamaged),
    *(ModelUnavailable, WeightsRefused, ExportFailed, ModelFolderUnusable, CaptureRefused),
)


def _timed(name: str, work: Callable[[], str]) -> Component:
    began = time.monotonic()
    ok, said = True, ""
    try:
        said = work()
    except _FAILURES as error:
        ok, said = False, str(error).split("\n")[0][:300]
    return Component(name, ok, round((time.monotonic() - began) * 1000, 1), said)


def _rules(settings: Settings, env: Mapping[str, str]) -> str:
    rules = load_rules(open_vault(settings.location), env)
    return f"{count(len(rules.rules.memory_types), 'type')}, hash {rules.rules_hash}"


def _index(store: IndexStore) -> str:
    with store.transaction() as connection:
        broken = broken_rules(connection)
        notes = connection.execute("SELECT count(*) FROM notes").fetchone() or (0,)
    if broken:
        raise _Bad("; ".join(f"{name}: {number:,}" for name, number in broken.items()))
    return f"{count(int(notes[0]), 'file')} with reports and probes, every rule holds"


def _embedder(settings: Settings) -> str:
    embedder = open_embedder(settings)
    vector = embedder.embed_one(_SENTENCE)
    return f"{embedder.model_id}, {len(vector)} dimensions"


def _mcp(settings: Settings) -> Component:
    try:
        call = call_once(settings.location.environment())
    except McpFailed as error:
        return Component("MCP dispatch", False, None, str(error))
    said = f"a tool answered {call.call_ms:,.0f} ms after a start of {call.start_ms:,.0f} ms"
    return Component("MCP dispatch", True, call.call_ms, said)


def _entities() -> str:
    found = score(benchmark_rows())
    said = f"{found.right} of {found.rows} references found their page ({found.share:.0%})"
    if not found.passes:
        raise _Bad(f"{said}; {count(len(found.merged), 'wrong merge')}")
    return said


def _round_trip(probe: ProbeResult | None, now: datetime) -> Component:
    if probe is None:
        return Component("round trip", None, None, "no probe has run yet (agentm probe)")
    age = now - datetime.fromisoformat(probe.at)
    if age > _DAILY:
        old = f"no probe for {span(age.total_seconds())}; the last: {probe.text}"
        return Component("round trip", None, None, old)
    ms = None if probe.seconds is None else probe.seconds * 1000
    return Component("round trip", probe.passed, ms, probe.text)
