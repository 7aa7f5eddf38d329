"""`round_trip`: once a day a fact is saved, asked for from a fresh process, and found, or not."""

import os
from collections.abc import Iterator
from datetime import datetime
from typing import Final

import dagster as dg
from dagster import MaterializeResult, MetadataValue

from agentm_assets.index.assets.metadata import table
from agentm_assets.index.assets.tables import OWNERS
from agentm_assets.reports.assets.reports import CODE_VERSION, DAILY
from agentm_assets.reports.probe import ProbeResult, read_probes
from agentm_assets.reports.probe import round_trip as probe
from agentm_assets.storage.selection import open_backend
from resources.workspace import WorkspaceResource

GROUP: Final = "evaluation"
_SHOWN: Final = 31


@dg.asset(
    name="round_trip",
    deps=["lexical_index", "vector_index"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"python"},
    code_version=CODE_VERSION,
    freshness_policy=DAILY,
    check_specs=[
        dg.AssetCheckSpec(
            "found_again",
            asset="round_trip",
            description="A fact that was just saved is among the first five hits of a fresh "
            "process within ten seconds, by its text and by one of its names.",
        )
    ],
    description="A synthetic fact is captured, asked for from a fresh process, found and retired. "
    "A probe that fails keeps its note.",
)
def round_trip(
    workspace: WorkspaceResource,
) -> Iterator[MaterializeResult[None] | dg.AssetCheckResult]:
    location = workspace.settings().location
    result = probe(location, open_backend(location), os.environ, datetime.now().astimezone())
    history = read_probes(location)[-_SHOWN:]
    metadata: dict[str, MetadataValue | str | float] = {
        "did": result.text,
        "note": result.path or "none",
        "history": table(
            ("at", "passed", "by text", "by name", "seconds", "capture_ms", "why"),
            [_row(each) for each in reversed(history)],
        ),
    }
    for name, value in (("seconds", result.seconds), ("capture_ms", result.capture_ms)):
        if value is not None:
            metadata[name] = value
    if result.remark:
        metadata["remark"] = result.remark
    yield MaterializeResult(
        data_version=dg.DataVersion("found" if result.passed else f"failed {result.at}"),
        metadata=metadata,
    )
    yield dg.AssetCheckResult(
        check_name="found_again",
        passed=result.passed,
        severity=dg.AssetCheckSeverity.ERROR,
        description=result.text,
    )


def _row(result: ProbeResult) -> tuple[str, str, str, str, str, str, str]:
    def shown(value: float | int | None) -> str:
        return "-" if value is None else f"{value:g}"

    return (
        result.at,
        "yes" if result.passed else "NO",
        shown(result.body_rank),
        shown(result.alias_rank),
        shown(result.seconds),
        shown(result.capture_ms),
        result.why or "",
    )
