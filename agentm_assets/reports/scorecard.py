"""The health scorecard as a page: what the system is tonight, whether or not anything ran."""

from collections.abc import Mapping
from datetime import date

from agentm_assets.contract.vocabulary import CLASSES, STATUSES
from agentm_assets.dreaming.records import StageRecord
from agentm_assets.reports.day import Day
from agentm_assets.reports.graph.svg import said
from agentm_assets.reports.health import DEPTH, Health
from agentm_assets.reports.pages import PAGE, PICTURE
from agentm_assets.reports.text import code, count, plain, size, span, table
from agentm_assets.reports.trend import CORPUS, PERFORMANCE, history, rows, sparkline

_TREND = ("", "today", "yesterday", "a week ago", "a month ago", "the last 31 days")
_HUBS = 12
METERS = ("slop-scores", "drift-meters", "completeness", "corrections", DEPTH)
"""Stages whose numbers are meters; those of the others are counts of their work."""

_BASELINE = "_baseline"
_OLD_DAYS = 3
"""A queue is judged by its age: fifty fresh items are a busy day, one of three days is a stall."""


def scorecard(health: Health, days: Mapping[date, Day]) -> str:
    """The page without its block. `days`: those of earlier scorecards; today's is added."""
    day = health.day
    today = date.fromisoformat(day.date)
    known = {**days, today: day}
    return "\n".join(
        [
            "---",
            "kind: telemetry",
            f"captured: {day.date}",
            f"title: Health scorecard {day.date}",
            "---",
            "",
            f"# Health scorecard {day.date}",
            "",
            _verdict(health),
            "",
            *_statistics(health, known, today),
            *_components(health),
            *_performance(health, known, today),
            *_meters(health, known, today),
            *_graph(health),
        ]
    )


def _verdict(health: Health) -> str:
    looked = [each for each in health.components if each.ok is not None]
    if not health.failed:
        return f"**All of {len(looked)} parts are in order.**"
    names = ", ".join(each.name for each in health.failed)
    return f"**{len(health.failed)} of {len(looked)} parts FAIL: {names}.**"


def _statistics(health: Health, days: Mapping[date, Day], today: date) -> list[str]:
    found = health.statistics
    statuses = [*STATUSES, *sorted({s for c in found.counts.values() for s in c} - {*STATUSES})]
    shown = [status for status in statuses if status in STATUSES or found.of_status(status)]
    lines = [
        (
            name,
            *(_number(found.counts[name].get(status, 0)) for status in shown),
            _number(sum(found.counts[name].values())),
        )
        for name in CLASSES
    ]
    total = ("**all**", *(f"{found.of_status(s):,}" for s in shown), f"{found.memories:,}")
    share = f" ({found.connected / found.memories:.0%})" if found.memories else ""
    return [
        "## Memory statistics",
        "",
        *table(("class", *(plain(status) for status in shown), "all"), [*lines, total]),
        "",
        f"- Connected: {found.connected:,} of {count(found.memories, 'memory', 'memories')} link "
        f"to a note or are linked to{share}.",
        f"- Volume: {count(found.notes, 'note')} of {size(found.bytes)} in the vault, "
        f"{count(found.chunks, 'section')}, {count(found.links, 'link')} "
        f"({found.unresolved:,} lead nowhere yet), "
        f"{count(found.entities, 'thing')} mentioned by name.",
        f"- Not judged yet: {count(found.untyped, 'memory', 'memories')} without a type.",
        f"- Completeness: {_completeness(health)}",
        "",
        *table(_TREND, rows(days, today, CORPUS)),
        "",
    ]


def _completeness(health: Health) -> str:
    for record in health.stages:
        mean = record.measured.get("completeness")
        if record.stage == "completeness" and mean is not None:
            sample = _value(record.measured.get("sample", 0))
            return f"{_value(mean)} over a sample of {sample} notes, on {record.at[:10]}."
    return "not measured yet: no rewritten note to sample."


def _components(health: Health) -> list[str]:
    marks = {True: "PASS", False: "**FAIL**", None: "-"}
    lines = [
        (
            each.name,
            marks[each.ok],
            "-" if each.ms is None else f"{each.ms:,.0f} ms",
            plain(each.said),
        )
        for each in health.components
    ]
    return ["## Components", "", *table(("part", "state", "took", "what it says"), lines), ""]


def _performance(health: Health, days: Mapping[date, Day], today: date) -> list[str]:
    measured = (
        f"Recall was last measured with {plain(health.day.scores_of)} UTC."
        if health.day.scores_of
        else "Recall was not measured in the last two days: `agentm eval` does, and the daily run."
    )
    return [
        "## Performance history",
        "",
        measured,
        "",
        *table(_TREND, rows(days, today, PERFORMANCE)),
        "",
    ]


def _meters(health: Health, days: Mapping[date, Day], today: date) -> list[str]:
    day = health.day
    lines = ["## Meters", ""]
    shown = [
        (
            plain(name),
            _value(value),
            _baseline(day, name),
            _since(days, today, name),
        )
        for name, value in day.meters.items()
        if _is_meter(name)
    ]
    names = ("meter", "tonight", "baseline", "the last 31 days")
    lines += [*table(names, shown), ""] if shown else ["Nothing was measured yet.", ""]
    tripped = [
        f"- **{plain(name.partition(':')[0])} is over its line**{_remarks(health, name)}"
        for name, value in day.meters.items()
        if name.endswith(": tripped") and value
    ]
    lines += [*tripped, ""] if tripped else []
    if day.coverage:
        covered = [
            (
                plain(stage),
                f"{each.share:.1%}",
                f"{each.done:,}",
                ", ".join(f"{plain(name)} {number:,}" for name, number in each.others.items()),
                f"`{sparkline(history(days, today, lambda d, s=stage: _share(d, s)))}`",  # type: ignore[misc]
            )
            for stage, each in day.coverage.items()
        ]
        names = ("stage", "current", "done", "not current")
        lines += ["### Coverage", "", *table((*names, "the last 31 days"), covered), ""]
    if day.queues:
        waiting = [
            (
                plain(owner),
                f"{each.pending:,}",
                span(each.oldest_age_seconds) if each.pending else "-",
                f"{each.dead:,}",
                _aged(each.oldest_age_seconds if each.pending else 0),
            )
            for owner, each in day.queues.items()
        ]
        names_of_queues = ("queue", "waiting", "oldest", "dead", "")
        lines += ["### Queues", "", *table(names_of_queues, waiting), ""]
    counted = [
        (plain(record.stage), record.at[:10], _counts(record))
        for record in health.stages
        if record.stage not in METERS and record.measured
    ]
    if counted:
        lines += ["### Counted by the stages", "", *table(("stage", "on", "counts"), counted), ""]
    corrected = ", ".join(f"{month}: {number:,}" for month, number in day.corrections.items())
    return [*lines, f"Corrected classes by month: {corrected or 'none so far'}.", ""]


def _is_meter(name: str) -> bool:
    stage, _, measured = name.partition(": ")
    if stage not in METERS or measured == "tripped" or measured.endswith(_BASELINE):
        return False
    return stage != "corrections"  # by month below


def _baseline(day: Day, name: str) -> str:
    found = day.meters.get(f"{name}{_BASELINE}")
    return "-" if found is None else _value(found)


def _remarks(health: Health, name: str) -> str:
    stage = name.partition(":")[0]
    notes = [note for record in health.stages if record.stage == stage for note in record.notes]
    return f": {plain('; '.join(notes[:3]))}" if notes else "."


def _counts(record: StageRecord) -> str:
    return ", ".join(f"{plain(name)} {_value(value)}" for name, value in record.measured.items())


def _graph(health: Health) -> list[str]:
    hubs = [
        (code(node.title), node.group, f"{node.degree:,}") for node in health.graph.hubs[:_HUBS]
    ]
    lines = [
        "## Memory graph",
        "",
        f"{said(health.graph)}. To explore it: [{PAGE}]({PAGE}).",
        "",
        f"![[{PICTURE}]]",
        "",
    ]
    return [*lines, *table(("hub", "class", "links"), hubs), ""] if hubs else lines


def _share(day: Day, stage: str) -> float | None:
    found = day.coverage.get(stage)
    return None if found is None else found.share


def _since(days: Mapping[date, Day], today: date, meter: str) -> str:
    def value(day: Day) -> float | None:
        found = day.meters.get(meter)
        return float(found) if isinstance(found, int | float) else None

    line = sparkline(history(days, today, value))
    return f"`{line}`" if line else ""


def _aged(seconds: float) -> str:
    return "**stalled**" if seconds >= _OLD_DAYS * 86_400 else ""


def _value(value: float | str) -> str:
    if isinstance(value, str):
        return plain(value)
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3f}"


def _number(value: int) -> str:
    return f"{value:,}" if value else "-"
