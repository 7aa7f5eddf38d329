"""A night in this process: what `agentm dream` does, visible as a run in the UI."""

from collections.abc import Callable
from dataclasses import dataclass

import dagster as dg

from agentm_assets.dreaming import records
from agentm_assets.dreaming.assets.group import asset_name
from agentm_assets.dreaming.order import STAGES
from agentm_assets.dreaming.records import StageRecord
from agentm_assets.index.assets.run import (
    CLI_TAGS,
    first_error,
    run_config,
    turn_of_the_command_line,
)
from resources.workspace import WorkspaceResource

_INDEX_ASSETS = (
    "notes",
    "chunks",
    "backlinks",
    "entities",
    "aliases",
    "embeddings",
    "lexical_index",
    "vector_index",
    "coverage",
)


@dataclass(frozen=True, slots=True)
class Dreamt:
    """What the run did, stage by stage; `error`: why it ended early, None when it did not."""

    run_id: str
    error: str | None
    stages: tuple[StageRecord, ...]


def dream_now(
    definitions: dg.Definitions,
    workspace: WorkspaceResource,
    stage: str | None,
    *,
    accept: bool = False,
    on_wait: Callable[[], None] = lambda: None,
) -> Dreamt:
    """Bring the index in line, then run all stages or one. Never raises for a failed step."""
    chosen = [each.name for each in STAGES if stage in (None, each.name)]
    keys = [dg.AssetKey(name) for name in (*_INDEX_ASSETS, *map(asset_name, chosen))]
    config = {asset_name(name): {"accept": accept} for name in chosen}
    with turn_of_the_command_line(workspace, on_wait) as instance:
        result = definitions.resolve_job_def("dream").execute_in_process(
            instance=instance,
            asset_selection=keys if stage is not None else None,
            run_config=run_config(config),
            tags=CLI_TAGS,
            raise_on_error=False,
        )
    location = workspace.settings().location
    nights = [night for night in records.nights(location) if night.night == result.run_id]
    stages = nights[-1].stages if nights else ()
    return Dreamt(result.run_id, first_error(result), stages)
