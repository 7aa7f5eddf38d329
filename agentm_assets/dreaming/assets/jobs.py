"""The job of the night: the index in line first, then the stages in their order."""

import dagster as dg

from agentm_assets.dreaming.assets.group import GROUP
from agentm_assets.index.assets.jobs import INDEX

_REBUILD = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("notes"), "rebuild_identity"))
_IN_LINE = dg.AssetSelection.checks(
    dg.AssetCheckKey(dg.AssetKey("lexical_index"), "serving_in_line")
)

dream = dg.define_asset_job(
    "dream",
    selection=(INDEX - _REBUILD - _IN_LINE) | dg.AssetSelection.groups(GROUP),
    tags={"agentm/lane": "dream"},
    description="The night's work over the whole vault, stage by stage: agentm dream.",
)

JOBS = [dream]
