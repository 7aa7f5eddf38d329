"""The hourly sweep over configured folders, as Dagster runs it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from agentm_assets.config.directories import config_file
from agentm_assets.definitions import build_defs
from agentm_assets.index.assets.run import open_instance
from resources.workspace import WorkspaceResource
from schedules.ingest import hourly_ingest

SAMPLES = Path(__file__).resolve().parents[1] / "ingest" / "samples"


@pytest.fixture
def logs(tmp_path: Path, vault: Path, git: Callable[..., str]) -> Path:
    (vault / "note.md").write_text("A note.\n")
    git("add", "-A")
    git("commit", "-q", "-m", "Start")
    logs = Path(shutil.copytree(SAMPLES, tmp_path / "logs"))
    file = config_file(os.environ)
    file.parent.mkdir(parents=True, exist_ok=True)
    folders = f'["{logs}/codex", "{logs}/mail", "{logs}/nowhere"]'
    file.write_text(f"[profiles.default.ingest]\nfolders = {folders}\n")
    return logs


def run(workspace: WorkspaceResource) -> tuple[dict[str, object], dict[str, bool]]:
    """The metadata of the asset, and its checks."""
    definitions = build_defs({"workspace": workspace})
    job = definitions.resolve_job_def("ingest_sources")
    with open_instance(workspace.settings().location.dagster_home) as instance:
        result = job.execute_in_process(instance=instance)
    (made,) = result.asset_materializations_for_node("ingested_sources")
    metadata = {name: value.value for name, value in made.metadata.items()}
    return metadata, {e.check_name: e.passed for e in result.get_asset_check_evaluations()}


def test_a_sweep_and_a_second_one(
    workspace: WorkspaceResource, logs: Path, git: Callable[..., str]
) -> None:
    first, checks = run(workspace)
    assert (first["dagster/row_count"], first["traces"]) == (8, 3)
    assert first["unknown_records"] == {
        "codex: event_msg/quantum_flux": 1,
        "codex: response_item/telepathy_call": 1,
        "codex: diary": 1,
    }
    assert checks == {"sources_readable": False, "records_known": False}
    head = git("rev-parse", "HEAD")
    shutil.copytree(logs / "codex", logs / "nowhere")
    second, checks = run(workspace)
    assert second["dagster/row_count"] == 0
    assert checks == {"sources_readable": True, "records_known": True}
    assert git("rev-parse", "HEAD") == head


def test_without_folders_the_schedule_starts_nothing(
    workspace: WorkspaceResource, logs: Path
) -> None:
    with dg.build_schedule_context(resources={"workspace": workspace}) as context:
        assert isinstance(hourly_ingest(context), dg.RunRequest)
    config_file(os.environ).write_text("")
    with dg.build_schedule_context(resources={"workspace": workspace}) as context:
        assert isinstance(hourly_ingest(context), dg.SkipReason)
