"""The state of the vault tonight, gathered from the index, the logs and a look at each part."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from agentm_assets.config.settings import Settings
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.rules import LoadedRules, RulesError, load_rules
from agentm_assets.dreaming import records
from agentm_assets.dreaming.depth import DepthComparison, compare, read_depths
from agentm_assets.dreaming.meters.corrections import class_corrections
from agentm_assets.dreaming.records import StageRecord
from agentm_assets.evaluation.score_log import Entry, ScoreLog
from agentm_assets.history.revert_log import read_log
from agentm_assets.index.store import IndexStore
from agentm_assets.ledger import queue
from agentm_assets.ledger.summary import summary
from agentm_assets.recall.used import LOG as RECALLS
from agentm_assets.reports.components import Component, Looked, look
from agentm_assets.reports.day import (
    ComponentDay,
    CoverageDay,
    Day,
    ProbeDay,
    QueueDay,
    StageDay,
)
from agentm_assets.reports.graph.model import MemoryGraph, read_graph
from agentm_assets.reports.probe import ProbeResult, read_probes
from agentm_assets.reports.statistics import Statistics, read_statistics
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.selection import open_vault

_SCORES_READ: Final = 200
_FRESH: Final = timedelta(days=2)
"""A measurement of recall that is older is not today's."""

_MONTH: Final = timedelta(days=30)
DEPTH: Final = "derivation-depth"
"""The meter that the scorecard reads itself: no stage of the night need run for it."""


@dataclass(frozen=True, slots=True)
class Health:
    """What the scorecard shows. `rules` None: they are broken."""

    day: Day
    statistics: Statistics
    components: tuple[Component, ...]
    graph: MemoryGraph
    stages: tuple[StageRecord, ...]
    rules: LoadedRules | None

    @property
    def failed(self) -> tuple[Component, ...]:
        return tuple(each for each in self.components if each.ok is False)


def gather(
    settings: Settings,
    backend: StorageBackend,
    env: Mapping[str, str],
    now: datetime,
    looked: Looked | None = None,
) -> Health:
    """Look at everything. `looked`: the components, when they were looked at already.

    Raises StorageError, OSError for a log that can't be read, and what opening the index raises.
    """
    location, store = settings.location, IndexStore(settings.location.duckdb_file)
    try:
        rules: LoadedRules | None = load_rules(open_vault(location), env)
    except RulesError:
        rules = None
    probes = read_probes(location)
    probe = probes[-1] if probes else None
    if looked is None:
        looked = look(settings, env, store, now, probe)
    with store.transaction() as connection:
        statistics = read_statistics(connection)
        graph = read_graph(connection, rules.rules if rules else None)
        depths = queue.depths(connection, now)
        coverage = summary(connection)
        depth = compare(read_depths(connection, backend), recalled_since(location, now - _MONTH))
    stages = _latest(records.stage_records(location))
    scores = _scores(ScoreLog(location).read(_SCORES_READ), now)
    changes, _broken = read_log(backend)
    day = Day(
        date=f"{now:%Y-%m-%d}",
        at=now.isoformat(timespec="seconds"),
        rules_hash=rules.rules_hash if rules else None,
        counts=statistics.counts,
        figures=_figures(statistics, looked, probe, scores),
        scores_of="" if scores is None else f"{scores.begun.name}, {scores.begun.at[:16]}",
        components={
            each.name: ComponentDay(ok=each.ok, ms=each.ms, said=each.said)
            for each in looked.components
        },
        meters={
            f"{record.stage}: {name}": value
            for record in stages
            for name, value in record.measured.items()
        }
        | _depth(depth),
        coverage={
            each.stage: CoverageDay(done=each.done, others=each.others, share=round(each.share, 4))
            for each in coverage
        },
        queues={
            each.owner: QueueDay(
                pending=each.pending, dead=each.dead, oldest_age_seconds=each.oldest_age_seconds
            )
            for each in depths
        },
        stages={
            record.stage: StageDay(
                night=record.night,
                at=record.at,
                planned=record.planned,
                applied=record.applied,
                held=record.held,
                anomaly=record.anomaly,
                waiting_for_model=record.waiting_for_model,
                seconds=round(record.seconds, 2),
            )
            for record in stages
        },
        corrections=dict(sorted(class_corrections(changes).items())),
        probe=None
        if probe is None
        else ProbeDay(
            passed=probe.passed, at=probe.at, seconds=probe.seconds, capture_ms=probe.capture_ms
        ),
    )
    return Health(day, statistics, looked.components, graph, stages, rules)


def recalled_since(location: VaultLocation, start: datetime) -> list[str]:
    """The notes that genuine recalls gave from that moment on, each as often as it was given.
    Raises OSError."""
    try:
        data = (location.log_dir / RECALLS).read_bytes()
    except FileNotFoundError:
        return []
    found: list[str] = []
    for line in data.split(b"\n"):
        try:
            entry = json.loads(line)
            if datetime.fromisoformat(entry["at"]) >= start:
                found += [str(path) for path in entry["paths"]]
        except (ValueError, TypeError, KeyError):
            continue  # blank, or torn
    return found


def _depth(found: DepthComparison) -> dict[str, float | str]:
    """How derived the notes are, and what recall gives of them."""
    measured: dict[str, float | str] = {f"{DEPTH}: corpus": round(found.corpus, 4)}
    if found.hits:
        measured[f"{DEPTH}: recalled"] = round(found.returned, 4)
        measured[f"{DEPTH}: tripped"] = int(found.feeds_on_itself)
    return measured


def _latest(found: Sequence[StageRecord]) -> tuple[StageRecord, ...]:
    """The latest record of each stage, in the order in which they ran."""
    last: dict[str, StageRecord] = {}
    for record in found:
        last.pop(record.stage, None)
        last[record.stage] = record
    return tuple(last.values())


def _scores(entries: Sequence[Entry], now: datetime) -> Entry | None:
    """The latest measurement of recall: of a question set of the operator's, else of known items.
    Sets that others published say nothing of this vault."""
    fresh = [
        entry
        for entry in entries
        if entry.measures
        and entry.begun.kind in ("gold", "known")
        and now - datetime.fromisoformat(entry.begun.at) < _FRESH
    ]
    own = [entry for entry in fresh if entry.begun.kind == "gold"]
    found = own or fresh
    return found[-1] if found else None


def _figures(
    statistics: Statistics, looked: Looked, probe: ProbeResult | None, scores: Entry | None
) -> dict[str, float]:
    memories = statistics.memories
    found: dict[str, float | None] = {
        "memories": memories,
        "active": statistics.of_status("active"),
        "unfiled": statistics.of_status("unfiled"),
        "connected_share": round(statistics.connected / memories, 4) if memories else None,
        "links": statistics.links,
        "notes": statistics.notes,
        "megabytes": round(statistics.bytes / 1e6, 3),
        "capture_ms": looked.loop.capture_ms if looked.loop else None,
        "ingest_ms": looked.loop.ingest_ms if looked.loop else None,
        "mcp_ms": next((c.ms for c in looked.components if c.name == "MCP dispatch"), None),
        "probe_seconds": probe.seconds if probe and probe.passed else None,
    }
    if scores is not None:
        found["recall_hit5"] = scores.measures.get("all.hit@5")
        found["recall_mrr"] = scores.measures.get("all.mrr")
        found["recall_p95_ms"] = scores.measures.get("latency.p95_ms")
    return {name: float(value) for name, value in found.items() if value is not None}
