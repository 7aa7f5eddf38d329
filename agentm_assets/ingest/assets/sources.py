"""The sweep over the configured folders, as an asset."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import dagster as dg
from dagster import MaterializeResult, MetadataValue

from agentm_assets.index.assets.metadata import SHOWN_ROWS, table
from agentm_assets.index.assets.sources import RULES_JUDGMENT
from agentm_assets.index.assets.tables import OWNERS
from agentm_assets.ingest.report import IngestReport
from agentm_assets.ingest.sweep import Asked, ingest
from agentm_assets.ingest.version import VERSION
from agentm_assets.storage.selection import open_backend
from resources.progress import ProgressReporter
from resources.workspace import WorkspaceResource

GROUP = "ingest"


@dg.asset(
    deps=[RULES_JUDGMENT],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"json"},
    code_version=VERSION,
    check_specs=[
        dg.AssetCheckSpec(
            "sources_readable",
            asset="ingested_sources",
            description="Every configured folder is there, and every source in them can be used.",
        ),
        dg.AssetCheckSpec(
            "records_known",
            asset="ingested_sources",
            description="No new record is of a type that no reader knows: the format changed.",
        ),
    ],
    description="Session logs, mails and pages in the folders of [profiles.NAME.ingest]: what is "
    "new in them becomes unfiled memories and calendar notes. agentm ingest does the same by hand.",
)
def ingested_sources(
    context: dg.AssetExecutionContext,
    workspace: WorkspaceResource,
    progress: dg.ResourceParam[ProgressReporter],
) -> Iterator[MaterializeResult[None] | dg.AssetCheckResult]:
    settings = workspace.settings()
    there = [each for each in settings.ingest.folders if Path(each).expanduser().exists()]
    missing = [each for each in settings.ingest.folders if each not in there]
    report = ingest(
        settings.location,
        open_backend(settings.location),
        Asked(tuple(there)),
        datetime.now().astimezone(),
        listen=progress.for_run(context),
    )
    yield _result(report)
    yield _readable(report, missing)
    yield _known(report)


def _result(report: IngestReport) -> MaterializeResult[None]:
    counts = report.counts()
    return MaterializeResult(
        metadata={
            "did": ", ".join(f"{did}: {count:,}" for did, count in counts.items()) or "nothing",
            "dagster/row_count": len(report.made),
            "looked_at": report.looked_at,
            "superseded": len(report.superseded),
            "counted_again": len(report.reinforced),
            "traces": len(report.traces),
            "broken_lines": report.broken,
            "unknown_records": MetadataValue.json(report.unknown()),
            "runs": "; ".join(report.runs) or "none",
            "remarks": "; ".join(report.remarks) or "none",
            "notes": table(("path",), [(path,) for path in report.made[:SHOWN_ROWS]]),
        }
    )


def _readable(report: IngestReport, missing: list[str]) -> dg.AssetCheckResult:
    failed = [each for each in report.sources if each.did == "failed"]
    return dg.AssetCheckResult(
        check_name="sources_readable",
        passed=not failed and not missing,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "missing_folders": MetadataValue.json(missing),
            "failed": len(failed),
            "sources": table(
                ("place", "why"), [(each.place, each.reason) for each in failed[:SHOWN_ROWS]]
            ),
        },
    )


def _known(report: IngestReport) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name="records_known",
        passed=not report.unknown(),
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"unknown_records": MetadataValue.json(report.unknown())},
    )
