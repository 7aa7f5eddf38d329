"""The review queue as an asset: how much waits for the operator, and since when."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import dagster as dg
from dagster import MaterializeResult, MetadataValue

from agentm_assets.contract.properties import parse_date
from agentm_assets.enrichment import review
from agentm_assets.enrichment.assets.group import CODE_VERSION, GROUP
from agentm_assets.enrichment.refusals import read_refusals
from agentm_assets.history.revert_log import read_log
from agentm_assets.index.assets.metadata import SHOWN_ROWS, table
from agentm_assets.index.assets.sources import RULES_JUDGMENT
from agentm_assets.index.assets.tables import OWNERS
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.storage.selection import open_backend
from resources.workspace import WorkspaceResource

REVIEW_DAYS = 14
"""A queue is judged by its age: fifty fresh notes are a busy day, one old note is a stalled one."""


@dg.asset(
    deps=["enriched_notes", RULES_JUDGMENT],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"sqlite"},
    code_version=CODE_VERSION,
    check_specs=[
        dg.AssetCheckSpec(
            "queue_age",
            asset="review_queue",
            description=f"Nothing has waited for the operator for over {REVIEW_DAYS} days.",
        )
    ],
    description="Notes that no judge filed: not sure enough, or refused by a gate. A query, no "
    "folder. agentm review lists them and takes the operator's word.",
)
def review_queue(
    workspace: WorkspaceResource,
) -> Iterator[MaterializeResult[None] | dg.AssetCheckResult]:
    yield from measure_queue(workspace)


def measure_queue(
    workspace: WorkspaceResource,
) -> tuple[MaterializeResult[None], dg.AssetCheckResult]:
    """The asset as it is now, and its check."""
    location = workspace.settings().location
    backend = open_backend(location)
    with FactsReader.open(location.facts_file) as facts:
        queue = review.review_queue(facts, read_refusals(backend), read_log(backend)[0])
    digest = hashlib.sha256("\n".join(f"{q.path}\0{q.since}\0{q.why}" for q in queue).encode())
    oldest = max((_days(each.since) for each in queue), default=0)
    result: MaterializeResult[None] = MaterializeResult(
        data_version=dg.DataVersion(f"{len(queue)}-{digest.hexdigest()[:16]}"),
        metadata={
            "dagster/row_count": len(queue),
            "oldest_days": oldest,
            "by_reason": MetadataValue.json(dict(Counter(each.why for each in queue))),
            "notes": table(_COLUMNS, [_row(each) for each in queue[:SHOWN_ROWS]]),
        },
    )
    check = dg.AssetCheckResult(
        check_name="queue_age",
        passed=oldest <= REVIEW_DAYS,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"waiting": len(queue), "oldest_days": oldest},
    )
    return result, check


_COLUMNS = ("path", "type", "confidence", "since", "why")


def _row(queued: review.Queued) -> tuple[str, str, str, str, str]:
    sure = "" if queued.confidence is None else f"{queued.confidence:.2f}"
    return queued.path, queued.type or "", sure, queued.since, queued.why


def _days(since: str) -> int:
    """How many days ago that was; 0 for what is no date."""
    moment = parse_date(since)
    if moment is None:
        return 0
    day = moment.date() if isinstance(moment, datetime) else moment
    return max(0, (datetime.now(UTC).date() - day).days)
