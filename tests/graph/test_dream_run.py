"""A night as the command line and the schedule run it: all stages, one stage, broken rules."""

import os
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from agentm_assets.definitions import build_defs
from agentm_assets.dreaming.assets.run import dream_now
from agentm_assets.dreaming.order import STAGES
from agentm_assets.index.state import read_state
from resources.embedder import EmbedderResource
from resources.models import ModelsResource
from resources.workspace import WorkspaceResource

NOTE = (
    "---\ntype: reference\nstatus: active\nslug: {0}\ntitle: {0}\ntags: [kettle]\n---\n[[a]] {0}\n"
)


@pytest.fixture
def definitions(
    workspace: WorkspaceResource, put: Callable[[str, bytes], Path], git: Callable[..., str]
) -> dg.Definitions:
    for name in ("a", "b", "c"):
        put(f"Agent/memory/semantic/2026/06/{name}.md", NOTE.format(name).encode())
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "Start")
    return build_defs(
        {
            "workspace": workspace,
            "embedder": EmbedderResource(workspace=workspace, enabled=False),
            "models": ModelsResource(workspace=workspace, enabled=False),
        }
    )


def test_a_night_and_a_second_one(
    definitions: dg.Definitions, workspace: WorkspaceResource, git: Callable[..., str]
) -> None:
    first = dream_now(definitions, workspace, None)
    assert first.error is None
    assert [each.stage for each in first.stages] == [stage.name for stage in STAGES]
    assert not [each.stage for each in first.stages if each.error]
    assert sum(each.applied for each in first.stages) > 3
    state = read_state(workspace.settings().location, os.environ)
    assert (state.changed, state.deleted) == (0, 0), "what the night wrote sets no other run off"
    head = git("rev-parse", "HEAD")
    second = dream_now(definitions, workspace, None)
    assert sum(each.applied for each in second.stages) == 0
    assert git("rev-parse", "HEAD") == head
    with workspace.store().transaction() as connection:
        assert connection.execute("SELECT 1 FROM notes WHERE path = 'index.md'").fetchone()


def test_one_stage_alone(
    definitions: dg.Definitions, workspace: WorkspaceResource, vault: Path
) -> None:
    alone = dream_now(definitions, workspace, "mocs")
    assert alone.error is None
    assert [each.stage for each in alone.stages] == ["mocs"]
    assert (vault / "Agent/memory/mocs/topic-kettle.md").exists()
    assert not (vault / "index.md").exists()


def test_while_the_rules_are_broken_nothing_is_filed(
    definitions: dg.Definitions, workspace: WorkspaceResource, vault: Path, put: Callable[..., Path]
) -> None:
    put("standards/storage-rules.md", b"```storage-rules\nclasses: [\n```\n")
    dreamt = dream_now(definitions, workspace, "mocs")
    assert dreamt.stages == ()
    assert not (vault / "Agent/memory/mocs").exists()
