"""What a person reads beside an asset in the Dagster UI: counts, tables, schemas, check results."""

from collections.abc import Mapping, Sequence

import dagster as dg
import duckdb
from dagster import MetadataValue

from agentm_assets.contract.findings import Finding
from agentm_assets.history.captures import Settled
from agentm_assets.index.publish import Published
from agentm_assets.index.reconcile import ReconcileReport
from agentm_assets.index.schema import COLUMN_MEANING

SHOWN_ROWS = 50
"""Longest table in a page's metadata; the count beside it is always complete."""

STALE_VECTOR_SHARE = 0.05
"""Over this share of chunks without a current vector, recall says so (design: recall)."""


def summary(report: ReconcileReport) -> str:
    """One line: what the pass did, or that there was nothing to do."""
    if report.did_nothing:
        line = f"nothing to do: {report.notes:,} notes are as the last pass left them"
    else:
        line = (
            f"{report.changed:,} extracted, {report.deleted:,} dropped, "
            f"{report.relinked:,} relinked, {report.unchanged:,} unchanged"
        )
    for count, what in (
        (report.deferred, "left for the next run"),
        (report.held_deletions, "deletions held back for a second look"),
        (report.unreadable, "unreadable"),
    ):
        if count:
            line += f", {count:,} {what}"
    return f"{line} ({report.seconds:.2f} s)"


def report_metadata(
    report: ReconcileReport, facts: Published, history: Settled
) -> Mapping[str, dg.MetadataValue | str | int | float]:
    """The pass as metadata of `notes`; nothing that was left out goes unsaid."""
    return {
        "did": summary(report),
        "changed": report.changed,
        "touched": report.touched,
        "unchanged": report.unchanged,
        "deleted": report.deleted,
        "relinked": report.relinked,
        "unresolved_links": report.unresolved_links,
        "deferred": report.deferred,
        "held_deletions": report.held_deletions,
        "unreadable": report.unreadable,
        "findings": len(report.findings),
        "facts_published": facts.changed,
        "rebuilt": report.rebuilt or "no",
        "git": history.text,
        "git_remark": history.remark or "none",
        "seconds": round(report.seconds, 3),
    }


def conformance(report: ReconcileReport) -> dg.AssetCheckResult:
    """Findings warn and never stop anything: a broken note is still recalled by its body."""
    by_code: dict[str, int] = {}
    for finding in report.findings:
        by_code[finding.code] = by_code.get(finding.code, 0) + 1
    return dg.AssetCheckResult(
        check_name="contract_conformance",
        asset_key="notes",
        passed=not report.findings,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "findings": len(report.findings),
            "by_code": MetadataValue.json(by_code),
            "first": findings_table(report.findings),
        },
    )


def findings_table(findings: Sequence[Finding]) -> dg.MetadataValue | str:
    """The first findings with file, line and cure."""
    return table(
        ("path", "line", "code", "what", "cure"),
        [
            (f.path, "" if f.line is None else str(f.line), f.code, f.message, f.cure)
            for f in findings[:SHOWN_ROWS]
        ],
    )


def chunks_embedded(waiting: int, texts: int) -> dg.AssetCheckResult:
    share = waiting / texts if texts else 0.0
    return dg.AssetCheckResult(
        check_name="chunks_embedded",
        asset_key="embeddings",
        passed=share <= STALE_VECTOR_SHARE,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"waiting": waiting, "texts": texts, "share": round(share, 4)},
    )


def embedder_reachable(passed: bool, model: str) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name="embedder_reachable",
        asset_key="embeddings",
        passed=passed,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"model": model},
    )


def published_metadata(
    done: Published, unit: str
) -> Mapping[str, dg.MetadataValue | str | int | float]:
    """What a publishing step did."""
    if done.full:
        did = "written anew"
    elif done.changed:
        did = f"{done.changed:,} {unit} replaced"
    else:
        did = "nothing: it was in line"
    return {
        "did": did,
        "dagster/row_count": done.total,
        "changed": done.changed,
        "bytes_written": done.bytes_written,
        "seconds": round(done.seconds, 3),
    }


def table(names: Sequence[str], rows: Sequence[Sequence[str | int]]) -> dg.MetadataValue | str:
    """A table; Dagster refuses an empty one, so that becomes a word."""
    if not rows:
        return "none"
    return MetadataValue.table([dg.TableRecord(dict(zip(names, row, strict=True))) for row in rows])


def row_count(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    return int((connection.execute(f"SELECT count(*) FROM {name}").fetchone() or (0,))[0])


def column_schema(connection: duckdb.DuckDBPyConnection, name: str) -> dg.TableSchema:
    """Columns with their DuckDB types."""
    rows = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = ? "
        "ORDER BY ordinal_position",
        [name],
    ).fetchall()
    return dg.TableSchema(
        [
            dg.TableColumn(column, kind, description=COLUMN_MEANING.get(column))
            for column, kind in rows
        ]
    )
