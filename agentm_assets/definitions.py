"""Everything Dagster loads. One function assembles the graph for production, CLI and tests alike;
no asset or resource is implemented here."""

from collections.abc import Mapping

import dagster as dg

from agentm_assets.dreaming.assets import jobs as dreaming_jobs
from agentm_assets.dreaming.assets import stages
from agentm_assets.enrichment.assets import coverage, notes, review
from agentm_assets.enrichment.assets import jobs as enrichment_jobs
from agentm_assets.evaluation.assets import jobs as evaluation_jobs
from agentm_assets.evaluation.assets import scores
from agentm_assets.index.assets import checks, jobs, sources, tables
from agentm_assets.ingest.assets import jobs as ingest_jobs
from agentm_assets.ingest.assets.sources import ingested_sources
from agentm_assets.reports.assets import jobs as reports_jobs
from agentm_assets.reports.assets import reports, round_trip
from resources.embedder import EmbedderResource
from resources.models import ModelsResource
from resources.progress import ProgressReporter
from resources.workspace import WorkspaceResource
from schedules.dreaming import nightly_dream
from schedules.enrichment import hourly_enrichment, nightly_enrichment
from schedules.evaluation import daily_recall_scores
from schedules.index import hourly_reconcile, nightly_verify
from schedules.ingest import hourly_ingest
from schedules.prune import nightly_prune, prune_history
from schedules.reports import daily_probe, nightly_reports
from sensors.failed_runs import failed_runs
from sensors.rules_file import rules_file
from sensors.vault_files import vault_files


def build_defs(overrides: Mapping[str, object] | None = None) -> dg.Definitions:
    """The whole graph. `overrides` replaces resources by name."""
    workspace = (overrides or {}).get("workspace", WorkspaceResource())
    assert isinstance(workspace, WorkspaceResource)
    resources: dict[str, object] = {
        "workspace": workspace,
        "embedder": EmbedderResource(workspace=workspace),
        "models": ModelsResource(workspace=workspace),
        "progress": ProgressReporter(),
    }
    return dg.Definitions(
        assets=[
            *sources.SOURCES,
            *tables.ASSETS,
            notes.enriched_notes,
            notes.reenriched_notes,
            review.review_queue,
            coverage.coverage,
            *scores.ASSETS,
            round_trip.round_trip,
            *reports.ASSETS,
            ingested_sources,
            *stages.ASSETS,
        ],
        asset_checks=checks.CHECKS,
        jobs=[
            *jobs.JOBS,
            *enrichment_jobs.JOBS,
            *evaluation_jobs.JOBS,
            *ingest_jobs.JOBS,
            *dreaming_jobs.JOBS,
            *reports_jobs.JOBS,
            prune_history,
        ],
        sensors=[vault_files, rules_file, failed_runs],
        schedules=[
            hourly_reconcile,
            hourly_ingest,
            hourly_enrichment,
            nightly_enrichment,
            nightly_dream,
            daily_probe,
            nightly_reports,
            nightly_verify,
            nightly_prune,
            daily_recall_scores,
        ],
        resources=resources | dict(overrides or {}),
        executor=dg.in_process_executor,
    )


defs = build_defs()
