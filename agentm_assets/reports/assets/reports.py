"""The last steps of the night: the graph is drawn, the scorecard and the morning note written."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

import dagster as dg
from dagster import MaterializeResult, MetadataValue

from agentm_assets.dreaming.assets.stages import ASSETS as STAGES
from agentm_assets.enrichment.reindex import reindex
from agentm_assets.index.assets.metadata import table
from agentm_assets.index.assets.tables import OWNERS
from agentm_assets.reports.graph.svg import said
from agentm_assets.reports.pages import PICTURE, folder
from agentm_assets.reports.publish import Written, report_graph, report_health, report_morning
from agentm_assets.storage.selection import open_backend
from resources.workspace import WorkspaceResource

GROUP: Final = "reports"
CODE_VERSION: Final = "1"
DAILY: Final = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(hours=50), warn_window=timedelta(hours=26)
)
_HUBS: Final = 20


@dg.asset(
    deps=["backlinks"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"svg", "html"},
    code_version=CODE_VERSION,
    freshness_policy=DAILY,
    description="The notes and the links between them, drawn by a force-directed layout: a picture "
    "for the scorecard and a page to explore, both under Agent/diagnostics/health.",
)
def memory_graph(workspace: WorkspaceResource) -> MaterializeResult[None]:
    settings = workspace.settings()
    backend = open_backend(settings.location)
    done = report_graph(settings, backend, os.environ, _now())
    hubs = [(node.path, node.title, node.group, node.degree) for node in done.graph.hubs[:_HUBS]]
    return MaterializeResult(
        data_version=dg.DataVersion(hashlib.sha256(done.picture.encode()).hexdigest()[:16]),
        metadata={
            "did": said(done.graph),
            "notes": len(done.graph.nodes),
            "links": len(done.graph.edges),
            "left_out": done.graph.left_out,
            "unlinked": done.graph.unlinked,
            "hubs": table(("path", "title", "class", "links"), hubs),
            "picture": MetadataValue.path(
                f"{settings.location.store}/{folder(backend, 'health').child(PICTURE).key}"
            ),
            **_written(done.written),
        },
    )


@dg.asset(
    deps=["memory_graph", "coverage", "recall_scores", "round_trip"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"markdown"},
    code_version=CODE_VERSION,
    freshness_policy=DAILY,
    check_specs=[
        dg.AssetCheckSpec(
            "all_parts_pass",
            asset="health_scorecard",
            description="Rules, index, embedder, capture loop, MCP, entity resolution and round "
            "trip are in order.",
        )
    ],
    description="What the vault and the system are tonight: counts by status and class, every part "
    "PASS or FAIL, the month's figures, meters. A dated page, and the latest.",
)
def health_scorecard(
    workspace: WorkspaceResource,
) -> Iterator[MaterializeResult[None] | dg.AssetCheckResult]:
    settings = workspace.settings()
    done = report_health(settings, open_backend(settings.location), os.environ, _now())
    _index(workspace, done.written)
    day = done.health.day
    looked: list[tuple[str, str, str, str]] = [
        (
            each.name,
            {True: "PASS", False: "FAIL", None: "-"}[each.ok],
            "" if each.ms is None else f"{each.ms:,.0f}",
            each.said,
        )
        for each in done.health.components
    ]
    components = table(("part", "state", "ms", "says"), looked)
    yield MaterializeResult(
        data_version=dg.DataVersion(_digest(str(sorted(day.comparable().items())))),
        metadata={
            "scorecard": MetadataValue.md(done.text),
            "components": components,
            **{name: MetadataValue.float(value) for name, value in day.figures.items()},
            **_written(done.written),
        },
    )
    failed = done.health.failed
    yield dg.AssetCheckResult(
        check_name="all_parts_pass",
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR,
        description="; ".join(f"{each.name}: {each.said}" for each in failed) or "All in order.",
        metadata={"components": components},
    )


@dg.asset(
    deps=["health_scorecard", "review_queue", STAGES[-1].key],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"markdown"},
    code_version=CODE_VERSION,
    freshness_policy=DAILY,
    check_specs=[
        dg.AssetCheckSpec(
            "mail_handed_over",
            asset="morning_note",
            description="The note was mailed, where mail is configured.",
        ),
        dg.AssetCheckSpec(
            "nothing_failed",
            asset="morning_note",
            description="No run has failed since the note before.",
        ),
    ],
    description="What ran and what did not, what needs the operator, the corpus in one line, spend "
    "against each tier's line. A dated page and the latest; mailed where that is configured.",
)
def morning_note(
    context: dg.AssetExecutionContext, workspace: WorkspaceResource
) -> Iterator[MaterializeResult[None] | dg.AssetCheckResult]:
    settings = workspace.settings()
    done = report_morning(
        settings, open_backend(settings.location), os.environ, _now(), with_mail=True
    )
    _index(workspace, done.written)
    failed = done.morning.failed_runs
    mailed = done.mailed
    if mailed is not None:
        context.log.info(f"mail: {mailed}")
    yield MaterializeResult(
        data_version=dg.DataVersion(_digest(done.text)),
        metadata={
            "note": MetadataValue.md(done.text),
            "failed_runs": len(failed),
            "for_review": len(done.morning.review),
            "mail": mailed or "not configured",
            **_written(done.written),
        },
    )
    yield dg.AssetCheckResult(
        check_name="mail_handed_over",
        passed=mailed is None or mailed.startswith("sent"),
        severity=dg.AssetCheckSeverity.WARN,
        description=mailed or "Mail is not configured.",
    )
    yield dg.AssetCheckResult(
        check_name="nothing_failed",
        passed=not failed,
        severity=dg.AssetCheckSeverity.WARN,
        description=", ".join(f"{each.job} ({each.run[:8]})" for each in failed) or "None.",
    )


def _now() -> datetime:
    return datetime.now().astimezone()


def _index(workspace: WorkspaceResource, written: Written) -> None:
    """Take the pages in at once, else they would set off a run. Without vectors: the next pass
    embeds them."""
    paths = [path for path in written.paths if path.endswith(".md")]
    rules = workspace.rules_or_none()
    if paths and rules is not None:
        location = workspace.settings().location
        reindex(location, open_backend(location), workspace.store(), rules, None, paths)


def _written(written: Written) -> dict[str, MetadataValue]:
    return {
        "written": _list(written.paths, "nothing new"),
        "edited_by_hand": _list(written.edited, "none"),
    }


def _list(paths: Sequence[str], none: str) -> MetadataValue:
    return MetadataValue.text(", ".join(paths) or none)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


ASSETS = [memory_graph, health_scorecard, morning_note]
