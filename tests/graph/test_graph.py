"""The asset graph holds together: what Dagster's own validation lets pass is caught here."""

from itertools import pairwise

import dagster as dg
import pytest

from agentm_assets.contract.spaces import SPACES
from agentm_assets.definitions import build_defs
from agentm_assets.dreaming.assets.group import asset_name
from agentm_assets.dreaming.order import STAGES
from agentm_assets.index.assets.tables import POOL
from agentm_assets.index.assets.versions import TABLES

DEFS = build_defs()
GRAPH = DEFS.resolve_asset_graph()
SOURCES = {*SPACES, "storage_rules_judgment", "storage_rules_ranking"}
INDEX = {*TABLES, "embeddings", "lexical_index", "vector_index", "coverage"}
ENRICHMENT = {"enriched_notes", "reenriched_notes", "review_queue"}
EVALUATION = {"recall_scores", "round_trip"}
REPORTS = {"memory_graph", "health_scorecard", "morning_note"}
INGEST = {"ingested_sources"}
DREAMING = {asset_name(stage.name) for stage in STAGES}
WRITERS = ("index_tables", "lexical_index", "vector_index", "coverage")


def names(keys: object) -> set[str]:
    return {key.to_user_string() for key in keys}  # type: ignore[attr-defined]


def test_the_graph_has_these_assets_and_no_misspelt_stub() -> None:
    assert names(GRAPH.get_all_asset_keys()) == (
        SOURCES | INDEX | ENRICHMENT | EVALUATION | INGEST | DREAMING | REPORTS
    )
    externals = {k for k in GRAPH.get_all_asset_keys() if not GRAPH.get(k).is_executable}
    assert names(externals) <= SOURCES
    assert names(GRAPH.observable_asset_keys) == SOURCES


@pytest.mark.parametrize(
    "name", sorted(INDEX | ENRICHMENT | EVALUATION | INGEST | DREAMING | REPORTS)
)
def test_every_asset_tells_the_operator_what_it_is(name: str) -> None:
    node = GRAPH.get(dg.AssetKey(name))
    groups = {
        "index": INDEX,
        "enrichment": ENRICHMENT,
        "evaluation": EVALUATION,
        "ingest": INGEST,
        "dreaming": DREAMING,
        "reports": REPORTS,
    }
    assert name in groups[node.group_name or ""]
    assert len(node.description or "") > 30
    assert node.owners
    assert node.kinds
    assert node.code_version
    assert node.parent_keys, "an asset that depends on nothing shows no lineage"


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_every_source_is_described(name: str) -> None:
    node = GRAPH.get(dg.AssetKey(name))
    assert node.group_name == "vault"
    assert len(node.description or "") > 30


def test_every_step_that_opens_the_index_shares_the_pool() -> None:
    pools = {
        definition.op.name: definition.op.pool
        for definition in DEFS.assets or ()
        if isinstance(definition, dg.AssetsDefinition) and definition.op.name in WRITERS
    }
    assert pools == dict.fromkeys(WRITERS, POOL)


def test_only_what_a_backfill_is_for_is_partitioned_since_partitions_never_show_stale() -> None:
    keys = [key for key in GRAPH.get_all_asset_keys() if GRAPH.get(key).partitions_def]
    assert names(keys) == {"reenriched_notes"}
    node = GRAPH.get(dg.AssetKey("reenriched_notes"))
    assert node.partitions_def == dg.DynamicPartitionsDefinition(name="capture_month")
    assert not node.child_keys, "what hangs on it would never show as stale"
    assert node.assets_def.op.pool == "reenrich", "months of a backfill take turns"


def test_no_job_is_empty_and_all_run_in_one_process() -> None:
    jobs = {job.name: job for job in DEFS.resolve_all_job_defs() if not job.name.startswith("__")}
    assert set(jobs) == {
        "index_changes",
        "reconcile_vault",
        "verify_index",
        "enrich_waiting",
        "enrich_all",
        "reenrich",
        "dream",
        "ingest_sources",
        "prune_history",
        "measure_recall",
        "write_reports",
        "probe_round_trip",
    }
    for job in jobs.values():
        assert list(job.nodes)
        assert job.executor_def.name == "in_process"


def test_the_eager_job_goes_from_files_to_judged_notes_in_seven_steps() -> None:
    job = DEFS.resolve_job_def("index_changes")
    assert {node.name for node in job.nodes} == {
        "index_tables",
        "embeddings",
        "lexical_index",
        "vector_index",
        "enriched_notes",
        "review_queue",
        "coverage",
    }
    assert job.tags["agentm/lane"] == "eager"


def test_what_judges_the_same_notes_takes_turns_and_the_rest_has_lanes_of_its_own() -> None:
    lanes = {
        name: DEFS.resolve_job_def(name).tags["agentm/lane"]
        for name in ("index_changes", "enrich_waiting", "enrich_all", "reenrich", "dream")
    }
    assert lanes == {
        "index_changes": "eager",
        "enrich_waiting": "eager",
        "enrich_all": "dream",
        "reenrich": "backfill",
        "dream": "dream",
    }


def test_the_stages_of_the_night_go_one_behind_the_other() -> None:
    names_in_order = [asset_name(stage.name) for stage in STAGES]
    for before, after in pairwise(names_in_order):
        assert dg.AssetKey(before) in GRAPH.get(dg.AssetKey(after)).parent_keys
    for name in names_in_order:
        parents = GRAPH.get(dg.AssetKey(name)).parent_keys
        assert dg.AssetKey("vector_index") in parents, "one that runs alone waits for the index"
    nodes = {node.name for node in DEFS.resolve_job_def("dream").nodes}
    assert set(names_in_order) | {"index_tables", "embeddings", "vector_index"} <= nodes


def test_sensors_and_schedules_are_on_from_the_start() -> None:
    repository = DEFS.get_repository_def()
    assert {s.name for s in repository.sensor_defs} == {"vault_files", "rules_file", "failed_runs"}
    assert {s.name for s in repository.schedule_defs} == {
        "hourly_reconcile",
        "hourly_ingest",
        "hourly_enrichment",
        "nightly_enrichment",
        "nightly_dream",
        "nightly_verify",
        "nightly_prune",
        "daily_recall_scores",
        "daily_probe",
        "nightly_reports",
    }
    for sensor in repository.sensor_defs:
        assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
    for schedule in repository.schedule_defs:
        assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING


def test_checks_cover_what_can_be_wrong() -> None:
    assert {(k.asset_key.to_user_string(), k.name) for k in GRAPH.asset_check_keys} == {
        ("notes", "contract_conformance"),
        ("notes", "index_integrity"),
        ("notes", "rebuild_identity"),
        ("embeddings", "embedder_reachable"),
        ("embeddings", "chunks_embedded"),
        ("lexical_index", "serving_in_line"),
        ("coverage", "nothing_stale"),
        ("storage_rules_judgment", "rules_parse"),
        ("enriched_notes", "rules_parse"),
        ("enriched_notes", "refusal_rate"),
        ("enriched_notes", "within_budget"),
        ("enriched_notes", "could_judge"),
        ("review_queue", "queue_age"),
        ("ingested_sources", "sources_readable"),
        ("ingested_sources", "records_known"),
        ("recall_scores", "recall_holds"),
        ("recall_scores", "recall_not_degraded"),
        ("round_trip", "found_again"),
        ("health_scorecard", "all_parts_pass"),
        ("morning_note", "mail_handed_over"),
        ("morning_note", "nothing_failed"),
        *((name, "could_run") for name in DREAMING),
        *((name, "no_anomaly") for name in DREAMING),
    }


def test_definitions_load_without_a_configured_vault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENTM_VAULT", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    dg.Definitions.validate_loadable(build_defs())
