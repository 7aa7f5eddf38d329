"""Real runs of the index on a real Dagster instance: what they do, say, and leave stale."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster import DagsterInstance
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from agentm_assets.contract.rules import default_rules_text
from agentm_assets.definitions import build_defs
from agentm_assets.index.assets.run import IndexRun, open_instance, report_versions, run_index
from agentm_assets.index.digests import table_digests
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical import LexicalReader
from resources.embedder import EmbedderResource
from resources.workspace import WorkspaceResource

NIGHTLY = {dg.AssetKey("recall_scores")}
"""What no run of the index makes."""


class Graph:
    """The whole graph over one vault, without vectors unless asked for."""

    def __init__(self, vault: Path, workspace: WorkspaceResource) -> None:
        self.vault = vault
        self.workspace = workspace
        self.location = workspace.settings().location
        self.defs = build_defs(
            {
                "workspace": workspace,
                "embedder": EmbedderResource(workspace=workspace, enabled=False),
            }
        )

    def put(self, path: str, text: str | bytes) -> Path:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def run(self, **config: object) -> IndexRun:
        run = run_index(self.defs, self.workspace, tables_config=config)
        assert run.success, run.error
        return run

    def observe(self) -> None:
        """What the sensors report after a change."""
        with open_instance(self.location.dagster_home) as instance:
            report_versions(instance, self.workspace)

    def stale(self) -> set[str]:
        with open_instance(self.location.dagster_home) as instance:
            graph = self.defs.resolve_asset_graph()
            resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
            return {
                key.to_user_string()
                for key in graph.materializable_asset_keys - NIGHTLY
                if resolver.get_status(key) is not StaleStatus.FRESH
            }

    def check(self, name: str) -> dg.AssetCheckEvaluation:
        job = self.defs.resolve_job_def("verify_index")
        with open_instance(self.location.dagster_home) as instance:
            result = job.execute_in_process(instance=instance, raise_on_error=False)
            return next(e for e in result.get_asset_check_evaluations() if e.check_name == name)


@pytest.fixture
def graph(vault: Path, workspace: WorkspaceResource) -> Iterator[Graph]:
    (vault / "standards").mkdir()
    (vault / "standards/storage-rules.md").write_bytes(default_rules_text())
    yield Graph(vault, workspace)


def test_a_run_publishes_what_recall_reads_and_the_next_has_nothing_to_do(graph: Graph) -> None:
    graph.put("a.md", "# Kettle\n\nThe gasket is made of silicone.\n")
    first = graph.run()
    assert first.numbers["changed"] == 2
    with FactsReader.open(graph.location.facts_file) as facts:
        assert facts.counts.notes == 2
    hits = LexicalReader.open(graph.location.lexical_dir).search("gaskets of silicone", 5)
    assert hits
    second = graph.run()
    assert (second.numbers["changed"], second.numbers["facts_published"]) == (0, 0)
    assert str(second.numbers["did"]).startswith("nothing to do")


def test_every_asset_of_the_run_carries_a_version_and_what_a_person_reads(graph: Graph) -> None:
    graph.put("a.md", "# Kettle\n")
    run = graph.run()
    with open_instance(graph.location.dagster_home) as instance:
        for key in graph.defs.resolve_asset_graph().materializable_asset_keys - NIGHTLY:
            event = instance.get_latest_materialization_event(key)
            assert event and event.run_id == run.run_id
            materialization = event.asset_materialization
            assert materialization and materialization.tags
            assert materialization.tags["dagster/data_version"]
            assert materialization.metadata
        notes = instance.get_latest_materialization_event(dg.AssetKey("notes"))
        assert notes and notes.asset_materialization
        metadata = notes.asset_materialization.metadata
        assert metadata["dagster/row_count"].value == 2
        assert len(metadata["dagster/column_schema"].value.columns) == 21


def test_the_staleness_matrix(graph: Graph) -> None:
    """Edit → what shows stale. A run makes all fresh; so does taking the edit back."""
    note = graph.put("projects/p.md", "# P\n")
    rules = graph.vault / "standards/storage-rules.md"
    graph.run()
    assert graph.stale() == set()

    note.write_text("# P two\n")
    graph.observe()
    assert graph.stale() == {"notes"}, "one hop: the rest follows when notes is rebuilt"
    note.write_text("# P\n")
    graph.observe()
    assert graph.stale() == set(), "taken back, and no run was needed"

    text = rules.read_text()
    rules.write_text("Keep what will be asked for.\n\n" + text)
    graph.observe()
    assert graph.stale() == {"coverage", "notes"}, "a judgment edit, and the file is a note too"
    rules.write_text(text)
    graph.observe()
    assert graph.stale() == set()

    graph.put("Agent/memory/mocs/map.md", "# Map\n")
    graph.observe()
    assert graph.stale() == set(), "generated pages set nothing off"

    note.write_text("# P three\n")
    graph.observe()
    graph.run()
    assert graph.stale() == set()


def test_a_ranking_edit_outside_the_vault_stales_nothing(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "rules.md"
    outside.write_bytes(default_rules_text())
    monkeypatch.setenv("AGENTM_STORAGE_RULES", str(outside))
    graph.put("a.md", "x")
    graph.run()
    outside.write_text(outside.read_text().replace("excludes: []", "excludes: ['drafts/**']"))
    graph.observe()
    assert graph.stale() == set()
    outside.write_text(outside.read_text().replace("low_confidence: 0.65", "low_confidence: 0.7"))
    graph.observe()
    assert graph.stale() == {"coverage"}


def test_checks_tell_damage_from_health(graph: Graph) -> None:
    graph.put("a.md", "# A\n\n[[b]]\n")
    graph.run()
    assert graph.check("rebuild_identity").passed
    assert graph.check("serving_in_line").passed
    assert graph.check("rules_parse").passed
    with graph.workspace.store().transaction() as connection:
        connection.execute("UPDATE chunks SET text = 'tampered'")
    assert not graph.check("rebuild_identity").passed
    graph.location.facts_file.unlink()
    assert not graph.check("serving_in_line").passed
    rules = graph.vault / "standards/storage-rules.md"
    rules.write_text(rules.read_text().replace("default_type: reference", "default_type: nope"))
    broken = graph.check("rules_parse")
    assert not broken.passed and broken.severity is dg.AssetCheckSeverity.ERROR
    run = graph.run(full=True)
    assert run.success, "indexing goes on under broken rules"


def test_the_integrity_check_fails_on_doubled_rows(graph: Graph) -> None:
    graph.put("a.md", "# A\n")
    graph.run()
    with graph.workspace.store().transaction() as connection:
        connection.execute("INSERT INTO chunks SELECT * FROM chunks")
    graph.run()
    with open_instance(graph.location.dagster_home) as instance:
        record = instance.get_latest_asset_check_evaluation_record(
            dg.AssetCheckKey(dg.AssetKey("notes"), "index_integrity")
        )
    assert record is not None and record.event is not None
    evaluation = record.event.dagster_event
    assert evaluation is not None
    assert not evaluation.asset_check_evaluation_data.passed


def test_deleting_the_whole_index_folder_loses_nothing(graph: Graph) -> None:
    graph.put("a.md", "# A\n\n[[b]] acme/kettle#12\n")
    graph.put("b.md", "# B\n")
    graph.run()
    with graph.workspace.store().transaction() as connection:
        before = table_digests(connection)
    shutil.rmtree(graph.location.index_dir)
    assert graph.run().numbers["changed"] == 3
    with graph.workspace.store().transaction() as connection:
        assert table_digests(connection) == before
    with FactsReader.open(graph.location.facts_file) as facts:
        assert len(facts.backlinks("b.md")) == 1


@pytest.mark.parametrize("part", ["facts.sqlite", "lexical", "lexical/manifest.json"])
def test_a_damaged_serving_part_is_published_anew(graph: Graph, part: str) -> None:
    graph.put("a.md", "# Kettle\n\nsilicone\n")
    graph.run()
    target = graph.location.serving_dir / part
    if target.is_dir():
        for file in target.rglob("*"):
            if file.is_file():
                file.write_bytes(b"damaged")
    else:
        target.write_bytes(b"damaged")
    graph.run()
    with FactsReader.open(graph.location.facts_file) as facts:
        assert facts.counts.notes == 2
    assert LexicalReader.open(graph.location.lexical_dir).search("silicone", 3)


def test_the_instance_keeps_the_runs_for_the_ui(graph: Graph) -> None:
    graph.put("a.md", "x")
    run = graph.run()
    with open_instance(graph.location.dagster_home) as instance:
        assert isinstance(instance, DagsterInstance)
        record = instance.get_run_by_id(run.run_id)
        assert record is not None and record.is_success
        assert record.tags["agentm/trigger"] == "cli"
        assert not instance.telemetry_enabled


KILLED = """
import os, signal, sys
from agentm_assets.definitions import build_defs
from agentm_assets.index.assets.run import run_index
from agentm_assets.index.assets import tables
from resources.embedder import EmbedderResource
from resources.workspace import WorkspaceResource
workspace = WorkspaceResource(vault=sys.argv[1])
def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
tables.publish_lexical = die  # inside a step that holds the pool
run_index(build_defs({"workspace": workspace,
    "embedder": EmbedderResource(workspace=workspace, enabled=False)}), workspace, tables_config={})
"""


def test_a_run_that_was_killed_inside_a_step_neither_blocks_nor_stays_started(
    graph: Graph,
) -> None:
    graph.put("a.md", "# A\n")
    done = subprocess.run([sys.executable, "-c", KILLED, str(graph.vault)], check=False)
    assert done.returncode == -signal.SIGKILL
    with open_instance(graph.location.dagster_home) as instance:
        assert instance.event_log_storage.get_concurrency_run_ids(), "the dead hold a slot"
    after = graph.run()
    with open_instance(graph.location.dagster_home) as instance:
        assert not instance.event_log_storage.get_concurrency_run_ids()
        others = [run for run in instance.get_runs() if run.run_id != after.run_id]
        assert [run.is_failure for run in others] == [True]
