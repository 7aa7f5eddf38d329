"""The morning note: what ran and what did not, what needs the operator, the corpus in one line, and
what was spent against each tier's line."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from agentm_assets.config.settings import Settings
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.rules import RulesError, load_rules
from agentm_assets.dreaming import records
from agentm_assets.dreaming.order import STAGES
from agentm_assets.dreaming.records import StageRecord
from agentm_assets.enrichment.refusals import read_refusals
from agentm_assets.enrichment.review import Queued, review_queue
from agentm_assets.history.revert_log import read_log
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.store import IndexStore
from agentm_assets.ledger import queue
from agentm_assets.ledger.queue import QueueDepth, Row
from agentm_assets.models.protocol import Tier
from agentm_assets.models.spend import DailyLine, SpendLog, Spent
from agentm_assets.models.tiers import TIERS
from agentm_assets.projects.ideas import ideas_page
from agentm_assets.reports.day import Day
from agentm_assets.reports.pages import LATEST, blocks
from agentm_assets.reports.probe import ProbeResult, read_probes
from agentm_assets.reports.statistics import Statistics, read_statistics
from agentm_assets.reports.text import code, count, plain, span, table
from agentm_assets.reports.trend import read_days
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.selection import open_vault

_SHOWN: Final = 8
_STALLED: Final = timedelta(days=3)
_IDEA = re.compile(r"^[-*+] (.+) \(added by the agent, (\d{4}-\d\d-\d\d)\)$")


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A Dagster run that failed. `at`: UTC, ISO 8601."""

    at: str
    run: str
    job: str
    error: str


@dataclass(frozen=True, slots=True)
class TierSpend:
    """A tier on one day (UTC) against its line."""

    tier: Tier
    day: date
    spent: Spent
    line: DailyLine


@dataclass(frozen=True, slots=True)
class Morning:
    """What the note tells. `since`: the moment of the note before. `stages`: what ran since then,
    in order; `unrun`: stages of the night that did not. `day`: today's scorecard, None without;
    `before`: that of an earlier day. `rules`: why they are broken, None when they are not."""

    date: str
    at: str
    since: str
    stages: tuple[StageRecord, ...]
    unrun: tuple[str, ...]
    failed_runs: tuple[FailedRun, ...]
    probes: tuple[ProbeResult, ...]
    review: tuple[Queued, ...]
    depths: tuple[QueueDepth, ...]
    dead: tuple[Row, ...]
    refused: Mapping[str, int]
    ideas: tuple[str, ...]
    statistics: Statistics
    day: Day | None
    before: Day | None
    rules: str | None
    rules_hash: str | None
    spend: tuple[TierSpend, ...]
    has_models: bool

    def block(self) -> dict[str, Any]:
        """What the page says for a machine."""
        return {
            "v": 1,
            "date": self.date,
            "at": self.at,
            "since": self.since,
            "nights": sorted({record.night for record in self.stages}),
            "failed_runs": [each.run for each in self.failed_runs],
            "review": len(self.review),
            "needs": len(_needs(self)),
        }


def gather(
    settings: Settings, backend: StorageBackend, env: Mapping[str, str], now: datetime
) -> Morning:
    """Read it together. Raises StorageError, ServingUnreadable, OSError for a log that can't be
    read, and what opening the index raises."""
    location, today = settings.location, f"{now:%Y-%m-%d}"
    since = _since(backend, today, now)
    ran = tuple(records.stage_records(location, datetime.fromisoformat(since)))
    with IndexStore(location.duckdb_file).transaction() as connection:
        statistics = read_statistics(connection)
        depths = tuple(queue.depths(connection, now))
        dead = tuple(row for row in queue.rows(connection) if row.state == "dead")
    with FactsReader.open(location.facts_file) as facts:
        waiting = review_queue(facts, read_refusals(backend), read_log(backend)[0])
    try:
        loaded = load_rules(open_vault(location), env)
        broken, rules_hash = None, loaded.rules_hash
    except RulesError as error:
        broken, rules_hash = str(error), None
    days = read_days(backend)
    earlier = [day for on, day in days.items() if on.isoformat() < today]
    names = {record.stage for record in ran}
    return Morning(
        date=today,
        at=now.isoformat(timespec="seconds"),
        since=since,
        stages=ran,
        unrun=tuple(stage.name for stage in STAGES if stage.name not in names),
        failed_runs=failed_runs(location, since),
        probes=tuple(read_probes(location, since)),
        review=waiting,
        depths=depths,
        dead=dead,
        refused=_refused(location, since),
        ideas=_ideas(backend, since),
        statistics=statistics,
        day=days.get(date.fromisoformat(today)),
        before=earlier[-1] if earlier else None,
        rules=broken,
        rules_hash=rules_hash,
        spend=_spend(settings, now),
        has_models=any(_tier_table(settings, tier) is not None for tier in TIERS),
    )


def note(morning: Morning) -> str:
    """The page without its block."""
    return "\n".join(
        [
            "---",
            "kind: telemetry",
            f"captured: {morning.date}",
            f"title: Morning note {morning.date}",
            "---",
            "",
            f"# Morning note {morning.date}",
            "",
            f"Since {morning.since[:16].replace('T', ' ')}.",
            "",
            "## What ran",
            "",
            *_ran(morning),
            "## What did not",
            "",
            *_not_run(morning),
            "## What needs you",
            "",
            *(_needs(morning) or ["- Nothing."]),
            "",
            *_said(morning),
            "## The corpus",
            "",
            _corpus(morning),
            "",
            "## Spend",
            "",
            *_spent(morning),
        ]
    )


def failed_runs(location: VaultLocation, since: str) -> tuple[FailedRun, ...]:
    """The failed Dagster runs from that moment on, oldest first. Raises OSError."""
    start = datetime.fromisoformat(since)
    found: list[FailedRun] = []
    for line in _lines(location, "failed-runs.jsonl"):
        try:
            each = FailedRun(*(str(line[name] or "") for name in ("at", "run", "job", "error")))
            if datetime.fromisoformat(each.at) >= start:
                found.append(each)
        except (ValueError, TypeError, KeyError):
            continue
    return tuple(found)


def _since(backend: StorageBackend, today: str, now: datetime) -> str:
    """The moment of the latest note of an earlier day; a day ago without one, and never further
    back than a week, since a note of months helps nobody."""
    earlier = [block for on, block in blocks(backend, "morning").items() if on < today]
    limit = (now - timedelta(days=7)).isoformat(timespec="seconds")
    if not earlier:
        return (now - timedelta(days=1)).isoformat(timespec="seconds")
    try:
        at = datetime.fromisoformat(str(earlier[-1]["at"]))
        oldest = datetime.fromisoformat(limit)
        return str(earlier[-1]["at"]) if oldest < at <= now else limit
    except (KeyError, ValueError, TypeError):
        return limit


def _ran(morning: Morning) -> list[str]:
    busy = [record for record in morning.stages if _is_busy(record)]
    quiet = [record.stage for record in morning.stages if not _is_busy(record) and not record.error]
    lines: list[str] = []
    if busy:
        shown = [
            (
                plain(record.stage),
                f"{record.planned:,}",
                f"{record.applied:,}",
                f"{record.held:,}" if record.held else "-",
                f"{record.waiting_for_model:,}" if record.waiting_for_model else "-",
                f"{record.seconds:,.1f} s",
                "**stopped: an anomaly**" if record.anomaly else _skipped(record),
            )
            for record in busy
        ]
        names = ("stage", "wanted", "written", "held", "wait for a model", "took", "left alone")
        lines += [*table(names, shown), ""]
    if quiet:
        lines += [f"Looked and found nothing to do: {_names(quiet)}.", ""]
    probed = [f"- Round trip: {plain(probe.text)}" for probe in morning.probes if probe.passed]
    if probed:
        lines += [probed[-1], ""]
    return lines or ["No stage of dreaming ran.", ""]


def _not_run(morning: Morning) -> list[str]:
    lines: list[str] = []
    if morning.unrun and not morning.stages:
        lines.append(f"- The night did not run: none of its {len(morning.unrun)} stages did.")
    elif morning.unrun:
        lines.append(f"- Stages that did not run: {_names(morning.unrun)}.")
    lines += [
        f"- **{plain(record.stage)} could not do its work:** {plain(record.error)}"
        for record in morning.stages
        if record.error
    ]
    waiting = [record for record in _latest(morning.stages) if record.waiting_for_model]
    if waiting:
        names = ", ".join(
            f"{plain(record.stage)} {record.waiting_for_model:,}" for record in waiting
        )
        why = "over its line, or at work on a batch" if morning.has_models else "none is configured"
        lines.append(f"- Waiting for a model ({why}): {names}.")
    for failed in morning.failed_runs[-_SHOWN:]:
        at = failed.at[:16].replace("T", " ")
        lines.append(
            f"- **Failed run** {code(failed.job)} at {at} UTC: {plain(failed.error[:300])} "
            f"(run {code(failed.run[:8])})"
        )
    more = len(morning.failed_runs) - _SHOWN
    if more > 0:
        lines.append(f"- {count(more, 'failed run')} before these.")
    if not morning.probes:
        lines.append("- The round-trip probe did not run.")
    if morning.day is None:
        lines.append("- There is no health scorecard of today.")
    return [*(lines or ["- Nothing was missed."]), ""]


def _needs(morning: Morning) -> list[str]:
    """A line for each thing that waits for the operator, the gravest first."""
    lines: list[str] = []
    latest = _latest(morning.stages)
    if morning.rules is not None:
        first = morning.rules.split("\n")[0]
        lines.append(f"- **The storage rules are broken, filing halts:** {plain(first)}")
    lines += [f"- **Round trip {plain(each.text)}**" for each in morning.probes if not each.passed]
    if morning.day is not None:
        lines += [
            f"- **{plain(name)} fails:** {plain(each.said)}"
            for name, each in morning.day.components.items()
            if each.ok is False and name != "round trip"
        ]
    lines += [
        f"- **{plain(record.stage)} wanted {record.planned:,} changes**, over the "
        f"{record.limit or 0:,.0f} that are normal, and made none. Look with `agentm dream --stage "
        f"{record.stage} --dry-run`; if they are right, add `--accept` instead."
        for record in latest
        if record.anomaly
    ]
    lines += [
        f"- **{plain(record.stage)} is over its line:** {plain('; '.join(record.notes[:3]))}"
        for record in latest
        if record.measured.get("tripped")
    ]
    parked = [letter for record in morning.stages for letter in record.parked]
    lines += [f"- Given up after three failures: {plain(letter)}" for letter in parked[:_SHOWN]]
    if parked:
        lines.append(
            f"- {count(len(morning.dead), 'dead letter')} in all: `agentm queue` lists them, and "
            "lets one wait anew."
        )
    if morning.review:
        oldest = morning.review[0]
        lines.append(
            f"- {count(len(morning.review), 'note')} for review, the oldest since "
            f"{plain(oldest.since[:10])}: {code(oldest.path)} (`agentm review list`)."
        )
    lines += _held(latest)
    lines += [
        f"- The queue {plain(each.owner)} stalls: its oldest item has waited "
        f"{span(each.oldest_age_seconds)}."
        for each in morning.depths
        if each.pending and each.oldest_age_seconds >= _STALLED.total_seconds()
    ]
    was = morning.before.rules_hash if morning.before else None
    if was is not None and morning.rules_hash not in (None, was):
        lines.append(
            f"- The storage rules have changed ({code(was)} to {code(morning.rules_hash or '')}); "
            "`agentm status` says how many judgments are stale."
        )
    if morning.refused:
        told = ", ".join(f"{plain(name)} {number:,}" for name, number in morning.refused.items())
        lines.append(f"- Captures were refused: {told}.")
    lines += [f"- An agent added an idea: {plain(idea)}" for idea in morning.ideas[:_SHOWN]]
    return lines


def _latest(stages: Sequence[StageRecord]) -> tuple[StageRecord, ...]:
    """The last record of each stage: what waits after several nights waits once."""
    return tuple({record.stage: record for record in stages}.values())


def _held(stages: Sequence[StageRecord]) -> list[str]:
    held = [record for record in stages if record.held]
    total = sum(record.held for record in held)
    if not total:
        return []
    names = ", ".join(f"{plain(record.stage)} {record.held:,}" for record in held)
    return [
        f"- {count(total, 'change')} wait for the next night, since the cap was reached: {names}."
    ]


def _said(morning: Morning) -> list[str]:
    """What the stages want read."""
    notes = [
        f"- {plain(record.stage)}: {plain(each)}"
        for record in _latest(morning.stages)
        for each in record.notes
    ]
    if not notes:
        return []
    more = len(notes) - 4 * _SHOWN
    lines = ["## What the stages say", "", *notes[: 4 * _SHOWN]]
    return [*lines, *([f"- {more:,} lines more: `agentm dream`."] if more > 0 else []), ""]


def _corpus(morning: Morning) -> str:
    found = morning.statistics
    grown = ""
    if morning.before is not None and "memories" in morning.before.figures:
        more = found.memories - int(morning.before.figures["memories"])
        grown = f" ({more:+,} since {morning.before.date})"
    share = f"{found.connected / found.memories:.0%}" if found.memories else "none"
    return (
        f"{count(found.memories, 'memory', 'memories')}{grown}: {found.of_status('active'):,} "
        f"active, {found.of_status('unfiled'):,} unfiled, {found.of_status('superseded'):,} "
        f"superseded, {found.of_status('expired'):,} expired; {share} connected; "
        f"{count(found.notes, 'note')} in the vault. "
        f"More: [scorecard](../health/{LATEST['health']})."
    )


def _spent(morning: Morning) -> list[str]:
    if not morning.has_models and not morning.spend:
        return ["No model is configured: nothing was asked and nothing was spent.", ""]
    rows = [
        (
            each.tier,
            each.day.isoformat(),
            f"{each.spent.calls:,}",
            f"{each.spent.tokens:,}",
            "no line" if each.line.tokens is None else _of(each.spent.tokens, each.line.tokens),
            f"${each.spent.cost:.2f}",
            "no line" if each.line.usd is None else _of(each.spent.cost, each.line.usd),
        )
        for each in morning.spend
    ]
    if not rows:
        return ["Nothing was spent since yesterday.", ""]
    names = ("tier", "day (UTC)", "calls", "tokens", "of its line", "cost", "of its line")
    return [*table(names, rows), ""]


def _of(spent: float, line: float) -> str:
    shown = f"{line:,.0f}" if line >= 100 else f"{line:g}"
    text = f"{spent / line:.0%} of {shown}"
    return f"**{text}**" if spent >= line else text


def _spend(settings: Settings, now: datetime) -> tuple[TierSpend, ...]:
    yesterday = (now - timedelta(days=1)).date()
    totals = SpendLog(settings.location).totals(yesterday)
    return tuple(
        TierSpend(tier, day, spent, _line_of(settings, tier))
        for (day, tier), spent in totals.items()
    )


def _line_of(settings: Settings, tier: Tier) -> DailyLine:
    found = _tier_table(settings, tier)
    return DailyLine() if found is None else DailyLine(found.daily_usd, found.daily_tokens)


def _tier_table(settings: Settings, tier: Tier) -> Any:
    models = settings.models
    return models.strong if tier == "strong" else models.cheap or models.strong


def _refused(location: VaultLocation, since: str) -> dict[str, int]:
    start = datetime.fromisoformat(since)
    found: Counter[str] = Counter()
    for line in _lines(location, "refusals.jsonl"):
        try:
            if datetime.fromisoformat(line["at"]) >= start:
                found[str(line["code"])] += 1
        except (ValueError, TypeError, KeyError):
            continue
    return dict(sorted(found.items()))


def _ideas(backend: StorageBackend, since: str) -> tuple[str, ...]:
    try:
        page = backend.read_bytes(ideas_page(backend)).decode("utf-8", "replace")
    except FileNotFoundError:
        return ()
    lines = (_IDEA.match(line) for line in re.split(r"\r\n|\r|\n", page))
    return tuple(line[1] for line in lines if line is not None and line[2] >= since[:10])


def _lines(location: VaultLocation, name: str) -> list[Any]:
    try:
        data = (location.log_dir / name).read_bytes()
    except FileNotFoundError:
        return []
    found = []
    for line in data.split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            continue  # blank, or torn
    return found


def _is_busy(record: StageRecord) -> bool:
    return bool(
        record.planned
        or record.applied
        or record.held
        or record.anomaly
        or record.waiting_for_model
    )


def _skipped(record: StageRecord) -> str:
    return ", ".join(f"{plain(name)} {number:,}" for name, number in record.skipped.items())


def _names(names: Sequence[str]) -> str:
    return ", ".join(plain(name) for name in dict.fromkeys(names))
