"""The whole graph over one vault, run in this process on a Dagster instance of its own."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from agentm_assets.contract.rules import default_rules_text
from agentm_assets.definitions import build_defs
from agentm_assets.dreaming.assets.group import asset_name
from agentm_assets.dreaming.order import STAGES
from agentm_assets.index.assets.run import IndexRun, open_instance, report_versions, run_index
from resources.embedder import EmbedderResource
from resources.workspace import WorkspaceResource

NIGHTLY = {
    dg.AssetKey(name)
    for name in (
        *("recall_scores", "ingested_sources", "round_trip"),
        *("memory_graph", "health_scorecard", "morning_note"),
        *(asset_name(stage.name) for stage in STAGES),
    )
}
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
                if not graph.get(key).is_partitioned
                and resolver.get_status(key) is not StaleStatus.FRESH
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
