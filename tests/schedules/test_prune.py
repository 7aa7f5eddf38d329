"""Pruning: old finished runs go, the latest of an asset stays; so do the notes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
from dagster import DagsterInstance

from agentm_assets.definitions import build_defs
from agentm_assets.index.assets.run import open_instance, run_index
from agentm_assets.index.publish import drop_unused_embeddings
from resources.embedder import EmbedderResource
from resources.workspace import WorkspaceResource
from schedules.prune import KEEP_DAYS, prune_runs


@dg.asset
def one() -> dg.MaterializeResult[None]:
    return dg.MaterializeResult()


def materialize(instance: DagsterInstance) -> str:
    return dg.materialize([one], instance=instance).run_id


def test_old_runs_go_and_the_latest_of_an_asset_stays() -> None:
    with DagsterInstance.ephemeral() as instance:
        runs = [materialize(instance) for _ in range(3)]
        soon = datetime.now(UTC) + timedelta(days=KEEP_DAYS - 1)
        assert prune_runs(instance, [one.key], now=soon).deleted == 0
        later = datetime.now(UTC) + timedelta(days=KEEP_DAYS + 1)
        pruned = prune_runs(instance, [one.key], now=later)
        assert (pruned.deleted, pruned.kept_as_latest) == (2, 1)
        assert instance.get_run_ids() == [runs[-1]]
        event = instance.get_latest_materialization_event(one.key)
        assert event is not None and event.run_id == runs[-1]


def test_the_prune_job_runs_over_a_real_index_and_writes_nothing_to_the_vault(
    vault: Path, workspace: WorkspaceResource
) -> None:
    (vault / "a.md").write_text("# A\n")
    defs = build_defs(
        {"workspace": workspace, "embedder": EmbedderResource(workspace=workspace, enabled=False)}
    )
    assert run_index(defs, workspace, tables_config={}).success
    before = {path: path.read_bytes() for path in vault.rglob("*") if path.is_file()}
    with open_instance(workspace.settings().location.dagster_home) as instance:
        job = defs.resolve_job_def("prune_history")
        assert job.execute_in_process(instance=instance).success
    assert {path: path.read_bytes() for path in vault.rglob("*") if path.is_file()} == before


def test_vectors_that_no_text_needs_are_dropped(workspace: WorkspaceResource) -> None:
    store = workspace.store()
    with store.transaction() as connection:
        connection.execute("INSERT INTO embeddings VALUES ('used', 'm', ''), ('left', 'm', '')")
        connection.execute("INSERT INTO chunks (path, embed_hash) VALUES ('a.md', 'used')")
    assert drop_unused_embeddings(store) == 1
    with store.transaction() as connection:
        rows = connection.execute("SELECT embed_hash FROM embeddings").fetchall()
    assert rows == [("used",)]
