"""What a person reads beside a stage: counts, reasons, paths; never a note's text."""

from collections.abc import Mapping

import dagster as dg
from dagster import MetadataValue

from agentm_assets.dreaming.stage import StageReport
from agentm_assets.index.assets.metadata import SHOWN_ROWS, table

Metadata = dict[str, dg.MetadataValue | str | int | float]


def halted(problem: str) -> Metadata:
    """The rules can't be read, so nothing is filed, merged or retyped."""
    return {
        "did": "halted: the rules are broken",
        "problem": MetadataValue.md(f"```\n{problem}\n```"),
    }


def stage_metadata(report: StageReport) -> Metadata:
    """One run of a stage."""
    shown: Metadata = {
        "did": did(report),
        "planned": report.planned,
        "applied": report.applied,
        "held_by_cap": report.held_by_cap,
        "anomaly": int(report.anomaly),
        "limit": "none yet" if report.limit is None else round(report.limit, 1),
        "waiting_for_model": report.waiting_for_model,
        "left_alone": table(("reason", "files"), sorted(report.skipped.items())),
        "history_run": report.run_id or "none",
        "git": report.remark or "none",
        "seconds": round(report.seconds, 3),
        "files": table(("path",), [(path,) for path in report.paths[:SHOWN_ROWS]]),
    }
    if report.notes:
        shown["notes"] = MetadataValue.md("\n".join(f"- {_quoted(each)}" for each in report.notes))
    if report.parked:
        shown["dead_letters"] = MetadataValue.md(
            "\n".join(f"- {_quoted(each)}" for each in report.parked)
        )
    return shown | _numbers("measured", report.measured) | _numbers("spent", report.spent)


def did(report: StageReport) -> str:
    """In one line."""
    if report.error is not None:
        return f"failed: {report.error}"
    if report.anomaly:
        return (
            f"nothing: {report.planned:,} changes are an anomaly "
            f"(limit {report.limit or 0:,.0f}); accept them if they are right"
        )
    parts = [f"{report.applied:,} files written" if report.applied else "nothing to write"]
    if report.held_by_cap:
        parts.append(f"{report.held_by_cap:,} wait for the next night")
    if report.waiting_for_model:
        parts.append(f"{report.waiting_for_model:,} wait for a model")
    if report.skipped:
        parts.append(f"{sum(report.skipped.values()):,} left alone")
    return ", ".join(parts)


def _numbers(prefix: str, numbers: Mapping[str, int | float | str]) -> Metadata:
    return {f"{prefix}_{name}".replace("-", "_"): value for name, value in numbers.items()}


def _quoted(text: str) -> str:
    return "`" + text.replace("`", "'") + "`"
