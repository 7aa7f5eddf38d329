"""A stage that fails ends itself, not the night: the others still have their work to do."""

import time
from collections.abc import Iterator, Sequence

import duckdb

from agentm_assets.dreaming import records
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.records import StageRecord
from agentm_assets.dreaming.run import run_stage
from agentm_assets.dreaming.stage import Stage, StageReport
from agentm_assets.index.store import IndexBusy, IndexDamaged
from agentm_assets.storage.seam import StorageError, StoreUnreachable


def attempt(
    night: Night, stage: Stage, *, dry_run: bool = False, accept: bool = False
) -> StageReport:
    """`run_stage`; what a vault, a disk or an index refuses becomes the report's `error`, put
    on record. A store that can't be reached at all is raised: no stage can do anything then."""
    began = time.monotonic()
    try:
        return run_stage(night, stage, dry_run=dry_run, accept=accept)
    except StoreUnreachable:
        raise
    except (StorageError, OSError, IndexBusy, IndexDamaged, duckdb.Error) as error:
        report = StageReport.failed(stage.name, str(error), time.monotonic() - began, dry_run)
    if not dry_run:
        records.append(
            night.location,
            StageRecord(
                night=night.night_id,
                at=records.moment(night.now),
                stage=stage.name,
                version=stage.version,
                planned=0,
                applied=0,
                held=0,
                anomaly=False,
                waiting_for_model=0,
                seconds=round(report.seconds, 3),
                error=report.error or "",
            ),
        )
    return report


def run_night(
    night: Night, stages: Sequence[Stage], *, dry_run: bool = False
) -> Iterator[StageReport]:
    """The stages in their order; each sees what those before it wrote."""
    for stage in stages:
        yield attempt(night, stage, dry_run=dry_run)
